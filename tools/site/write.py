"""Files of the site's source, written only where they change: what is older is not built again."""

from __future__ import annotations

import unicodedata
from pathlib import Path

written: set[Path] = set()


def write(path: Path, text: str | bytes) -> None:
    content = text.encode() if isinstance(text, str) else text
    written.add(path)
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def heading(text: str, line: str = "=") -> str:
    width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return f"{text}\n{line * width}"
