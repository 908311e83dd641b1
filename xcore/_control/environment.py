"""What runs here: versions and devices, for reports of bugs."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

from .._core.devices import devices, local_device_count, process_count

PACKAGES = ("jaxlib", "numpy", "scipy", "matplotlib", "jax-cuda13-plugin")


def versions() -> list[tuple[str, str]]:
    """Names and versions of xcore, of Python and of what they work with."""
    ours = ("xcore", sys.modules["xcore"].__version__), ("python", platform.python_version())
    return [*ours, *((name, _version(name)) for name in PACKAGES)]


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def print_environment_info(return_string: bool = False) -> str | None:
    """Print versions, devices and the machine: what a report of a bug should say.

    Args:
      return_string: return the text instead.

    >>> import xcore as xc
    >>> print(xc.print_environment_info(return_string=True).splitlines()[0][:6])
    xcore:
    """
    rows = [
        *versions(),
        ("devices", f"{devices()[0].device_kind}, {local_device_count()} in this process"),
        ("processes", str(process_count())),
        ("machine", str(platform.uname())),
    ]
    text = "\n".join(f"{name}: {value}" for name, value in rows)
    return text if return_string else print(text)
