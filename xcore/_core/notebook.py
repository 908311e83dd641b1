"""Values as HTML, for notebooks: what they are, facts in a table, and text as it is printed."""

from __future__ import annotations

from collections.abc import Iterable


def shown(title: str, facts: Iterable[tuple[str, object]] = (), text: str = "") -> str:
    """A title, rows of (name, value), a block of text; what is empty is left out."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in facts
    )
    table = f"<table>{rows}</table>" if rows else ""
    block = f'<pre style="overflow-x:auto">{escape(text)}</pre>' if text else ""
    return f"<div><b>{escape(title)}</b>{table}{block}</div>"


def escape(text: str) -> str:
    """Text that HTML shows as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
