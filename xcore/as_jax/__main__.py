"""``python -m xcore.as_jax script.py args…`` or ``-m module args…``: a program for JAX, on xcore."""

from __future__ import annotations

import builtins
import os
import runpy
import sys


def _unusable(arguments: list[str]) -> str:
    """Why nothing can be run, if so."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        return "usage: python -m xcore.as_jax (script.py | -m module) [arguments]"
    if arguments[0] != "-m" and not os.path.exists(arguments[0]):
        return f"xcore.as_jax: there is no file {arguments[0]}"
    return ""


def main() -> None:
    wrong = _unusable(sys.argv[1:])
    if wrong:
        print(wrong, file=sys.stderr)
        raise SystemExit(0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2)
    if sys.argv[1] == "-m":
        sys.argv = sys.argv[2:]
        sys.path[0] = os.getcwd()
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    # of the main module it is the module, and would be its dict
    runpy.run_path(sys.argv[0], {"__builtins__": builtins}, run_name="__main__")


if __name__ == "__main__":
    main()
