"""Which functions are rules, whose they are, and which tests are theirs."""

from __future__ import annotations

import ast
import functools
import types

from tests.mutate.live import ROOT, Source

# What a change in a package is shown to. (Which of these tests run a line is measured.)
TESTS = {
    "_ops": (
        "tests/_ops", "tests/_transforms", "tests/test_ops.py", "tests/linalg/test_gauss.py", "tests/linalg/test_coalescing.py",
        "tests/fft/test_trigonometric.py", "tests/sharding/test_spread.py", "tests/sharding/test_shard_map.py",
        "tests/numpy/test_fft.py", "tests/numpy/test_sort.py", "tests/numpy/test_index.py", "tests/lax",
        "tests/numpy/test_lax.py", "tests/numpy/test_reduce.py", "tests/numpy/test_dot.py",
        "tests/numpy/test_linalg.py", "tests/numpy/test_nan.py", "tests/scipy/test_signal.py",
        "tests/numpy/test_standard_dtypes.py", "tests/linalg/test_factorisations.py",
        "tests/special/test_derivatives.py",
    ),
    "_cpu": ("tests/_cpu", "tests/_ops", "tests/numpy/test_sort.py", "tests/fft"),
    "_control": (
        "tests/_control", "tests/_transforms", "tests/sharding/test_shard_map.py",
        "tests/lax/test_linalg.py", "tests/optimize/test_root.py",
    ),
    "numpy": ("tests/numpy/test_linalg.py",),
    "experimental": ("tests/experimental/test_ode.py",),
    "linalg": ("tests/linalg", "tests/scipy/test_linalg.py"),
    "pde": ("tests/pde/test_solve.py", "tests/pde/test_nonlinear.py", "tests/pde/test_laplacian.py",
            "tests/pde/test_modes.py", "tests/pde/test_masked.py", "tests/pde/test_multigrid.py"),
    "optimize": ("tests/optimize",),
    "decomp": ("tests/decomp/test_implicit.py",),
    "special": ("tests/special",),
    "random": ("tests/random/test_gradients.py", "tests/random/test_hash.py", "tests/random/test_distributions.py"),
    "nn": ("tests/nn",),
}  # fmt: skip

RULES = (
    "type",
    "lower",
    "jvp",
    "transpose",
    "batch",
    "linearize",
    "over_axis",
    "threaded",
    "steps",
)


# Whose it is


def _held(value):
    """What a value of a closure or a table holds: functions, also in containers and wrappers."""
    if isinstance(value, types.FunctionType):
        yield value
    elif isinstance(value, (tuple, list)):
        for v in value:
            yield from _held(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from _held(v)
    elif isinstance(value, functools.partial):
        yield from _held(value.func)
        yield from _held(value.args)
    elif hasattr(value, "__wrapped__"):
        yield from _held(value.__wrapped__)


def _names(code):
    yield from code.co_names
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _names(c)


def _called(f):
    """Functions that a function may call: of its closure, and private ones beside it."""
    for cell in f.__closure__ or ():
        try:
            yield from _held(cell.cell_contents)
        except ValueError:
            continue
    scope, home = f.__globals__, f.__code__.co_filename
    for name in _names(f.__code__):
        for g in _held(scope.get(name)):
            file = g.__code__.co_filename
            if file == home or "/_ops/" in file or "/_cpu/" in file:
                yield g


def owners(registry) -> dict:
    """(file, line of the definition, name) of a function → the rules ("dot_general.jvp") that reach it."""
    found: dict = {}
    for op in registry.values():
        for rule in RULES:
            start = getattr(op, f"_{rule}", None) or getattr(op, rule, None)
            start = (start, *map(tuple, op.alternatives)) if rule == "lower" else start
            todo, seen = list(_held(start)), set()
            while todo:
                f = todo.pop()
                if f in seen or "xcore" not in f.__code__.co_filename:
                    continue
                seen.add(f)
                code = f.__code__
                key = code.co_filename, code.co_firstlineno, code.co_name
                found.setdefault(key, {})[f"{op.name}.{rule}"] = None
                todo += _called(f)
    return found


# Which are rules

_DERIVATIVE_ARGUMENTS = {"elementwise": (), "linear_op": (), "Op": ()}
_RULE_KEYWORDS = {"jvp", "transpose", "batch"}
_TAKES_RULES = {"defjvp", "defvjp", "defjvps", "custom_linear_solve", "custom_root"}


def _called_name(node) -> str:
    f = node.func if isinstance(node, ast.Call) else node
    return f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""


def _stated(tree):
    """Expressions that stand where a derivative rule is asked for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if any(_called_name(d).startswith("def") and _called_name(d) in _TAKES_RULES
                   for d in node.decorator_list):  # fmt: skip
                yield node
        if not isinstance(node, ast.Call):
            continue
        name = _called_name(node)
        if name in _TAKES_RULES:
            yield from (*node.args, *[k.value for k in node.keywords])
        elif name == "kernel":
            yield from node.args[2:]
        elif name in _DERIVATIVE_ARGUMENTS:
            yield from [k.value for k in node.keywords if k.arg in _RULE_KEYWORDS]


def _outside_of_lambdas(node):
    yield node
    if not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _outside_of_lambdas(child)


def _derivative_rules(tree) -> set:
    """The functions of a module that are derivative rules, and private ones that only these use."""
    named: dict = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            named.setdefault(node.name, []).append(node)
    found: set = set()
    for expression in _stated(tree):
        if isinstance(expression, ast.FunctionDef):
            found.add(expression)
            continue
        for node in _outside_of_lambdas(expression):
            if isinstance(node, ast.Lambda):
                found.add(node)
            elif isinstance(node, ast.Name):
                found |= set(named.get(node.id, ()))
    while True:
        inside = {n for f in found for n in ast.walk(f)}
        uses: dict = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id.startswith("_") and node.id in named:
                uses.setdefault(node.id, []).append(node in inside)
        more = {f for name, where in uses.items() if all(where) for f in named[name]} - found
        if not more:
            return found
        found |= more


def _reached(source: Source, owned) -> set:
    """Functions of a file that rules of operations reach."""
    found = set()
    for node in source.names:
        first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]])
        name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        if (source.file, first, name) in owned:
            found.add(node)
    return found


def chosen(source: Source, owned) -> set:
    """The functions of a file in which mistakes are made."""
    package = source.path.split("/")[1]
    if package in ("_cpu", "_ops", "_control"):
        return _reached(source, owned)
    return _derivative_rules(source.tree)


def files(package: str) -> list[str]:
    found = sorted((ROOT / "xcore" / package).rglob("*.py"))
    return [p.relative_to(ROOT).as_posix() for p in found if p.name != "__init__.py"]


def owner_of(source: Source, node, owned) -> list[str]:
    """The rules that a chosen function serves; for a nested one, those of the function around it."""
    first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]])
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    return list(owned.get((source.file, first, name), ()))
