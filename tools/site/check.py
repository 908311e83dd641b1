"""Looks at the built site: nothing public lacks a place, links lead somewhere, nothing comes from elsewhere.

python -m tools.site.check              build/docs
"""

from __future__ import annotations

import argparse
import html
import importlib
import os
import re
import sys
import zlib
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .names import ACTS, ROOT, canonical, page_of, public_modules

LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}
NOT_LOADED = {"canonical", "next", "prev", "author", "search", "index"}


# An element's start, as Sphinx writes it: a regular expression reads the site in seconds, a parser in minutes.
_TAG = re.compile(
    r"""<([a-zA-Z]\w*)((?:\s+[\w:@.-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)+)\s*/?>"""
)
_ATTRIBUTE = re.compile(r"""([\w:@.-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_HIDDEN = re.compile(r"<!--.*?-->|(?<=>)[^<>]*</(?:script|style)>", re.DOTALL)


class Page:
    """Anchors of a page, what it links to, what it loads."""

    def __init__(self, path: Path):
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        for tag, attributes in _TAG.findall(_HIDDEN.sub("", path.read_text(encoding="utf-8"))):
            self._take(tag.lower(), attributes)

    def _take(self, tag: str, attributes: str) -> None:
        found = _ATTRIBUTE.findall(attributes)
        told = {k: html.unescape(a or b or c) for k, a, b, c in found}
        self.anchors |= {told[k] for k in ("id", "name") if k in told}
        if tag == "a" and "href" in told:
            self.links.add(told["href"])
        if not NOT_LOADED & set(told.get("rel", "").split()):
            self.loads |= {v for k, v in told.items() if (tag, k) in LOADS}


def pages(out: Path) -> dict[str, Page]:
    """All pages by their paths."""
    paths = [p for p in sorted(out.rglob("*.html")) if "_static" not in p.parts]
    return {str(path): Page(path) for path in paths}


def broken(out: Path, found: dict[str, Page]) -> list[str]:
    """Links within the site that lead nowhere, and what is loaded from elsewhere."""
    files = {str(p) for p in out.rglob("*") if p.is_file()}
    wrong = []
    for path, page in found.items():
        here = os.path.relpath(path, out)
        foreign = (
            a for a in page.loads if urlsplit(a).scheme not in ("", "data") or a.startswith("//")
        )
        wrong += [f"{here}: loads {a}" for a in foreign]
        wrong += [
            f"{here}: {a}"
            for a in sorted(page.links | page.loads)
            if not _leads(path, a, found, files)
        ]
    return wrong


def _leads(path: str, address: str, found: dict[str, Page], files: set[str]) -> bool:
    if address.startswith(("//", "http:", "https:", "mailto:", "data:")):
        return True
    file, _, anchor = unquote(address).partition("#")
    file = file.partition("?")[0]
    target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    if target not in files:
        return False
    return not anchor or target not in found or anchor in found[target].anchors


def missing(out: Path, found: dict[str, Page]) -> list[str]:
    """Public names without an anchor on the page that is theirs."""
    lost = [f"{name}: in __all__, and has no page" for name in _promised() - set(canonical())]
    for name, owner in canonical().items():
        page = str(out / f"{page_of()[owner]}.html")
        if page not in found or name not in found[page].anchors:
            lost.append(f"{name}: no place in {page_of()[owner]}.html")
    return lost


def _promised() -> set[str]:
    """Every name in an `__all__`, but for modules that are listed as such."""
    held = {m: importlib.import_module(m) for m in public_modules()}
    every = {f"{m}.{n}" for m, module in held.items() for n in getattr(module, "__all__", ())}
    return every - set(held) - set(ACTS)


def inventory(out: Path) -> list[str]:
    """Public names that manuals of others cannot link to, as `objects.inv` does not have them."""
    raw = (out / "objects.inv").read_bytes()
    told = zlib.decompress(raw.split(b"\n", 4)[4]).decode()
    listed = {line.split(" py:")[0] for line in told.splitlines() if " py:" in line}
    return [f"{name}: not in objects.inv" for name in canonical() if name not in listed]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Looks at the built site.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    out = parser.parse_args(argv).out.resolve()
    found = pages(out)
    wrong = missing(out, found) + inventory(out) + broken(out, found)
    print("\n".join(wrong[:200]))
    print(f"{len(found)} pages, {len(canonical())} public names, {len(wrong)} mistakes")
    return int(bool(wrong) or not found)


if __name__ == "__main__":
    sys.exit(main())
