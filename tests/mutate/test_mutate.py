"""The tool that makes mistakes: it makes those it says, in place, and the tests find them."""

import ast
import importlib

import pytest

import xcore as xc
from tests.mutate import live, operators, report, targets
from xcore._core.op import registry

SOURCE = live.Source("xcore/_ops/elementwise.py")

# a line of code -> what is made of it
MADE = {
    "mul(neg(x), y)": {"neg(x)", "y", "mul(x, y)"},
    "sub(x, y)": {"add(x, y)", "x", "sub(y, x)"},
    "select(p, x, y)": {"select(p, y, x)"},
    "conj(x)": {"x"},
    "n + 1": {"n - 1", "n", "1", "n + 2"},
    "0 <= d < 3": {"0 < d < 3", "0 <= d <= 3", "1 <= d < 3", "0 <= d < 4"},
    "x if a and b else y": {"y if a and b else x", "x if a or b else y", "x if b else y", "x if a else y"},
    "zip(x, y, strict=True)": set(),
}  # fmt: skip


@pytest.mark.parametrize("text", MADE)
def test_what_is_made_of_a_line(text):
    tree = ast.parse(f"def f(): return {text}")
    found = operators.sites(tree, {tree.body[0]: "f"}, SOURCE.known)
    made = set()
    for site in found:
        tree = ast.parse(f"def f(): return {text}")
        operators.apply(tree, site, SOURCE.known)
        made.add(ast.unparse(tree.body[0].body[0].value))
    assert made == MADE[text]


def test_checks_messages_and_assertions():
    text = "def f(x):\n    if x < 0:\n        raise ValueError(1 + 1)\n    assert x\n    check(x)\n"
    tree = ast.parse(text)
    found = operators.sites(tree, {tree.body[0]: "f"}, SOURCE.known)
    assert {(s.line, s.kind) for s in found} == {
        (2, "check dropped"), (2, "comparison"), (2, "number shifted"), (5, "call dropped"),
    }  # fmt: skip


def test_a_mistake_is_made_where_the_rule_lives(monkeypatch):
    """Also in a lambda of a table that only a closure of the operation's record holds."""
    owned = targets.owners(registry)
    living = live.functions_of(str(live.ROOT / "xcore"))
    source = live.Source("xcore/_ops/transcendental.py")
    assert xc.grad(xc.numpy.tan)(0.5) > 0
    site = next(
        s for s in source.sites(targets.chosen(source, owned))
        if s.function.startswith("tan") and s.text == "mul(g, _one_plus_square(y)) → g"
    )  # fmt: skip
    before = {
        f: f.__code__ for fs in living[source.file].values() for f in fs if f.__code__.co_name == "<lambda>"
    }  # fmt: skip
    try:
        assert source.exchange(site, living) == 1
        assert xc.grad(lambda x: xc.numpy.tan(x))(0.5) == 1.0
    finally:
        for f, code in before.items():
            f.__code__ = code
    assert xc.grad(lambda x: xc.numpy.tan(x))(0.5) > 1.0


def test_every_mistake_of_a_file_compiles():
    owned = targets.owners(registry)
    source = live.Source("xcore/_ops/reduce.py")
    found = source.sites(targets.chosen(source, owned))
    assert len(found) > 100
    for site in found[::7]:
        assert source.exchange(site, {}) == 0


def test_what_the_table_of_equivalents_names_is_there():
    from tests.mutate.equivalent import ROWS

    texts: dict = {}
    owned = targets.owners(registry)
    for path, function, part, why in ROWS:
        if path not in texts:
            importlib.import_module(path.removesuffix(".py").replace("/", "."))
            source = live.Source(path)
            reached = source.sites(targets.chosen(source, owned))
            every = [*reached, *source.sites(set(source.names))]  # by other tests' operations
            texts[path] = [(s.function, s.text) for s in every]
        assert any(
            s == function or function == "*" or s.startswith(function + ".") for s, _ in texts[path]
        ), function
        assert any(
            part == "*" or part in text
            for s, text in texts[path]
            if function in ("*", s) or s.startswith(function + ".")
        ), part
        assert why


def test_a_page():
    rows = [
        report.Mutant("xcore/_ops/dot.py", 3, "f", "sign", "a → b", 0, "jvp", ["dot"], status)
        for status in ("killed", "hang", "survived")
    ]
    assert "| **all** | 3 | 3 | 2 | 0 | 1 | 66.7 % |" in report.page(rows)
    assert report.page(rows, "## Until then\n\n9 mutants\n").endswith(
        "\n\n## Until then\n\n9 mutants\n"
    )
