"""Random programs. Each step is interpreted as it is drawn, so that values stay where they mean something."""

import dataclasses
import warnings

import numpy as np

from tests.fuzz import choices, nests
from tests.fuzz.helpers import Unfit
from tests.fuzz.programs import Body, Const, Input, Program, Step, kind, np_dtype
from tests.fuzz.reference import Reference
from tests.fuzz.table import DRAWN, ROWS

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, 1.0, 0.5]
NESTING = list(nests.NESTS)


def allowed(dtype: str, letters: str) -> bool:
    return kind(dtype) in letters or ("F" in letters and dtype in ("float32", "float64"))


def program(
    seed: int, number: int, bits: int = 32, special: bool = False, most: int = 60
) -> Program:
    """The program of this number in the sequence of a seed."""
    rng = np.random.default_rng([seed, number])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Generator(rng, bits, special).program(
            int(rng.integers(5, most + 1)), f"{seed}/{number}"
        )


class Generator:
    def __init__(self, rng, bits, special):
        self.rng, self.bits, self.special = rng, bits, special
        self.run, self.names, self.depth = Reference(bits), 0, 0
        self.env, self.own, self.steps = {}, [], []
        self.forward = self.differentiated = 0  # derivatives around here; those that go forward

    # Programs

    def program(self, length, seed) -> Program:
        inputs = [self.input() for _ in range(self.rng.integers(2, 6))]
        self.env = {i.name: self.run.input(i) for i in inputs}
        self.own = list(self.env)
        self.grow(length)
        used = {a for s in self.steps for a in s.args} | _captured(self.steps)
        leaves = [o for s in self.steps for o in s.outs if o not in used][-12:]
        results = tuple(leaves or self.own[-1:])
        return pruned(Program(tuple(inputs), tuple(self.steps), results, self.bits, seed))

    def grow(self, length):
        for _ in range(6 * length):
            if len(self.steps) >= length:
                return
            mark = len(self.steps), len(self.own)
            try:
                self.run.spent = 0
                self.draw()
            except Unfit:
                del self.steps[mark[0] :]
                del self.own[mark[1] :]

    def input(self) -> Input:
        rng, name = self.rng, self.name()
        if rng.integers(5) == 0:
            return Input(name, choices.number(rng, "if").value, "python")
        dtype = str(rng.choice(choices.DTYPES, p=choices.CHANCES / choices.CHANCES.sum()))
        dtype = "complex64" if rng.integers(16) == 0 else dtype
        shape = choices.shape(rng)
        how = str(rng.choice(["array", "array", "numpy"]))
        return Input(name, self.numbers(shape, dtype), "array" if dtype == "bfloat16" else how)

    def numbers(self, shape, dtype):
        rng, letter = self.rng, kind(dtype)
        if letter in "biu":
            low = -4 if letter == "i" else 0
            return rng.integers(low, 2 if letter == "b" else 6, shape).astype(dtype)
        x = rng.normal(size=shape)
        x = x + 1j * rng.normal(size=shape) if letter == "c" else x
        if self.special and letter == "f":
            x = np.where(rng.random(shape) < 0.25, rng.choice(SPECIAL, shape), x)
        return np.asarray(x).astype(np_dtype(dtype))

    # Steps

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def add(self, row, args, params=(), bodies=(), count=1):
        step = Step(
            tuple(self.name() for _ in range(count)), row, tuple(args), tuple(params), bodies
        )
        outs = self.run.step(step, self.env)
        for value in outs:
            self._sane(value)
        self.steps.append(step)
        self.env.update(zip(step.outs, outs))
        self.own += step.outs
        return step.outs

    def _sane(self, value):
        x = value.data
        if x.size > 64 or x.ndim > 5:
            raise Unfit("too large")
        if x.dtype.kind in "fc" and x.size and not self.special and self.rng.random() < 0.95:
            if not np.all(np.isfinite(x)) or np.max(np.abs(x)) > 300:
                raise Unfit("no good numbers")

    def draw(self):
        if self.depth < 3 and self.rng.random() < (0.15 if self.depth == 0 else 0.12):
            return self.nest(str(self.rng.choice(NESTING)))
        return self.operation(str(self.rng.choice(DRAWN)))

    def operation(self, name):
        row = ROWS[name]
        if self.differentiated and not row.smooth:
            raise Unfit("its derivative is not defined")
        args = self.arguments(row)
        values = [self._value(a) for a in args]
        params = {}
        if row.make is not None:
            params = row.make(self.rng, *[v.data for v in values])
            if params is None:
                raise Unfit("does not fit")
        count = len(row.out) if isinstance(row.out, tuple) else 1
        return self.add(name, args, params.items(), count=count)

    def _value(self, arg):
        return self.run.constant(arg.value) if isinstance(arg, Const) else self.env[arg]

    # Arguments

    def pick(self, letters="biufc", fits=lambda v: True):
        names = [
            n for n in self.own if allowed(self.env[n].type.dtype, letters) and fits(self.env[n])
        ]
        if not names:
            raise Unfit("no argument")
        near = names[-6:] if self.rng.random() < 0.7 else names
        return near[self.rng.integers(len(near))]

    def arguments(self, row):
        if not row.kinds:
            return []
        first = self.pick(row.kinds[0])
        if callable(row.shapes):
            shapes = row.shapes(self.rng, self.env[first].data.shape)
            args = [self.fitted(first, shapes[0])]
            args += [self.other(k, s) for k, s in zip(row.kinds[1:], shapes[1:])]
        else:
            args = [first, *self._further(row, first)]
        if row.alike:
            args[1:] = [self.alike(a, k, args[0]) for a, k in zip(args[1:], row.kinds[1:])]
        domains = (*row.domain, *[""] * len(args))
        return [self.squashed(a, d) for a, d in zip(args, domains)]

    def _further(self, row, first):
        shape = self.env[first].data.shape
        if row.shapes == "broadcast":
            return [self._beside(k, shape) for k in row.kinds[1:]]
        args = [self.other(k, shape) for k in row.kinds[1:]]
        if row.shapes == "equal":
            args = [self.converted(a, self.env[first].type.dtype) for a in args]
        if row.shapes == "equal2":
            args[1] = self.converted(args[1], self.env[args[0]].type.dtype)
            args[0] = self.converted(args[0], self.env[args[1]].type.dtype)
        return args

    def _beside(self, letters, shape):
        """A value that broadcasts with the shape, or a Python number."""
        if self.rng.random() < 0.3:
            return choices.number(self.rng, letters)

        def meets(v):
            try:
                return np.prod(np.broadcast_shapes(v.data.shape, shape)) <= 64
            except ValueError:
                return False

        try:
            return self.pick(letters, meets)
        except Unfit:
            return choices.number(self.rng, letters)

    def other(self, letters, shape):
        return self.fitted(self.pick(letters), shape)

    def alike(self, name, letters, first):
        return self.converted(name, self.env[first].type.dtype) if letters != "i" else name

    def fitted(self, name, shape):
        shape = tuple(int(n) for n in shape)
        if self.env[name].data.shape == shape:
            return name
        if self.env[name].data.size == 0 or 0 in shape:
            raise Unfit("nothing to repeat")
        return self.add("resize", [name], [("shape", shape)])[0]

    def converted(self, name, dtype, strong=False):
        t = self.env[name].type
        if t.dtype == dtype and not (strong and t.weak):
            return name
        if t.kind == "c" and kind(dtype) != "c":
            name = self.add("xnp.real", [name])[0]
        if kind(dtype) == "b":
            return self.add("xnp.logical_not", [name])[0]
        row = "astype complex" if kind(dtype) == "c" else "astype"
        return self.add(row, [name], [("dtype", dtype)])[0]

    def squashed(self, arg, domain):
        if not domain or isinstance(arg, Const):
            return arg
        optional = domain not in ("nonzero", "sorted", "spd")
        if optional and (self.rng.random() < 0.1 or self.env[arg].type.kind == "c"):
            return arg
        if domain == "nonzero" and isinstance(arg, str) and self.env[arg].type.kind == "b":
            domain = "nonzero bool"
        return self.add(f"squash {domain}", [arg])[0]

    # Nests

    def nest(self, name):
        getattr(self, f"_draw_{name}", self._draw_derivative)(name)

    def body(self, values, finish, closes=True, length=6) -> tuple[Body, list]:
        """A function of values; ``finish`` returns the names of its results."""
        saved = self.env, self.own, self.steps, self.depth
        args = tuple(self.name() for _ in values)
        outside = [n for n in self.own if self.rng.random() < 0.15] if closes else []
        self.env = {**self.env, **dict(zip(args, values))}
        self.own, self.steps, self.depth = [*outside, *args], [], self.depth + 1
        try:
            self.grow(int(self.rng.integers(1, length)))
            results = tuple(finish(args))
            return pruned(Body(args, tuple(self.steps), results)), [self.env[r] for r in results]
        finally:
            self.env, self.own, self.steps, self.depth = saved

    def _last(self, letters="biufc"):
        """The last value of a body, of these kinds."""
        for name in reversed(self.own):
            if allowed(self.env[name].type.dtype, letters):
                return name
        raise Unfit("no result")

    def _like(self, value):
        """Finishes a body with a value of this type."""

        def finish(args):
            name = self.fitted(
                self._last("biuf" if value.type.kind != "c" else "c"), value.data.shape
            )
            return [self.converted(name, value.type.dtype, strong=True)]

        return finish

    def _strong(self, name):
        t = self.env[name].type
        return self.converted(name, t.dtype, strong=True) if t.weak else name

    def _draw_jit(self, name):
        args = [self.pick() for _ in range(self.rng.integers(1, 3))]
        body, _ = self.body([self.env[a] for a in args], lambda a: [self._last()])
        self.add(name, args, bodies=(body,))

    _draw_checkpoint = _draw_jit

    def _draw_own_jvp(self, name):
        if self.forward and name == "own_vjp":
            raise Unfit("such a rule goes backward only")
        args = [self._strong(self.pick("f")) for _ in range(self.rng.integers(1, 3))]
        body, _ = self.body([self.env[a] for a in args], lambda a: [self._last("f")], closes=False)
        self.add(name, args, bodies=(body,))

    _draw_own_vjp = _draw_own_jvp

    def _draw_vmap(self, name):
        first = self.pick(fits=lambda v: v.data.ndim > 0 and v.data.size > 0)
        in_axes = [int(self.rng.integers(self.env[first].data.ndim))]
        n, args = self.env[first].data.shape[in_axes[0]], [first]
        for _ in range(self.rng.integers(3)):
            args.append(self.pick())
            fitting = [a for a, m in enumerate(self.env[args[-1]].data.shape) if m == n]
            some = fitting and self.rng.random() < 0.8
            in_axes.append(int(self.rng.choice(fitting)) if some else None)
        lanes = [nests._lane(self.env[a], i, 0) for a, i in zip(args, in_axes)]
        body, outs = self.body(lanes, lambda a: [self._last()])
        out_axes = int(self.rng.integers(outs[0].data.ndim + 1))
        self.add(name, args, [("in_axes", tuple(in_axes)), ("out_axes", out_axes)], (body,))

    def _branches(self, name, count, choose):
        args = [self.pick() for _ in range(self.rng.integers(1, 3))]
        values = [self.env[a] for a in args]
        like = self.env[self.pick()]
        bodies = tuple(self.body(values, self._like(like))[0] for _ in range(count))
        self.add(name, [choose, *args], bodies=bodies)

    def _draw_cond(self, name):
        flag = self.converted(self.fitted(self.pick(), ()), "bool")
        self._branches(name, 2, flag)

    def _draw_switch(self, name):
        self._branches(name, 3, self._strong(self.fitted(self.pick("i"), ())))

    def _draw_while(self, name):
        arg = self._strong(self.pick())
        body, _ = self.body([self.env[arg]], self._like(self.env[arg]), length=5)
        self.add(name, [arg], [("n", int(self.rng.integers(0, 4)))], (body,))

    def _draw_fori(self, name):
        arg = self._strong(self.pick())
        position = type(self.env[arg])(np.asarray(1, np.int32), "int32")
        body, _ = self.body([position, self.env[arg]], self._like(self.env[arg]), length=5)
        self.add(name, [arg], [("n", int(self.rng.integers(0, 4)))], (body,))

    def _draw_scan(self, name):
        carry = self._strong(self.pick())
        xs = self.pick(fits=lambda v: v.data.ndim > 0 and v.data.size > 0)
        like = self._like(self.env[carry])
        values = [self.env[carry], nests._lane(self.env[xs], 0, 0)]
        body, _ = self.body(values, lambda a: [*like(a), self.pick()], length=5)
        self.add(name, [carry, xs], [("flag", bool(self.rng.integers(2)))], (body,), count=2)

    def _draw_map(self, name):
        xs = self.pick(fits=lambda v: v.data.ndim > 0 and v.data.size > 0)
        body, _ = self.body([nests._lane(self.env[xs], 0, 0)], lambda a: [self._last()])
        self.add(name, [xs], bodies=(body,))

    def _draw_derivative(self, name):
        two = name in ("grad", "jvp", "vjp") and self.rng.integers(2)
        most = 3 if name == "hessian" else 8
        args = [self._strong(self.pick("F", lambda v: v.data.size <= most)) for _ in range(1 + two)]
        scalar = name in ("grad", "value_and_grad", "hessian")
        forward = name in ("jvp", "linearize", "jacfwd", "hessian")
        self.differentiated, self.forward = self.differentiated + 1, self.forward + forward
        try:
            finish = self._scalar if scalar else lambda a: [self._strong(self._last("F"))]
            body, outs = self.body([self.env[a] for a in args], finish)
        finally:
            self.differentiated, self.forward = self.differentiated - 1, self.forward - forward
        params, count = [], 1 + (name in ("value_and_grad", "jvp"))
        if name in ("grad", "vjp"):
            params = [("n", int(self.rng.integers(len(args))))]
        if name in ("jvp", "linearize"):
            args = args + [self._direction(self.env[a]) for a in args]
        if name == "vjp":
            args = [*args, self._direction(outs[0])]
        self.add(name, args, params, (body,), count)

    def _scalar(self, args):
        name = self._strong(self._last("F"))
        if self.env[name].data.ndim == 0:
            return [name]
        return self.add("xnp.sum", [name], [("axis", None), ("keep", False)])

    def _direction(self, value):
        name = self.fitted(self.pick("biuf"), value.data.shape)
        return self.converted(name, value.type.dtype, strong=True)


# Cleaning up


def _captured(steps) -> set:
    """The names that bodies use from outside (and their own)."""
    names = set()
    for step in steps:
        for body in step.bodies:
            names |= set(body.results) | {a for s in body.steps for a in s.args}
            names |= _captured(body.steps)
    return names


def pruned(body):
    """A body or program without the steps that no result needs."""
    needed, kept = set(body.results), []
    for step in reversed(body.steps):
        if needed & set(step.outs):
            kept.append(step)
            needed |= {a for a in step.args if isinstance(a, str)} | _captured([step])
    return dataclasses.replace(body, steps=tuple(reversed(kept)))
