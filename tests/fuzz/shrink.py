"""The smallest program that still fails in the same way."""

import dataclasses
import time

import numpy as np

from tests.fuzz.check import compare
from tests.fuzz.generate import pruned
from tests.fuzz.helpers import Unfit
from tests.fuzz.programs import Body, Const, Input, np_dtype, steps_of
from tests.fuzz.reference import Reference


def shrunk(program, signature, with_jax=False, seconds=60.0):
    """The program made smaller by every move in turn, as long as it fails with the signature."""
    end = time.monotonic() + seconds

    def fails(candidate):
        try:
            return any(f.signature == signature for f in compare(candidate, with_jax))
        except Exception:
            return False

    again = True
    while again and time.monotonic() < end:
        again = False
        for candidate in _smaller(program):
            if time.monotonic() > end:
                break
            if _cost(candidate) < _cost(program) and fails(candidate):
                program, again = candidate, True
                break
    return program


def _cost(program):
    steps = list(steps_of(program))
    digits = sum(
        len(repr(i.data.tolist())) if hasattr(i.data, "tolist") else 1 for i in program.inputs
    )
    return len(steps) + sum(len(s.bodies) for s in steps), len(program.results), len(program.inputs), digits  # fmt: skip


def _smaller(program):
    yield from _fewer_results(program)
    yield from _cut(program)
    yield from _inlined(program)
    yield from _shorter_bodies(program)
    yield from _simpler_inputs(program)


def _clean(program):
    """Without dead steps and unused inputs."""
    program = pruned(program)
    used = set(program.results)
    for step in steps_of(program):
        used |= {a for a in step.args if isinstance(a, str)}
        used |= {r for body in step.bodies for r in body.results}
    inputs = tuple(i for i in program.inputs if i.name in used)
    return dataclasses.replace(program, inputs=inputs)


def _fewer_results(program):
    if len(program.results) > 1:
        for name in program.results:
            yield _clean(dataclasses.replace(program, results=(name,)))
    for step in program.steps[:-1]:
        for name in step.outs:
            yield _clean(dataclasses.replace(program, results=(name,)))


def _values(program):
    run = Reference(program.bits)
    env = {i.name: run.input(i) for i in program.inputs}
    try:
        with np.errstate(all="ignore"):
            run.body(program.as_body(), env)
    except Unfit:
        return {}
    return env


def _cut(program):
    """A step's results become inputs; the last steps first."""
    env = _values(program)
    for k in reversed(range(len(program.steps))):
        step = program.steps[k]
        if not all(o in env for o in step.outs):
            continue
        rest = program.steps[:k] + program.steps[k + 1 :]
        taken = tuple(_as_input(o, env[o]) for o in step.outs)
        yield _clean(dataclasses.replace(program, inputs=(*program.inputs, *taken), steps=rest))


def _as_input(name, value):
    dtype = value.type.dtype
    if value.type.weak and value.type.shape == ():
        return Input(name, value.data.item(), "python")
    return Input(name, value.data.astype(np_dtype(dtype)))


def _renamed(body, names):
    """Steps with other names for some values."""

    def of(arg):
        return names.get(arg, arg) if isinstance(arg, str) else arg

    return tuple(
        dataclasses.replace(
            s,
            args=tuple(map(of, s.args)),
            bodies=tuple(
                Body(b.args, _renamed(b, names), tuple(map(of, b.results))) for b in s.bodies
            ),
        )
        for s in body.steps
    )


def _inlined(program):
    """The body of a call in place of the call."""
    for k, step in enumerate(program.steps):
        if step.row in ("jit", "checkpoint", "own_jvp", "own_vjp"):
            (body,) = step.bodies
            names = dict(zip(body.args, step.args))
            inner = _renamed(body, names)
            outs = {o: names.get(r, r) for o, r in zip(step.outs, body.results)}
            steps = program.steps[:k] + inner + program.steps[k + 1 :]
            whole = dataclasses.replace(program, steps=steps)
            steps = _renamed(whole, outs)
            results = tuple(outs.get(r, r) for r in program.results)
            yield _clean(dataclasses.replace(program, steps=steps, results=results))


def _shorter_bodies(program):
    """Bodies without one of their steps, whose result is replaced by a value from before."""
    for k, step in enumerate(program.steps):
        for smaller in _shorter_step(step):
            steps = (*program.steps[:k], smaller, *program.steps[k + 1 :])
            yield _clean(dataclasses.replace(program, steps=steps))


def _shorter_step(step):
    for b, body in enumerate(step.bodies):
        for shorter in _shorter_body(body):
            yield dataclasses.replace(step, bodies=(*step.bodies[:b], shorter, *step.bodies[b + 1:]))  # fmt: skip


def _shorter_body(body):
    for k, step in enumerate(body.steps):
        for inner in _shorter_step(step):
            yield pruned(dataclasses.replace(body, steps=(*body.steps[:k], inner, *body.steps[k + 1:])))  # fmt: skip
        for other in (*step.args, *body.args):
            if isinstance(other, Const):
                continue
            names = dict.fromkeys(step.outs, other)
            rest = Body(body.args, body.steps[:k] + body.steps[k + 1 :], body.results)
            results = tuple(names.get(r, r) for r in body.results)
            yield pruned(Body(body.args, _renamed(rest, names), results))


def _simpler_inputs(program):
    for k, given in enumerate(program.inputs):
        if given.how == "python":
            continue
        for data in (np.zeros_like(given.data), np.ones_like(given.data), _rounded(given.data)):
            new = dataclasses.replace(given, data=data)
            yield dataclasses.replace(program, inputs=(*program.inputs[:k], new, *program.inputs[k + 1:]))  # fmt: skip


def _rounded(x):
    return np.round(x.astype(float), 1).astype(x.dtype) if x.dtype.kind == "f" else x
