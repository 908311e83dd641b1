"""Packages that an example needs and that need not be there."""

import importlib.util


def needs(*packages: str) -> None:
    """Ends the script, with a word and without an error, where one of these is not installed."""
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    if missing:
        print(
            f"skipped: {', '.join(missing)} not installed; pip install 'xcore[ecosystem]' brings it"
        )
        raise SystemExit(0)
