"""A module's functions as they live in this process, and how to exchange their code.

Whatever holds a function (an operation's record, a table, a closure) goes on holding it: only its
code object is another one. Functions that are made later come out of the exchanged code of the
function that makes them.
"""

from __future__ import annotations

import ast
import gc
import sys
import types
from functools import cached_property
from pathlib import Path

from tests.mutate import operators
from tests.mutate.operators import FUNCTIONS, Site

ROOT = Path(__file__).parents[2]
_MARK = 10_000_000  # first lines from here on are marks


def _first_place(code) -> tuple:
    """Where a code's text begins, without the line of its definition."""
    places = [
        (line, column)
        for k, (line, _, column, _) in enumerate(code.co_positions())
        if line is not None and column is not None and code.co_code[2 * k] in _REAL
    ]
    return min(places, default=(0, 0))


def _opcodes() -> set[int]:
    import opcode

    preludes = {"RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "CACHE", "POP_TOP"}
    return {n for name, n in opcode.opmap.items() if name not in preludes}


_REAL = _opcodes()


def _key(code) -> tuple:
    return code.co_name, _first_place(code)


def _codes(code):
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _codes(c)


def functions_of(root: str) -> dict:
    """file → key → the living functions of that text, for files below ``root``."""
    found: dict = {}
    gc.collect()
    for f in gc.get_objects():
        if type(f) is types.FunctionType and f.__code__.co_filename.startswith(root):
            found.setdefault(f.__code__.co_filename, {}).setdefault(_key(f.__code__), []).append(f)
    return found


class Source:
    """One file: its text, its tree, and the names of its functions."""

    def __init__(self, path: str):
        self.path = path  # below the root, as "xcore/_ops/dot.py"
        self.file = str(ROOT / path)
        self.text = Path(self.file).read_text()
        self.module = sys.modules[path[:-3].replace("/", ".").removesuffix(".__init__")]

    def parse(self):
        return ast.parse(self.text, self.file)

    @cached_property
    def tree(self):
        return self.parse()

    @cached_property
    def names(self) -> dict:
        """Function node → its name; lambdas are called after the statement that they stand in."""
        found = {}

        def visit(node, prefix):
            for child in ast.iter_child_nodes(node):
                inner = prefix
                if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                    inner = (*prefix, child.name)
                elif isinstance(child, (ast.Assign, ast.AnnAssign)):
                    target = child.targets[0] if isinstance(child, ast.Assign) else child.target
                    inner = (*prefix, ast.unparse(target))
                elif isinstance(child, ast.Lambda):
                    inner = (*prefix, "λ")
                if isinstance(child, FUNCTIONS):
                    found[child] = ".".join(dict.fromkeys(inner))
                visit(child, inner)

        visit(self.tree, ())
        return found

    def known(self, func, name) -> bool:
        """Whether ``func``, or what is called ``name`` beside it, is a function of the package."""
        scope = vars(self.module)
        if isinstance(func, ast.Attribute):
            owner = scope.get(func.value.id) if isinstance(func.value, ast.Name) else None
            value = getattr(owner, name or func.attr, None)
        elif isinstance(func, ast.Name):
            value = scope.get(name or func.id)
            if value is None and name in ("any", "all", "max", "min"):
                return True
        else:
            return False
        home = getattr(value, "__module__", None) or type(value).__module__
        return callable(value) and not isinstance(value, type) and str(home).startswith("xcore")

    def sites(self, chosen) -> list[Site]:
        return operators.sites(self.tree, {f: self.names[f] for f in chosen}, self.known)

    def numbered(self, tree) -> tuple:
        """All codes of a tree whose functions are marked by it, and function node → its place there."""
        nodes = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]
        for i, node in enumerate(nodes):
            for n in (node, *getattr(node, "decorator_list", ())):
                n.lineno = n.end_lineno = _MARK + i
                n.end_col_offset = n.col_offset + 1
        codes = list(_codes(compile(tree, self.file, "exec", dont_inherit=True)))
        return codes, {
            nodes[c.co_firstlineno - _MARK]: i
            for i, c in enumerate(codes) if c.co_firstlineno >= _MARK
        }  # fmt: skip

    @cached_property
    def originals(self) -> list:
        """The code of each function, in the order of the walk."""
        codes = list(_codes(compile(self.parse(), self.file, "exec", dont_inherit=True)))
        tree = self.parse()
        _, places = self.numbered(tree)
        nodes = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]
        return [codes[places[n]] if n in places else None for n in nodes]

    def exchange(self, site: Site, living: dict) -> int:
        """Make the mistake in this process; the number of functions that have it now."""
        tree = self.parse()
        order = {n: i for i, n in enumerate(n for n in ast.walk(tree) if isinstance(n, FUNCTIONS))}
        chain = operators.apply(tree, site, self.known)
        for node in chain:
            _keep_free(node, self.originals[order[node]])
        ast.fix_missing_locations(tree)
        (codes, places), count = self.numbered(tree), 0
        for node in chain:
            old = self.originals[order[node]]
            if old is None or node not in places:
                continue
            new = codes[places[node]]
            for f in living.get(self.file, {}).get(_key(old), ()):
                if f.__code__.co_freevars == new.co_freevars:
                    f.__code__ = new
                    count += 1
        return count


def _keep_free(node, code) -> None:
    """Let a function refer to the same names from outside as before, also if the mistake dropped one."""
    if code is None or not code.co_freevars:
        return
    names = ast.Tuple([ast.Name(v, ast.Load()) for v in code.co_freevars], ast.Load())
    if isinstance(node, ast.Lambda):
        node.body = ast.copy_location(ast.IfExp(ast.Constant(True), node.body, names), node.body)
    else:
        node.body.append(
            ast.copy_location(ast.If(ast.Constant(False), [ast.Expr(names)], []), node.body[-1])
        )
