"""xcore's files as pages with a line number to link to at every line."""

from __future__ import annotations

from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .names import ROOT
from .write import write

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{top}source/source.css"></head>
<body><p><a href="{top}reference/index.html">Reference</a> › {title}</p>{body}</body></html>
"""


def style() -> str:
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    light = HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")
    return (
        "body{font:14px/1.45 system-ui,sans-serif;margin:1rem;background:#fff;color:#222}a{color:#0a5ea8}\n"
        "pre{margin:0}.highlight{overflow-x:auto}span:target,a:target{background:#fff3b0}.highlight a{color:#767676;"
        "text-decoration:none}\n"
        + light
        + "\n@media(prefers-color-scheme:dark){body{background:#14181e;color:#ddd}"
        "a{color:#7cc4ff}span:target,a:target{background:#4a4000}\n" + dark + "\n"
        ".highlight :is(a,.linenos,.special){color:#8f99a3}}\n"
    )


def write_pages(out: Path) -> None:
    """One page for each file, into the built site."""
    write(out / "source" / "source.css", style())
    shown = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True)
    for path in sorted((ROOT / "xcore").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        page = out / "source" / f"{name}.html"
        if page.exists() and page.stat().st_mtime > path.stat().st_mtime:
            continue
        body = highlight(path.read_text(encoding="utf-8"), PythonLexer(), shown)
        write(page, PAGE.format(title=name, top="../" * (name.count("/") + 1), body=body))
