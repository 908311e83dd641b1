"""Docstrings as reStructuredText: paragraphs, the section Args, examples, formulas that are indented."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from . import formulas

Link = Callable[[str], "str | None"]

_SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields):$")
_ENTRY = re.compile(r"(\*{0,2}[A-Za-z_]\w*(?:, \*{0,2}[A-Za-z_]\w*)*): (.*)", re.DOTALL)
_ITEM = re.compile(r"[-*•] |\d+[.)] ")


def escape(text: str) -> str:
    return re.sub(r"([\\*`_|<>\[\]])", r"\\\1", text)


def inline(text: str, link: Link = lambda name: None, mathematics: bool = False) -> str:
    """A run of words, in which what stands between backticks is code, and a public name or an address is a link.

    Args:
      text: a paragraph of a docstring.
      link: where a name leads, or None.
      mathematics: formulas are set by MathJax; otherwise they stay as they are written.
    """
    parts = re.split(r"(``.+?``|`[^`]+?`)", text, flags=re.DOTALL)
    out = ""
    for k, part in enumerate(parts):
        if k % 2 == 0:
            out += _with_formulas(part, out) if mathematics else escape(part)
            continue
        code = " ".join(part.strip("`").split())
        before = "\\ " if out and re.search(r"[\w\]]$", out) else ""
        after = "\\ " if re.match(r"\w", parts[k + 1]) else ""
        target = link(code) if re.fullmatch(r"[\w.]+(\(\))?", code) else None
        shown = f":code:`{code.replace(chr(92), chr(92) * 2)}`"
        if target:
            https = target.startswith("https:")
            shown = f"`{escape(code)} <{target}>`__" if https else f":py:obj:`{code} <{target}>`"
        out += before + shown + after
    return out


def _with_formulas(text: str, before: str) -> str:
    out = ""
    for is_formula, part in formulas.split(text):
        if is_formula:
            apart = "\\ " if re.search(r"\S$", out or before) else ""
            out += f"{apart}:math:`{formulas.latex(part)}`"
        else:
            apart = "\\ " if out.endswith("`") and re.match(r"\w", part) else ""
            out += apart + escape(part)
    return out


def blocks(text: str) -> list[list[str]]:
    """Lines between blank ones; an example and what it prints stay together."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip():
            found[-1].append(line.rstrip())
        elif found[-1]:
            found.append([])
    return [b for b in found if b]


def summary(text: str) -> str:
    """The first sentence, or the first paragraph if it has none."""
    first = " ".join(line.strip() for line in (blocks(text) or [[""]])[0])
    got = re.match(r"(.+?[.!?])(?=\s+[A-Z(`|]|$)", first)
    return got[1] if got else first


def rest(text: str, link: Link = lambda name: None) -> str:
    """A docstring as reStructuredText."""
    out: list[str] = []
    pending = blocks(text)
    k = 0
    while k < len(pending):
        block = pending[k]
        k += 1
        if _SECTION.match(block[0]):
            while (
                k < len(pending)
                and pending[k][0].startswith(" ")
                and not pending[k][0].lstrip().startswith(">>>")
            ):
                block = [*block, "", *pending[k]]
                k += 1
            out.append(_section(block, link))
        else:
            out.append(_block(block, link))
    return "\n\n".join(out) + "\n"


def _section(block: list[str], link: Link) -> str:
    head = {"Args": "Arguments"}.get(block[0].rstrip(":"), block[0].rstrip(":"))
    entries: list[str] = []
    for line in textwrap.dedent("\n".join(block[1:])).splitlines():
        if line.startswith(" ") or not entries or not _ENTRY.match(line):
            entries.append(line) if not entries else entries.__setitem__(
                -1, f"{entries[-1]}\n{line}"
            )
        else:
            entries.append(line)
    rows = [_entry(e, link) for e in entries if e.strip()]
    return f".. rubric:: {head}\n\n" + "\n".join(rows)


def _entry(entry: str, link: Link) -> str:
    got = _ENTRY.match(entry)
    if not got:
        return textwrap.indent(inline(" ".join(entry.split()), link, True), "") + "\n"
    names = ", ".join(f"**{escape(n)}**" for n in got[1].split(", "))
    return f"{names}\n    {inline(' '.join(got[2].split()), link, True)}\n"


def _literal(lines: list[str]) -> str:
    found = [list(formulas.split(line.strip())) for line in lines]
    if all(len(parts) == 1 and parts[0][0] for parts in found):
        shown = r" \\ & ".join(formulas.latex(line.strip()) for line in lines)
        return rf".. math:: \begin{{aligned}} & {shown} \end{{aligned}}"
    return "::\n\n" + textwrap.indent(textwrap.dedent("\n".join(lines)), "    ")


def _block(lines: list[str], link: Link) -> str:
    if lines[0].lstrip().startswith(">>>"):
        return ".. code-block:: pycon\n\n" + textwrap.indent(
            textwrap.dedent("\n".join(lines)), "    "
        )
    if all(line.startswith("  ") for line in lines) or all(line.startswith("|") for line in lines):
        return _literal(lines)
    if any(line.lstrip().startswith(">>>") for line in lines):
        cut = next(k for k, line in enumerate(lines) if line.lstrip().startswith(">>>"))
        return _block(lines[:cut], link) + "\n\n" + _block(lines[cut:], link)
    if _ITEM.match(lines[0]):
        return _items(lines, link)
    for k, line in enumerate(lines):  # a formula, or a list, that follows without a blank line
        deeper = line.startswith("    ")
        if k and (deeper or (_ITEM.match(line) and lines[k - 1].endswith(":"))):
            end = next(
                (j for j in range(k, len(lines)) if deeper and not lines[j].startswith("  ")),
                len(lines),
            )
            after = [_block(lines[end:], link)] if end < len(lines) else []
            return "\n\n".join([_block(lines[:k], link), _block(lines[k:end], link), *after])
    return inline(" ".join(line.strip() for line in lines), link, True)


def _items(lines: list[str], link: Link) -> str:
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append(_ITEM.sub("", line, count=1))
        else:
            items[-1] += " " + line.strip()
    return "\n".join(f"- {inline(item, link, True)}" for item in items)
