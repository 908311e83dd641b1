"""What is changed: a site is one small mistake at one place of a module's syntax tree.

``sites(tree, chosen, known)`` lists them, ``apply(tree, site)`` makes one. Both walk a freshly parsed
tree in the same order, so a site is known by the number of its node and of its alternative.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

_FLIPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)  # operands have an order
_DROP_RIGHT_ONLY = (ast.FloorDiv, ast.Mod, ast.Pow, ast.Sub, ast.Div)

# Calls of two arguments by the operation's name: what it is taken for, and what may be left out.
_TAKEN_FOR = {
    "add": "sub", "sub": "add", "max": "min", "min": "max", "and_": "or_", "or_": "and_", "eq": "ne",
    "ne": "eq", "lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "any": "all", "all": "any",
    "maximum": "minimum", "minimum": "maximum", "reduce_max": "reduce_min", "reduce_min": "reduce_max",
}  # fmt: skip
_LEFT_OUT = {"add": (0, 1), "mul": (0, 1), "sub": (0,), "div": (0,), "and_": (0, 1), "or_": (0, 1)}
_SYMMETRIC = {
    "_times",
    "both",
    "either",
    "add",
    "mul",
    "max",
    "min",
    "and_",
    "or_",
    "xor",
    "eq",
    "ne",
    "maximum",
    "minimum",
}
_EITHER_WAY = {  # of StableHLO: operations whose operands may be exchanged
    f"stablehlo.{name}" for name in ("add", "multiply", "and", "or", "xor", "maximum", "minimum")
}
_DIRECTIONS = {"EQ": "NE", "NE": "EQ", "LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT"}

# Calls that are no part of a rule's mathematics: types, containers, and Python's own.
_BARE = {
    "typeof", "list", "tuple", "dict", "set", "frozenset", "str", "repr", "int", "float", "complex",
    "len", "range", "zip", "enumerate", "isinstance", "issubclass", "getattr", "hasattr", "setattr",
    "iter", "next", "map", "filter", "type", "sum", "hash", "id", "print", "partial", "setdefault",
    "super", "Linear", "Var", "Eqn", "Program", "ArrayType", "cast", "literal_value", "describe_where",
    "user_frame", "to_array", "from_numpy", "asarray",
}  # fmt: skip
_ASSERTIONS = {"strict"}  # keywords that state what holds anyway


@dataclass(frozen=True)
class Site:
    """One mistake: the node's number in the walk, the alternative's, and both in words."""

    node: int
    choice: int
    kind: str
    line: int
    function: str
    before: str
    after: str
    start: int  # the line where the function begins

    @property
    def text(self) -> str:
        return f"{self.before} → {self.after}"


# Alternatives


def _name(call: ast.Call) -> str:
    f = call.func
    return f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""


def _renamed(call: ast.Call, name: str) -> ast.Call:
    new = copy.deepcopy(call)
    if isinstance(new.func, ast.Name):
        new.func.id = name
    else:
        new.func.attr = name
    return new


def _with(node, **fields):
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _swapped(node, field: str, i: int = 0):
    values = list(getattr(node, field))
    values[i], values[i + 1] = values[i + 1], values[i]
    return _with(node, **{field: values})


def _binary(node: ast.BinOp):
    op = type(node.op)
    if op in _FLIPPED:
        yield "sign", _with(node, op=_FLIPPED[op]())
    if op in _ORDERED:
        yield "arguments swapped", _with(node, left=node.right, right=node.left)
    what = "factor" if op in (ast.Mult, ast.Div, ast.Pow) else "term"
    yield f"{what} dropped", node.left
    if op not in _DROP_RIGHT_ONLY:
        yield f"{what} dropped", node.right


def _comparison(node: ast.Compare):
    for i, op in enumerate(node.ops):
        ops = list(node.ops)
        ops[i] = _FLIPPED[type(op)]()
        yield "comparison", _with(node, ops=ops)


def _boolean(node: ast.BoolOp):
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "comparison", _with(node, op=other)
    for i in range(len(node.values)):
        rest = [v for k, v in enumerate(node.values) if k != i]
        yield "check weakened", rest[0] if len(rest) == 1 else _with(node, values=rest)


def _call(node: ast.Call, known):
    name, args = _name(node), node.args
    starred = any(isinstance(a, ast.Starred) for a in args)
    if name in _TAKEN_FOR and known(node.func, _TAKEN_FOR[name]):
        yield "sign" if name in ("add", "sub") else "comparison", _renamed(node, _TAKEN_FOR[name])
    if starred:
        return
    if len(args) == 2:
        for i in _LEFT_OUT.get(name, ()):
            what = "factor" if name in ("mul", "div") else "term"
            yield f"{what} dropped", args[i]
    if name == "select" and len(args) == 3:
        yield "branches swapped", _swapped(node, "args", 1)
    elif (
        len(args) >= 2 and name not in _SYMMETRIC | _BARE and _alike(*args[:2]) and not _even(node)
    ):
        yield "arguments swapped", _swapped(node, "args")
    if len(args) == 1 and not node.keywords and name not in _BARE | {"any", "all"}:
        if name in ("reversed", "sorted", "not_") or known(node.func, None):
            what = (
                "conj"
                if "conj" in name or "adjoint" in name
                else "sign"
                if name == "neg"
                else "call"
            )
            yield f"{what} dropped", args[0]
    if not args and not node.keywords and name in ("conj", "conjugate"):
        yield "conj dropped", node.func.value


def _even(call: ast.Call) -> bool:
    """Whether a comparison is one of equality."""
    last = call.args[-1]
    return isinstance(last, ast.Constant) and last.value in ("EQ", "NE")


def _alike(a, b) -> bool:
    """Whether two arguments may be taken for each other: values, not a value and a list or a number."""
    values = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.BinOp)
    return type(a) is type(b) or (isinstance(a, values) and isinstance(b, values))


def _constant(node: ast.Constant):
    v = node.value
    if isinstance(v, bool):
        yield "flag", ast.Constant(not v)
    elif isinstance(v, int):
        yield "number shifted", ast.Constant(v + 1)
    elif isinstance(v, float):
        yield "factor", ast.Constant(2 * v if v and v * 2 != v else 1.0)
    elif isinstance(v, str) and v in _DIRECTIONS:
        yield "comparison", ast.Constant(_DIRECTIONS[v])


def _statement(node):
    if isinstance(node, ast.If):
        if all(isinstance(s, ast.Raise) for s in node.body) and not node.orelse:
            yield "check dropped", _with(node, test=ast.Constant(False))
        else:
            yield "branches swapped", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "call dropped", ast.Pass()
    elif isinstance(node, ast.AugAssign):
        yield "term dropped", ast.Pass()
        if type(node.op) in (ast.Add, ast.Sub):
            yield "sign", _with(node, op=_FLIPPED[type(node.op)]())


def _alternatives(node, known):
    if isinstance(node, ast.BinOp):
        yield from _binary(node)
    elif isinstance(node, ast.Compare):
        yield from _comparison(node)
    elif isinstance(node, ast.BoolOp):
        yield from _boolean(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "sign" if isinstance(node.op, ast.USub) else "comparison", node.operand
    elif isinstance(node, ast.IfExp):
        yield "branches swapped", _with(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.Call):
        yield from _call(node, known)
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.List) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
        if not any(isinstance(e, ast.Starred) for e in node.elts):
            yield "arguments swapped", _swapped(node, "elts")
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "check dropped", _with(node, ifs=[])
    elif isinstance(node, ast.stmt):
        yield from _statement(node)


# Walk


def _skipped(parent, field: str, node) -> bool:
    """Parts that are not a rule's: messages, annotations, what runs when a function is defined."""
    if isinstance(parent, ast.Raise) or isinstance(node, (ast.JoinedStr, ast.Assert)):
        return True
    if field in (
        "annotation",
        "returns",
        "decorator_list",
        "defaults",
        "kw_defaults",
        "type_params",
    ):
        return True
    if isinstance(parent, ast.keyword) and parent.arg in _ASSERTIONS:
        return True
    if isinstance(node, ast.Call):
        f = node.func
        return (
            isinstance(f, ast.Attribute)
            and isinstance(f.value, ast.Name)
            and f.value.id == "errors"
        )
    return isinstance(parent, ast.Expr) and isinstance(node, ast.Constant)  # docstrings


def _is_even_list(parent, node) -> bool:
    """Whether a list holds the operands of an operation that has no order of them."""
    if not isinstance(parent, ast.Call) or not isinstance(node, ast.List) or not parent.args:
        return False
    name = parent.args[0]
    return isinstance(name, ast.Constant) and name.value in _EITHER_WAY


def _walk(tree):
    """(node, replace, what is around it, whether it is a list without an order) in a fixed order.

    ``replace`` puts another node in its place; around it are functions, and last the parent.
    """

    def visit(node, chain):
        inner = (*chain, node) if isinstance(node, FUNCTIONS) else chain
        for field, value in ast.iter_fields(node):
            many = isinstance(value, list)
            for i, child in enumerate(value if many else [value]):
                if not isinstance(child, ast.AST) or _skipped(node, field, child):
                    continue

                def replace(new, node=node, field=field, i=i, many=many):
                    if many:
                        getattr(node, field)[i] = new
                    else:
                        setattr(node, field, new)

                yield child, replace, (*inner, node), _is_even_list(node, child)
                yield from visit(child, inner)

    yield from visit(tree, ())


def _shown(node) -> str:
    if isinstance(node, ast.comprehension):
        return "".join(f" if {ast.unparse(i)}" for i in node.ifs) or "no condition"
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}"
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:87]}…"


def _texts(node, new, parent, replace) -> tuple[str, str]:
    """What it is before and after; a number is shown with what it stands in."""
    if not isinstance(node, ast.Constant) or not isinstance(parent, (ast.expr, ast.keyword)):
        return _shown(node), _shown(new)
    before = _shown(parent)
    replace(new)
    after = _shown(parent)
    replace(node)
    return before, after


def sites(tree, chosen, known):
    """Every mistake that can be made in the chosen functions (nodes of the tree, to their names).

    ``known(func, name)`` says whether a name stands for something there; with None, whether what is
    called is a function of the package.
    """
    found = []
    for number, (node, replace, around, even) in enumerate(_walk(tree)):
        chain, parent = around[:-1], around[-1]
        names = [chosen[f] for f in chain if f in chosen]
        if not names or even:
            continue
        for choice, (kind, new) in enumerate(_alternatives(node, known)):
            if ast.dump(node) == ast.dump(new):
                continue  # two equal arguments
            line = getattr(node, "lineno", 0) or getattr(getattr(node, "target", None), "lineno", 0)
            start = next(f.lineno for f in reversed(chain) if f in chosen)
            texts = _texts(node, new, parent, replace)
            found.append(Site(number, choice, kind, line, names[-1], *texts, start))
    return found


def apply(tree, site: Site, known):
    """Make the mistake; the functions around it, outermost first."""
    for number, (node, replace, (*chain, _), _) in enumerate(_walk(tree)):
        if number == site.node:
            _, new = list(_alternatives(node, known))[site.choice]
            new = copy.deepcopy(new)
            if isinstance(new, (ast.expr, ast.stmt)):
                ast.copy_location(new, node)
            replace(new)
            ast.fix_missing_locations(tree)
            return chain
    raise LookupError(site)
