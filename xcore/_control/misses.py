"""Why a jitted function is traced again: what the setting explain_cache_misses prints."""

from __future__ import annotations

import contextlib

from .._core import config


def why_traced(key, known) -> str:
    """The difference between a new key and the closest one known."""
    if not known:
        return "its first call."
    structure, types, statics, *_ = key

    def distance(other):
        return sum(a != b for a, b in zip(key, other, strict=True)), sum(
            a is not b for a, b in zip(types, other[1], strict=False)
        )

    other = min(known, key=distance)
    if other[0] != structure:
        return f"the structure of the arguments is {structure}, was {other[0]}."
    changed = [
        (i, a, b) for i, (a, b) in enumerate(zip(types, other[1], strict=True)) if a is not b
    ]
    if changed:
        listed = "; ".join(f"leaf {i} is {a}, was {b}" for i, a, b in changed[:4])
        return f"argument types changed: {listed}."
    if other[2] != statics:
        return f"static arguments are {[v for *_, v in statics]}, were {[v for *_, v in other[2]]}."
    if other[-1] != key[-1]:
        now, then = ([a for a in k[-1] if isinstance(a, tuple)] for k in (key, other))
        return f"the named axes around it are {dict(now)}, were {dict(then)}; or other checks are asked for."
    return "the settings changed, or what devices share inside of shard_map."


def explain_cache_misses(enable: bool = True) -> contextlib.AbstractContextManager[None]:
    """``with explain_cache_misses():`` prints why jitted functions are traced in the block.

    Args:
      enable: whether to; False switches it off inside another such block.

    >>> import xcore as xc
    >>> with xc.explain_cache_misses(False):
    ...     print(xc.jit(lambda x: x + 3)(1))
    4
    """
    return config.override(explain_cache_misses=enable)
