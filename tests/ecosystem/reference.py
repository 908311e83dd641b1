"""Results of the programs of the ecosystem under real JAX, stored in results.npz.

``python tests/ecosystem/reference.py [LIBRARY …]`` where jax and the libraries are installed; a library's
results replace those of it that are stored.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

HERE = Path(__file__).parent
STORE = HERE / "results.npz"
LIBRARIES = sorted(p.stem.removesuffix("_") for p in (HERE / "programs").glob("*_.py"))


def module(library: str) -> ModuleType:
    """The programs of a library; imports it, and jax."""
    path = HERE / "programs" / f"{library}_.py"
    spec = importlib.util.spec_from_file_location(f"programs_{library}", path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def names(library: str) -> list[str]:
    """The programs of a library, as its file has them: nothing is imported."""
    text = (HERE / "programs" / f"{library}_.py").read_text()
    lines = [x for x in text.splitlines() if x.startswith("def ") and x[4] != "_"]
    return [x.removeprefix("def ").partition("(")[0] for x in lines]


def leaves(result) -> list[np.ndarray]:
    import jax

    return [np.asarray(x) for x in jax.tree.leaves(result)]


def stored() -> dict[str, np.ndarray]:
    """The arrays by ``library.program.number``."""
    return dict(np.load(STORE)) if STORE.exists() else {}


def main(libraries: list[str]) -> None:
    import jax

    assert not hasattr(jax, "xcore"), "results are those of real JAX"
    kept = {k: v for k, v in stored().items() if k.partition(".")[0] not in libraries}
    for library in libraries:
        programs = module(library)
        for name in names(library):
            for i, x in enumerate(leaves(getattr(programs, name)())):
                wide = x.dtype.kind == "V"  # bfloat16, which .npz does not know
                kept[f"{library}.{name}.{i}"] = x.astype(np.float32) if wide else x
            print(library, name, flush=True)
        np.savez_compressed(STORE, **dict(sorted(kept.items())))  # pyright: ignore


if __name__ == "__main__":
    main(sys.argv[1:] or LIBRARIES)
