"""A script run under the setting ``sanitize``, and what was found in it."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable, Generator

from .._core import config, errors, findings
from .._core.source import describe_where


@contextlib.contextmanager
def running(path: str, arguments) -> Generator[Callable[[], dict]]:
    """For a block: a function that runs a script as ``python script.py`` would, and gives its names.

    ``-m`` for the path takes a module, the first of the arguments behind it.
    """
    outside, place = sys.argv, sys.path[0]
    module = path == "-m"
    sys.argv = list(arguments[module:])
    sys.path[0] = os.getcwd() if module else os.path.dirname(os.path.abspath(path))
    try:
        if module:
            yield lambda: runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            yield lambda: runpy.run_path(path, run_name="__main__")
    finally:
        sys.argv, sys.path[0] = outside, place


def run_script(path: str, arguments) -> int:
    """Run a script as ``python script.py`` would. 1 if it failed or something was found, 2 if there is none."""
    if path == "-m" and len(arguments) < 2:
        print("xcore sanitize: -m needs the name of a module", file=sys.stderr)
        return 2
    if path != "-m" and not os.path.exists(path):
        print(f"xcore sanitize: there is no file {path}", file=sys.stderr)
        return 2
    messages: list = []
    config.update("sanitize", True)
    os.environ["XCORE_SANITIZE"] = "1"  # for the processes that it starts
    show = warnings.showwarning

    def note(message, category, filename, lineno, file=None, line=None):
        if issubclass(category, errors.SanitizeWarning):
            messages.append(message)
            print(f"{filename}:{lineno}: {message}", file=sys.stderr)
        else:
            show(message, category, filename, lineno, file, line)

    warnings.showwarning = note
    warnings.filterwarnings("always", category=errors.SanitizeWarning)
    status, raised = 0, 0
    try:
        with running(path, arguments) as run:
            messages += _unread(run())
    except SystemExit as e:
        messages += _unread(e.__traceback__)  # which holds the names of the script
        status = _status(e.code)
    except BaseException as e:
        traceback.print_exc()
        told = isinstance(e, errors.SanitizeError) or str(e) in findings.messages
        findings.messages.pop(str(e), None)
        status, raised = 1, int(told)
    finally:
        warnings.showwarning = show
    found = raised + len(messages) + len(_caught())
    text = f"{found} finding{'s' * (found != 1)}"
    text = f"the script failed; {text}" if status else text
    print(f"xcore sanitize: {text}", file=sys.stderr)
    return status or int(bool(found))


def _status(code) -> int:
    """What a process ends with that calls ``sys.exit(code)``; a text is printed."""
    if code is None or isinstance(code, int):
        return int(code or 0)
    print(code, file=sys.stderr)
    return 1


def _caught() -> list[str]:
    """Errors that the script, or the end of one of its threads, has caught."""
    for message in findings.messages:
        print(f"{message}\n  (this was raised, and the script went on)", file=sys.stderr)
    return [*findings.messages]


def _unread(held) -> list:
    """NaN and infinities that the script still has and has not looked at."""
    open_ = {id(p): p for _, p in [*findings.pending.values()] if p.direct and not p.settled}
    found = {i: p for i, p in open_.items() if p.known() is not None and not p.mild}
    for p in found.values():
        print(
            f"xcore: {p.text}\n  {describe_where(p.where)} (and nobody has read it)",
            file=sys.stderr,
        )
    return list(found.values())
