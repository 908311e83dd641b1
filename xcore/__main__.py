"""``python -m xcore``: versions, devices, state of the cache, and a self-check.

``python -m xcore sanitize script.py [arguments]`` runs a script under the setting ``sanitize``; ``-m module`` a module.
``python -m xcore fits script.py --device h200:4 [arguments]`` tells whether it fits on devices that are not here.
``python -m xcore warm script.py [arguments]`` compiles its jitted functions for this machine, into the cache on disk.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore._control.environment import versions
from xcore._control.fits import fits
from xcore._control.script import run_script
from xcore._control.warm import warm
from xcore._core import compile

_HELP = ("-h", "--help", "help")


def _cache() -> str:
    stats = compile.disk_state()
    if stats is None:
        return "off (XCORE_CACHE=0)"
    return f"{stats['directory']}: {stats['entries']} programs, {stats['bytes'] / 2**20:.1f} MiB"


def _solve_by_descent():
    """The minimum of a quadratic, found by compiled gradient steps."""
    a = xnp.asarray([[3.0, 1.0], [1.0, 2.0]])
    b = xnp.asarray([1.0, -1.0])
    step = xc.grad(lambda x: 0.5 * x @ a @ x - b @ x)
    x = xc.lax.fori_loop(0, 200, lambda i, x: x - 0.2 * step(x), xnp.zeros(2))
    return np.allclose(x, np.linalg.solve(a, b), atol=1e-5)


_CHECKS = {
    "arithmetic": lambda: float((xnp.arange(5.0) * 2 + 1).sum()) == 25.0,
    "jit equals eager": lambda: np.array_equal(
        xc.jit(lambda x: xnp.sin(x) * x)(xnp.arange(4.0)),
        xnp.sin(xnp.arange(4.0)) * xnp.arange(4.0),
    ),
    "derivatives": lambda: abs(float(xc.grad(xc.grad(xnp.sin))(0.5)) + np.sin(0.5)) < 1e-6,
    "vmap": lambda: np.array_equal(xc.vmap(lambda x: x**2)(xnp.arange(3)), [0, 1, 4]),
    "loops and descent": _solve_by_descent,
    "64 bits": lambda: (xnp.zeros(2, "float64") + 1e-12).dtype == np.float64,
}


def _self_check() -> bool:
    good = True
    for name, check in _CHECKS.items():
        start = time.perf_counter()
        ok = bool(check())
        good &= ok
        print(f"  {'ok  ' if ok else 'FAIL'} {name} ({(time.perf_counter() - start) * 1e3:.0f} ms)")
    return good


def _sanitize(arguments) -> int:
    """Run a script under the setting sanitize: 0 if nothing was found, 1 if something was."""
    if not arguments or arguments[0] in _HELP:
        print("usage: python -m xcore sanitize script.py [arguments]", file=sys.stderr)
        print("       python -m xcore sanitize -m module [arguments]", file=sys.stderr)
        return 0 if arguments else 2
    return run_script(arguments[0], arguments)


def _fits(arguments) -> int:
    """Follow a script by types: 0 if it fits on the device, 1 if not, 2 if nothing can be said."""
    if len(arguments) < 3 or "--device" not in arguments[:-1]:
        print(
            "usage: python -m xcore fits script.py --device KIND[:COUNT] [arguments]",
            file=sys.stderr,
        )
        return 2
    at = arguments.index("--device")
    device, rest = arguments[at + 1], [*arguments[:at], *arguments[at + 2 :]]
    return fits(rest[0], rest, device)


def _warm(arguments) -> int:
    """Compile what a script jits: 0 if it was followed to its end, 1 if not, 2 if nothing was done."""
    if not arguments:
        print("usage: python -m xcore warm script.py [arguments]", file=sys.stderr)
        return 2
    return warm(arguments[0], arguments)


_COMMANDS = {"sanitize": _sanitize, "fits": _fits, "warm": _warm}


def main() -> int:
    command, *arguments = sys.argv[1:] or [""]
    if command in _COMMANDS:
        return _COMMANDS[command](arguments)
    if command in _HELP:
        print(__doc__)
        return 0
    if command:
        known = ", ".join(_COMMANDS)
        print(
            f"python -m xcore: there is no command {command!r}: {known}, or none", file=sys.stderr
        )
        return 2
    for name, version in versions():
        print(f"{name:20} {version}")
    print(f"{'devices':20} {', '.join(map(str, xc.devices()))}")
    print(f"{'default dtype':20} {xnp.asarray(1.0).dtype}")
    print(f"{'cache on disk':20} {_cache()}")
    print("self-check:")
    good = _self_check()
    print("all is well" if good else "something is wrong: please report the lines marked FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
