"""What the control-flow functions share: tracing user functions of pytrees, and agreeing types."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from .._core import ArrayType, Tracer, dtypes, errors, is_evaluating, rule_errors, tree, typeof
from .._core.eval import is_array_like, operand, to_array, to_value
from .._core.key_uses import Tracing
from .._core.program import Literal, Program, Var, trace_program
from .._core.source import written_at
from .._ops.elementwise import convert, strengthened, weakened
from .invariance import grown_carry, register, sets_of

Types = Sequence[ArrayType]


def leaf_values(who: str, what: str, tree_) -> tuple[list, object]:
    """The leaves of a tree as strong values, and its structure."""
    leaves, structure = tree.flatten(tree_)
    make = to_array if is_evaluating() else to_value
    for i, x in enumerate(leaves):
        if not (is_array_like(x) or isinstance(x, Literal)):
            path = tree.flatten_with_path(tree_)[0][i][0]
            raise errors.not_an_array(who, x, f"{what}{tree.keystr(path)}")
    return [make(x) for x in leaves], structure


def known(kind: type, x):
    """``kind(x)``, or None of a traced value."""
    try:
        return kind(x)
    except errors.ConcretizationError:
        return None


def called(who: str, name: str, wanted: str, f, *args):
    """f(*args); where f is written for other arguments, it is told who calls it, and with what."""
    try:
        return f(*args)
    except TypeError:
        _check_takes(who, name, wanted, f, args)
        raise


def _check_takes(who: str, name: str, wanted: str, f, args) -> None:
    try:
        # what a wrapper wraps may be called in another way
        signature = inspect.signature(f, follow_wrapped=False)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*args)
    except TypeError:
        told = rule_errors.custom_rule_arguments(f"{who}: {name}{written_at(f)}", signature, wanted)
        raise told from None


def _in_words(count: int, name: str) -> str:
    """What a function is given, of so many values, in a loop or as a branch."""
    of = ", the carry" if name in ("cond_fun", "body_fun") else ""
    numbers = {0: "no argument", 1: "one argument"}
    operands = "" if of or not count else ", as there are operands"
    return numbers.get(count, f"{count} arguments") + of + operands


class Body:
    """A user function traced to a program: its captured values, and the structure of its result.

    Programs take and return strong values, so that they can be run again on what they return.
    ``types`` may be weak: the function sees weak arguments then. ``weak`` says which results it
    would have returned weak. ``like`` are values that the first arguments are like, those of a loop's first step.
    """

    __slots__ = ("captured", "place", "program", "result", "weak")

    def __init__(self, who: str, f, structure, types, name: str, loop: bool = False, like=()):
        found, self.weak, more = [], [], []
        self.place = written_at(f)
        sets = sets_of(like)

        def flat(*leaves):
            register(leaves[: len(like)], sets)
            leaves = [weakened(x) if t.weak else x for x, t in zip(leaves, types, strict=True)]
            args = tree.unflatten(structure, leaves)
            result = called(who, name, _in_words(len(args), name), f, *args)
            outs, out_structure = tree.flatten(result)
            found.append(out_structure)
            for i, x in enumerate(outs):
                if not (is_array_like(x) or isinstance(x, Literal)):
                    path = tree.flatten_with_path(result)[0][i][0]
                    raise TypeError(
                        f"xcore.{who}: {name}{self.place} returned {errors.describe(x)} at "
                        f"result{tree.keystr(path)}; results must be arrays, numbers or pytrees of them."
                    )
            values = [to_value(x) for x in outs]
            self.weak = [typeof(x).weak for x in values]
            more[:] = [grown_carry(values, sets) if loop else None]
            return [strengthened(x) for x in values]

        strong = [t.strong() for t in types]
        with Tracing(loop):
            own = getattr(f, "__name__", name)
            self.program, captured = trace_program(flat, strong, own)
            while more[0] is not None:  # the carry comes to differ between devices that shared it
                sets = more[0]
                self.program, captured = trace_program(flat, strong, own)
        self.captured = [c if isinstance(c, Tracer) else operand(c) for c in captured]
        self.result = found[0]


def merge_captured(bodies: list[Body]) -> tuple[list[Program], list]:
    """Programs that all take the captured values of all bodies first; and those values."""
    values: dict = {}
    for body in bodies:
        for c in body.captured:
            values.setdefault(id(c), c)
    programs = []
    for body in bodies:
        n = len(body.captured)
        own = {id(c): v for c, v in zip(body.captured, body.program.inputs[:n], strict=True)}
        inputs = [own.get(key) or Var(typeof(c)) for key, c in values.items()]
        p = body.program
        programs.append(Program(inputs + p.inputs[n:], p.eqns, p.outputs, p.name))
    return programs, list(values.values())


def path_names(prefix: str, structure, indices: Sequence[int]) -> list[str]:
    """carry['w'][0]: how messages call leaves of a structure."""
    try:
        whole = tree.unflatten(structure, range(structure.num_leaves))
        paths = [tree.keystr(path) for path, _ in tree.flatten_with_path(whole)[0]]
    except Exception:  # a class that looks at what it is made of
        paths = [f" (leaf {i})" for i in range(structure.num_leaves)]
    return [prefix + paths[i] for i in indices]


def differing(expected: Types, given: Types) -> list[int]:
    """The positions of leaves whose shapes or dtypes differ."""
    pairs = enumerate(zip(expected, given, strict=True))
    return [i for i, (a, b) in pairs if a.shape != b.shape or a.dtype != b.dtype]


def _changed(structure, expected: Types, given: Types) -> list[str]:
    """One line for each leaf whose shape or dtype changed, with the cast that corrects it."""
    out = []
    indices = differing(expected, given)
    for i, name in zip(indices, path_names("carry", structure, indices) if indices else ()):
        a, b = expected[i], given[i]
        mend = (
            f"make its shape {a.shape}"
            if a.shape != b.shape
            else f"write .astype(xnp.{a.dtype.name}) in the body"
        )
        if a.shape == b.shape and dtypes.is_inexact(b.dtype) and not dtypes.is_inexact(a.dtype):
            mend = f"start with a {b.dtype.name} value"
        out.append(f"{name} starts as {a.strong()} but the body returns {b.strong()} ({mend})")
    return out


def check_like(who: str, what: str, structure, types, given_structure, given_types) -> None:
    """A value must have the structure, shapes and dtypes that are expected of it."""
    if given_structure != structure:
        numbers = tree.unflatten(given_structure, range(given_structure.num_leaves))
        tree.check_structure(structure, numbers, f"{who}: {what}")
    for i in differing(types, given_types):
        (name,) = path_names(what, structure, [i])
        raise rule_errors.custom_rule_leaf(who, name, given_types[i].strong(), types[i].strong())


def check_carry(who: str, structure, types, body: Body, count: int, result_structure) -> None:
    """The body must return the carry it was given: same structure, shapes and dtypes."""
    if result_structure != structure:
        raise errors.TreeError(
            f"xcore.{who}: the body{body.place} must return a carry of the structure it was given, "
            f"{structure}, but returned {result_structure}."
        )
    changed = _changed(structure, types, body.program.out_types[:count])
    if changed:
        raise errors.carry_changed(who, changed, body.place)


def trace_carry_body(trace, init, structure):
    """The body of a loop, its strong start values, and which parts of the carry are weak.

    A weak start value becomes what the body makes of it, and the body is traced again.

    Args:
      trace: function of the types and values of the carry that returns (body, structure of its carry).
      init, structure: the leaves of the start value, and their tree.
    """
    for attempt in range(3):
        types = [typeof(x) for x in init]
        body, returned = trace(types, init)
        changed = returned == structure and attempt < 2 and promoted_start(init, body)
        if not changed:
            break
        init = changed
    weak = [t.weak and w for t, w in zip(types, body.weak, strict=False)]
    return body, [strengthened(x) for x in init], weak


def promoted_start(values, body: Body):
    """Weak start values as the body gives them; None if all are so."""
    changed, out = False, []
    for v, t, weak in zip(values, body.program.out_types, body.weak, strict=False):
        have = typeof(v)
        differs = have.dtype != t.dtype or not weak
        if have.weak and differs and have.shape == t.shape and _widens(have.dtype, t.dtype):
            v, changed = convert(v, dtype=t.dtype, weak=weak), True
        out.append(v)
    return out if changed else None


def weakened_where(weak, values) -> list:
    """Results of loops and branches, weak where the user's functions returned them so."""
    return [weakened(x) if w else x for x, w in zip(values, weak, strict=True)]


def _widens(a, b) -> bool:
    order = ("bool", "int", "uint", "float", "complex")
    return order.index(dtypes.kind(a)) <= order.index(dtypes.kind(b))
