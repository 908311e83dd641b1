"""Which elements of results depend on which unknowns: the places where a derivative can be other than 0.

A program is gone through once. Beside each array stands a boolean matrix, (elements, unknowns), and its value where
that does not depend on the unknowns. What holds for all values of the unknowns is found: branches are united, loops
repeated until nothing is added. An operation that is not known here makes every element depend on everything before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._control import vjp
from .._control.scan import Scan
from .._core import Array, ArrayType, Literal, Program, dtypes, errors, trace_program
from .._core.source import describe_where
from .._ops.families import ELEMENTWISE

_MOST_ELEMENTS = 1 << 27  # of a pattern that an unknown operation makes
_MOST_TAPS = 512  # of a convolution
_MOST_STEPS = 512  # of a loop that are followed one by one


class State(NamedTuple):
    """What is known of an array: its dependence (None: on nothing), and its value (None: not known)."""

    dep: Any
    value: Any = None


def dependence(
    p: Program, values: Sequence[Any], unknown: Sequence[bool], ruled: bool = True
) -> list[Any]:
    """For each result of a program a boolean CSR matrix (elements, unknowns).

    Args:
      p: the program.
      values: of its inputs, where they are known.
      unknown: for each input whether its elements are unknowns, which are counted on.
      ruled: whether functions with derivatives of their own are looked at by their rules, too.
    """
    import scipy.sparse

    sizes = [t.size if u else 0 for t, u in zip(p.in_types, unknown, strict=True)]
    walk = _Walk(sum(sizes), ruled)
    starts = np.cumsum([0, *sizes])
    states = [
        State(
            walk.selection(np.arange(starts[i] + 1, starts[i + 1] + 1)) if u else None,
            None if u else v,
        )
        for i, (v, u) in enumerate(zip(values, unknown, strict=True))
    ]
    outs = walk.program(p, states)
    none = [scipy.sparse.csr_array((t.size, walk.unknowns), dtype=bool) for t in p.out_types]
    return [n if s.dep is None else s.dep for s, n in zip(outs, none, strict=True)]


def _type_of(a: Any) -> Any:
    return a.type if hasattr(a, "type") else a.value.type


class _Walk:
    """One walk through a program and those that it holds."""

    def __init__(self, unknowns: int, ruled: bool) -> None:
        self.unknowns, self.ruled = unknowns, ruled
        self.at: Any = None  # the equation that is looked at
        self.flat = (
            True  # whether steps have the derivative 0, as not in functions with rules of their own
        )

    def program(self, p: Program, states: Sequence[State]) -> list[State]:
        env = dict(zip(p.inputs, states, strict=True))

        def state(a: Any) -> State:
            return State(None, _full(a)) if isinstance(a, Literal) else env[a]

        for e in p.eqns:
            ins = [state(a) for a in e.inputs]
            outs = self.equation(e, ins)
            env.update(zip(e.outputs, outs, strict=True))
        return [state(a) for a in p.outputs]

    def equation(self, e: Any, ins: list[State]) -> list[State]:
        self.at, types = e, [v.type for v in e.outputs]
        if all(s.dep is None for s in ins):
            return self._constant(e, ins, types)
        if e.op.name.startswith("custom_"):
            return self._by_own_rule(e, ins, types)
        rule = _RULES.get(e.op.name) or (_elementwise if e.op.name in ELEMENTWISE else None)
        if rule is not None:
            outs = rule(self, e, ins, types)
        elif e.op.name not in _SOLVERS and e.op.steps is not None:
            outs = e.op.run_steps(self.program, ins, e.params)
        elif e.op.name not in _SOLVERS and e.op.nested and "program" in e.params:
            outs = self.program(e.params["program"], ins)
        else:
            outs = [State(self.everything(ins, t.size)) for t in types]
        return [
            s if dtypes.is_inexact(t.dtype) or not self.flat else State(None, s.value)
            for s, t in zip(outs, types, strict=True)
        ]

    def _by_own_rule(self, e: Any, ins: list[State], types: Any) -> list[State]:
        """Of functions with derivatives of their own, which may be other than 0 where the function is flat, and
        elsewhere."""
        outside, self.flat = self.flat, False
        outs = e.op.run_steps(self.program, ins, e.params)
        self.flat = outside
        ruled = self._by_pullback(e, ins, types) if self.ruled else None
        if ruled is None:
            return [
                State(self.everything(ins, t.size))
                if s.dep is None and dtypes.is_inexact(t.dtype)
                else s
                for s, t in zip(outs, types, strict=True)
            ]
        return [State(self.united([s.dep, d]), s.value if d is None else None)
                for s, d in zip(outs, ruled, strict=True)]  # fmt: skip

    def _by_pullback(self, e: Any, ins: list[State], types: Any) -> list[Any] | None:
        """The dependence of each result by what its rule does with cotangents; None where that does not tell."""
        n, given = len(ins), [_type_of(a) for a in e.inputs]
        moved = [
            i for i, s in enumerate(ins) if s.dep is not None and dtypes.is_inexact(given[i].dtype)
        ]
        told = [j for j, t in enumerate(types) if dtypes.is_inexact(t.dtype)]

        def back(*values: Any) -> list[Any]:
            def f(*xs: Any) -> list[Any]:
                args = list(values[:n])
                for i, x in zip(moved, xs, strict=True):
                    args[i] = x
                outs = e.op(*args, **e.params)
                outs = outs if isinstance(outs, list | tuple) else [outs]
                return [outs[j] for j in told]

            return list(vjp(f, *[values[i] for i in moved])[1](list(values[n:])))

        try:
            program, captured = trace_program(back, [*given, *[types[j] for j in told]])
        except Exception:  # a rule may see values, or be one that has no transpose
            return None
        known = [np.asarray(c) if type(c) is Array else None for c in captured]
        values = [*known, *[s.value for s in ins], *[None] * len(told)]
        unknown = [False] * (len(captured) + n) + [True] * len(told)
        # what is linear in cotangents depends on them as its values do
        found = dependence(program, values, unknown, ruled=False)
        ends, out = np.cumsum([0, *[types[j].size for j in told]]), [None] * len(types)
        for k, j in enumerate(told):
            each = [
                d.T.tocsr()[ends[k] : ends[k + 1]] @ ins[i].dep
                for d, i in zip(found, moved, strict=True)
            ]
            out[j] = self.united(each)
        return out

    def _constant(self, e: Any, ins: list[State], types: Any) -> list[State]:
        """What depends on no unknown is computed, if its arguments are known."""
        known = all(s.value is not None for s in ins)
        if not known or (e.op.effects is not None and e.op.effects(**e.params)):
            return [State(None) for _ in types]
        outs = e.op(*[s.value for s in ins], **e.params)
        return [
            State(None, np.asarray(v)) for v in (outs if isinstance(outs, list | tuple) else [outs])
        ]

    # Matrices of dependence

    def selection(self, ids: np.ndarray) -> Any:
        """A row for each id: of the unknown number id - 1, or of none for 0."""
        return self.rows_of(ids, self.unknowns)

    @staticmethod
    def rows_of(ids: np.ndarray, size: int) -> Any:
        """Row i has its element in column ids[i] - 1, none where that is negative."""
        import scipy.sparse

        ids = np.asarray(ids).reshape(-1).astype(np.int64)
        there = ids > 0
        pointers = np.concatenate([[0], np.cumsum(there)])
        parts = np.ones(int(pointers[-1]), bool), ids[there] - 1, pointers
        return scipy.sparse.csr_array(parts, shape=(len(ids), size))

    def united(self, deps: Sequence[Any]) -> Any:
        there = [d for d in deps if d is not None]
        return functools.reduce(lambda a, b: a + b, there) if there else None

    def stacked(self, ins: Sequence[State], sizes: Sequence[int]) -> Any:
        """The dependences of several arrays, one below the other."""
        import scipy.sparse

        none = lambda n: scipy.sparse.csr_array((n, self.unknowns), dtype=bool)  # noqa: E731
        return scipy.sparse.vstack(
            [none(n) if s.dep is None else s.dep for s, n in zip(ins, sizes, strict=True)],
            format="csr",
        )

    def everything(self, ins: Sequence[State], size: int) -> Any:
        """That of each of so many elements which depend on all there is."""
        rows = [_one_row(s.dep) for s in ins if s.dep is not None]
        if not rows:
            return None
        row = functools.reduce(lambda a, b: a + b, rows)
        if size * row.nnz > _MOST_ELEMENTS:
            raise errors.bad_argument(
                "sparse.jacobian_pattern", "f", errors.Words(self.at.op.name if self.at is not None else "f"),
                f"made of operations that are followed: this one makes all of {size} elements depend on {row.nnz} "
                f"unknowns{described(self.at)}. Give the pattern: sparse.jacobian(f, pattern)",
            )  # fmt: skip
        return _by(self.rows_of(np.ones(size), 1), row)


def described(e: Any) -> str:
    where = describe_where(e.where) if e is not None else ""
    return f" ({where})" if where else ""


def _one_row(dep: Any) -> Any:
    import scipy.sparse

    return scipy.sparse.csr_array(np.ones((1, dep.shape[0]), bool)) @ dep


def _by(selection: Any, dep: Any) -> Any:
    return None if dep is None else selection @ dep


def _full(a: Literal) -> np.ndarray:
    return np.broadcast_to(a.value, a.type.shape)


# Rules: (walk, equation, states of the arguments, types of the results) -> states

_SOLVERS = frozenset(
    {"linear_solve", "root"}
)  # what their results depend on is no matter of their steps

# steps, whose derivative is 0
_FLAT = frozenset("floor ceil round_even sign stop_gradient".split())


def _elementwise(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    if w.flat and e.op.name in _FLAT:
        return [State(None)]
    deps = [s.dep for s in ins]
    if e.op.name == "mul":
        deps = [_where_not(d, other.value) for d, other in zip(deps, reversed(ins), strict=True)]
    return [State(w.united(deps))]


def _where_not(dep: Any, factor: Any) -> Any:
    """The dependence of a product with a known factor, which may be 0."""
    if dep is None or factor is None or np.all(factor):
        return dep
    return _kept(dep, np.asarray(factor).reshape(-1) != 0)


def _kept(dep: Any, keep: np.ndarray) -> Any:
    ids = np.where(keep, np.arange(len(keep)) + 1, 0)
    return _Walk.rows_of(ids, len(keep)) @ dep


def _select(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    which, yes, no = ins
    if which.value is None:
        return [State(w.united([yes.dep, no.dep]))]
    chosen = np.broadcast_to(which.value, types[0].shape).reshape(-1)
    parts = [(yes.dep, chosen), (no.dep, ~chosen)]
    return [State(w.united([None if d is None else _kept(d, keep) for d, keep in parts]))]


def _same(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    return [State(s.dep, s.value) for s in ins[: len(types)]]


def _moved(*data: int) -> Callable[..., list[State]]:
    """Of operations that put elements of their arguments ``data`` elsewhere: they are done with numbers of elements."""

    def rule(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
        which = data or range(len(ins))
        if any(s.value is None for i, s in enumerate(ins) if i not in which):
            return [State(w.everything(ins, t.size)) for t in types]
        sizes = [e.inputs[i].type.size for i in which]
        starts = np.cumsum([0, *sizes])
        args = [s.value for s in ins]
        for i, start, size in zip(which, starts, sizes, strict=False):
            args[i] = (np.arange(size) + start + 1).reshape(e.inputs[i].type.shape).astype(np.int32)
            if ins[i].dep is None:
                args[i] = np.zeros_like(args[i])
        outs = e.op(*args, **e.params)
        ids = np.asarray(outs[0] if isinstance(outs, list | tuple) else outs)
        whole = w.stacked([ins[i] for i in which], sizes)
        return [State(_by(w.rows_of(ids, int(starts[-1])), whole))]

    return rule


def _scatter(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    x, indices, updates = ins
    if indices.value is None:
        return [State(w.everything(ins, t.size)) for t in types]
    if e.params["how"] == "set":
        return _moved(0, 2)(w, e, ins, types)
    op, t = e.op, e.inputs[2].type
    like = ArrayType(t.shape, np.dtype(np.float64))
    params = {**e.params, "how": "add"}
    zero = np.zeros(types[0].shape)
    _, back = vjp(lambda u: op(zero, indices.value, u, **params), np.zeros(like.shape))
    ids = np.arange(types[0].size, dtype=np.float64).reshape(zero.shape) + 1
    target = np.asarray(back(ids)[0]).reshape(-1).round()  # where each update goes
    into = w.rows_of(target, types[0].size).T.tocsr()
    return [State(w.united([x.dep, None if updates.dep is None else into @ updates.dep]))]


def _reduced(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    shape, axes = e.inputs[0].type.shape, e.params["axes"]
    kept = [1 if i in axes else s for i, s in enumerate(shape)]
    ids = np.broadcast_to(np.arange(types[0].size).reshape(kept) + 1, shape)
    return [State(w.rows_of(ids, types[0].size).T.tocsr() @ ins[0].dep)]


def _running(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    """Of running totals along an axis: each element depends on those before it."""
    shape, axis = types[0].shape, e.params["axis"]
    ids = np.moveaxis(np.arange(types[0].size).reshape(shape), axis, -1)
    if e.params.get("reverse"):
        ids = ids[..., ::-1]
    later, earlier = np.tril_indices(shape[axis])
    return [State(_pairs(ids[..., later], ids[..., earlier], types[0].size) @ ins[0].dep)]


def _pairs(rows: np.ndarray, columns: np.ndarray, m: int, n: int | None = None) -> Any:
    import scipy.sparse

    ones = np.ones(rows.size, bool)
    where = rows.reshape(-1), columns.reshape(-1)
    return scipy.sparse.csr_array((ones, where), shape=(m, m if n is None else n))


def _along(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    """Of sorting and the like along an axis: each element depends on the line it lies in."""
    axis = e.params.get("axis", len(types[0].shape) - 1)
    outs = []
    dep = w.united([s.dep for s in ins])
    shape = e.inputs[0].type.shape
    lines = np.prod([s for i, s in enumerate(shape) if i != axis], dtype=int)
    of_in = _line_numbers(shape, axis)
    together = w.rows_of(of_in + 1, int(lines)).T.tocsr() @ dep
    for t in types:
        outs.append(State(w.rows_of(_line_numbers(t.shape, axis) + 1, int(lines)) @ together))
    return outs


def _line_numbers(shape: Any, axis: int) -> np.ndarray:
    rest = [1 if i == axis else s for i, s in enumerate(shape)]
    return np.broadcast_to(np.arange(np.prod(rest, dtype=int)).reshape(rest), shape)


def _dot(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    contract, batch = e.params["contract"], e.params["batch"]
    ids = [_as_product(a.type.shape, contract[k], batch[k], k) for k, a in enumerate(e.inputs)]
    known = [
        None if s.value is None else np.asarray(s.value).reshape(-1)[i] != 0
        for s, i in zip(ins, ids, strict=True)
    ]
    (nb, ni, _), nj = ids[0].shape, ids[1].shape[2]
    out = np.arange(nb * ni * nj).reshape(nb, ni, 1, nj)
    parts = []
    for side, s in enumerate(ins):
        if s.dep is None:
            continue
        mine = ids[side][:, :, :, None] if side == 0 else ids[side][:, None]
        other = known[1 - side]
        if other is None:  # every element of the other side may be other than 0
            parts.append(_sums_then_spread(w, s.dep, ids[side], side, nb, ni, nj))
            continue
        other = other[:, None] if side == 0 else other[:, :, :, None]
        rows, columns, there = np.broadcast_arrays(out, mine, other)
        parts.append(_pairs(rows[there], columns[there], nb * ni * nj, s.dep.shape[0]) @ s.dep)
    return [State(w.united(parts))]


def _convolution(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    """With a known kernel each of its elements moves the elements of the other side."""
    x, kernel = ins
    taps = [] if kernel.value is None else np.argwhere(kernel.value)
    if kernel.value is None or len(taps) > _MOST_TAPS:
        return [State(w.everything(ins, t.size)) for t in types]
    size = e.inputs[0].type.size
    ids = (np.arange(size, dtype=np.float64) + 1).reshape(e.inputs[0].type.shape)
    deps = []
    for tap in taps:
        one = np.zeros(kernel.value.shape)
        one[tuple(tap)] = 1
        out = e.op(ids, one, **e.params)
        moved = np.asarray(out[0] if isinstance(out, list | tuple) else out).round()
        deps.append(_by(w.rows_of(moved, size), x.dep))
    return [State(w.united(deps))]


def _as_product(shape: Any, contract: Any, batch: Any, side: int) -> np.ndarray:
    """Numbers of elements as (batch, rows, contracted), of the right side (batch, contracted, columns)."""
    free = [i for i in range(len(shape)) if i not in contract and i not in batch]
    ids = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    order = [*batch, *free, *contract] if side == 0 else [*batch, *contract, *free]
    sizes = [np.prod([shape[i] for i in axes], dtype=int) for axes in (batch, free, contract)]
    b, f, k = map(int, sizes)
    return ids.transpose(order).reshape((b, f, k) if side == 0 else (b, k, f))


def _sums_then_spread(
    w: _Walk, dep: Any, ids: np.ndarray, side: int, nb: int, ni: int, nj: int
) -> Any:
    """Of a product with what is not known: each result depends on a row of the left, or a column of the right side."""
    lines = nb * (ni if side == 0 else nj)
    number = (
        np.arange(lines).reshape(nb, ni, 1) if side == 0 else np.arange(lines).reshape(nb, 1, nj)
    )
    line_of = np.broadcast_to(number, ids.shape)
    together = _pairs(line_of, ids, lines, dep.shape[0]) @ dep
    out = np.broadcast_to(number, (nb, ni, nj)).reshape(-1)
    return w.rows_of(out + 1, lines) @ together


def _cond(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    index, *rest = ins
    branches = e.params["branches"]
    if index.value is not None and not e.params.get("platforms"):
        return w.program(branches[int(np.clip(int(index.value), 0, len(branches) - 1))], rest)
    if e.params.get("platforms"):
        rest = ins
    each = [w.program(b, rest) for b in branches]
    return [State(w.united([s.dep for s in several])) for several in zip(*each, strict=True)]


def _while(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    cond, body = e.params["cond"], e.params["body"]
    nc, nb = e.params["counts"]
    test, consts, carry = ins[:nc], ins[nc : nc + nb], ins[nc + nb :]
    for _ in range(_MOST_STEPS):
        more = w.program(cond, [*test, *carry])[0].value
        if more is None:
            break
        if not more:
            return carry
        carry = w.program(body, [*consts, *carry])
    return _settled(w, lambda c: w.program(body, [*consts, *c]), carry)


def _settled(
    w: _Walk, step: Callable[[list[State]], list[State]], carry: list[State]
) -> list[State]:
    """The union over any number of steps."""
    carry = [State(s.dep) for s in carry]
    while True:
        after = step(carry)
        wider = [State(w.united([a.dep, b.dep])) for a, b in zip(carry, after, strict=True)]
        count = lambda states: sum(s.dep.nnz for s in states if s.dep is not None)  # noqa: E731
        if count(wider) == count(carry):
            return wider
        carry = wider


def _scan(w: _Walk, e: Any, ins: list[State], types: Any) -> list[State]:
    s = Scan(**e.params)
    consts, carry, xs = s.split(ins)
    x_types = s.split([a.type for a in e.inputs])[2]
    length, nk = s.length, s.counts[1]
    order = range(length)[::-1] if s.reverse else range(length)
    if length > _MOST_STEPS:
        return _long_scan(w, e, s, consts, carry, xs, x_types, types)
    rows: list[Any] = [None] * length
    for i in order:
        at = [_row(x, t, i, length) for x, t in zip(xs, x_types, strict=True)]
        outs = w.program(s.body, [*consts, *carry, *at])
        carry, rows[i] = outs[:nk], outs[nk:]
    stacks = []
    for k, t in enumerate(types[nk:]):
        each = [r[k] for r in rows]
        dep = (
            None
            if all(r.dep is None for r in each)
            else w.stacked(each, [t.size // length] * length)
        )
        known = all(r.value is not None for r in each) and length
        stacks.append(
            State(dep, np.stack([r.value for r in each]) if known and dep is None else None)
        )
    return [*carry, *stacks]


def _row(x: State, t: ArrayType, i: int, length: int) -> State:
    size = t.size // max(length, 1)
    dep = None if x.dep is None else x.dep[i * size : (i + 1) * size]
    return State(dep, None if x.value is None else np.asarray(x.value)[i])


def _long_scan(
    w: _Walk, e: Any, s: Any, consts: Any, carry: Any, xs: Any, x_types: Any, types: Any
) -> Any:
    """Too long to be followed: every step is like any other."""
    nk, length = s.counts[1], s.length
    sizes = [t.size // length for t in (*x_types, *types[nk:])]
    numbers = [
        w.rows_of(np.tile(np.arange(n) + 1, length), n) for n in sizes
    ]  # of elements in their slice
    any_row = [
        State(None if x.dep is None else at.T.tocsr() @ x.dep)
        for x, at in zip(xs, numbers, strict=False)
    ]
    carry = _settled(w, lambda c: w.program(s.body, [*consts, *c, *any_row])[:nk], carry)
    ys = w.program(s.body, [*consts, *carry, *any_row])[nk:]
    return [
        *carry,
        *[State(_by(at, y.dep)) for y, at in zip(ys, numbers[len(xs) :], strict=True)],
    ]


_RULES: dict[str, Callable[..., list[State]]] = {
    "select": _select,
    "dot_general": _dot,
    "scatter": _scatter,
    "convolution": _convolution,
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "reshape": _moved(0), "transpose": _moved(0), "rev": _moved(0), "slice": _moved(0),
    "broadcast_in_dim": _moved(0), "gather": _moved(0), "dynamic_slice": _moved(0),
    "concatenate": _moved(), "pad": _moved(0, 1), "dynamic_update_slice": _moved(0, 1),
    **dict.fromkeys("reduce_sum reduce_max reduce_min reduce_prod".split(), _reduced),
    **dict.fromkeys("cumsum cumprod cummax cummin cumlogsumexp".split(), _running),
    **dict.fromkeys("sort top_k".split(), _along),
    **dict.fromkeys("convert reduce_precision name optimization_barrier steady_log steady_exp".split(), _same),
}  # fmt: skip
