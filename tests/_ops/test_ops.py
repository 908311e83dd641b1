"""Every first-order operation: value, type, text. (Derivatives and lanes: ``test_rules.py``)

The rows are in ``samples.py``. What a row needs is compiled as one program, for a compilation costs
more than anything that is computed here.
"""

import importlib
import itertools
import pkgutil
from pathlib import Path

import pytest

import xcore as xc
import xcore._ops
import xcore.numpy as xnp
from tests._ops.compare import check
from tests._ops.samples import ELSEWHERE, SAMPLES, Sample
from xcore._core.op import Op

every_row = pytest.mark.parametrize("s", SAMPLES, ids=lambda s: s.id)


# Values and types


def variants(s: Sample):
    """(dtype, shape) of the calls that a row is tried with."""
    yield from ((dtype, (2, 3)) for dtype in s.some_dtypes())
    if s.elementwise and not any(i.shape for i in s.inputs):
        yield from ((s.dtypes[-1], shape) for shape in [(), (0, 3)])


@every_row
def test_values_are_those_of_numpy(s):
    calls = [s.arguments(dtype, shape) for dtype, shape in variants(s)]
    outs = xc.jit(lambda calls: [s.results(args) for args in calls])(calls)
    for args, ys in zip(calls, outs, strict=True):
        check(s, args, ys)


@every_row
def test_eager_calls(s):
    args = s.arguments(s.dtypes[-1])
    check(s, args, s.results(list(map(xnp.asarray, args))))


# Text and completeness


@every_row
def test_programs_print(s):
    text = str(xc.make_jaxpr(lambda *xs: s.results(xs))(*s.arguments(s.dtypes[-1])))
    assert f" {s.name}" in text or s.name == "dynamic_slice"


def operations() -> dict[str, Op]:
    """Every operation that a module of ``xcore._ops`` defines."""
    names = [m.name for m in pkgutil.iter_modules(xcore._ops.__path__, "xcore._ops.")]
    values = itertools.chain(*[vars(importlib.import_module(n)).values() for n in names])
    return {v.name: v for v in values if isinstance(v, Op)}


def test_every_operation_has_a_sample():
    elsewhere = " ".join(ELSEWHERE.values()).split()
    missing = operations().keys() - {s.name for s in SAMPLES} - set(elsewhere)
    assert not missing, f"add rows for {sorted(missing)} to tests/_ops/samples.py"
    assert not operations().keys() & set(elsewhere) & {s.name for s in SAMPLES}


def test_tests_elsewhere_exist():
    for file, names in ELSEWHERE.items():
        text = Path(file).read_text() if Path(file).exists() else ""
        assert [n for n in names.split() if n not in text] == [], file
