"""Progress bars of compiled loops: what is shown, how often Python is called, and that loops do not change."""

import sys
import threading
import types

import numpy as np
import pytest

import xcore as xc
from xcore import lax
from xcore._control import progress
from xcore._core.exceptions import CallbackError
from xcore.experimental import io_callback


@pytest.fixture(autouse=True)
def without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)


@pytest.fixture
def bars(monkeypatch):
    """What bars are told, instead of a display: a list of their events for each."""
    made = []

    class Recorder:
        def __init__(self, desc, total):
            self.events = [("open", desc, total)]
            made.append(self.events)

        def update(self, n):
            self.events.append(n)

        def close(self):
            self.events.append("close")

    monkeypatch.setattr(progress, "open_bar", Recorder)
    return made


def steps(events):
    return sum(e for e in events if isinstance(e, int))


def fori(x, progress):
    return lax.fori_loop(0, 1000, lambda i, c: c + i, x, progress=progress)


def scan(x, progress):
    return lax.scan(lambda c, x: (c + x, None), x, np.arange(1000), progress=progress)[0]


def dynamic(x, progress):
    return xc.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, x, progress=progress))(1000)


def while_(x, progress):
    body = lambda s: (s[0] + 1, s[1] + s[0])
    return lax.while_loop(lambda s: s[0] < 1000, body, (0, x), progress=progress)[1]


@pytest.mark.parametrize(
    "wrap", [lambda f: f, lambda f: xc.jit(f, static_argnums=1)], ids=["eager", "jit"]
)
@pytest.mark.parametrize(
    "loop, total", [(fori, 1000), (scan, 1000), (dynamic, None), (while_, None)]
)
def test_loops(bars, wrap, loop, total):
    assert wrap(loop)(0, "label") == 499500
    (events,) = bars
    assert events[0] == ("open", "label", total) and events[-1] == "close"
    assert steps(events) == 1000
    assert (
        8 < len(events) < 130
    )  # it moves on the way (strides at most double), without a thousand calls
    assert not progress._runs


def test_true_has_no_label(bars):
    fori(0, True)
    assert bars[0][0] == ("open", "", 1000)


def test_false_shows_nothing(bars):
    fori(0, False)
    assert bars == []


@pytest.mark.parametrize("loop", [fori, while_])
def test_anything_else_is_refused(loop):
    with pytest.raises(ValueError, match="progress must be a bool or a label"):
        loop(0, 3)


def test_empty_loops(bars):
    assert lax.fori_loop(0, 0, lambda i, c: c, 1, progress=True) == 1
    assert bars[0][-1] == "close" and steps(bars[0]) == 0


def test_scan_with_unroll_and_reverse(bars):
    f = lambda c, x: (c + x, c)
    plain = lax.scan(f, 0, np.arange(7), reverse=True, unroll=3)
    shown = lax.scan(f, 0, np.arange(7), reverse=True, unroll=3, progress=True)
    assert shown[0] == plain[0] and shown[1].tolist() == plain[1].tolist()
    assert steps(bars[0]) == 7


def test_while_with_max_steps(bars):
    assert lax.while_loop(lambda c: c < 100, lambda c: c + 1, 0, max_steps=10, progress=True) == 10
    assert steps(bars[0]) == 10


def test_lanes_share_a_bar_that_shows_the_longest(bars):
    f = lambda x: lax.while_loop(lambda c: c < 30, lambda c: c + 1, x, progress=True)
    assert xc.vmap(f)(np.asarray([0, 10])).tolist() == [30, 30]
    assert len(bars) == 1 and steps(bars[0]) == 30


def test_derivatives_of_loops_with_bars(bars):
    f = lambda x: lax.fori_loop(0, 5, lambda i, c: c * x, x, progress=True)
    assert xc.jit(xc.grad(f))(2.0) == 6 * 2**5
    assert xc.jvp(f, (2.0,), (1.0,))[1] == 6 * 2**5
    assert [steps(b) for b in bars] == [5, 5]


def test_without_jit(bars):
    with xc.disable_jit():
        assert lax.fori_loop(0, 10, lambda i, c: c + 1, 0, progress=True) == 10
    assert steps(bars[0]) == 10 and bars[0][-1] == "close"


def test_a_loop_that_fails_is_closed_by_the_next_run(bars):
    def fails(v):
        if v == 3:
            raise RuntimeError("stop")
        return v

    def f(c, _):
        return io_callback(fails, np.int32(0), c) + 1, None

    loop = xc.jit(lambda: lax.scan(f, 0, None, length=6, progress="it"))
    for _ in range(2):
        with pytest.raises(CallbackError, match="stop"):
            loop()
    assert bars[0][-1] == "close" and len(progress._runs) == 1
    progress._runs.clear()


def test_two_threads_have_two_bars(bars):
    loops = [
        xc.jit(lambda x, k=k: lax.fori_loop(0, 50, lambda i, c: c + k, x, progress=str(k)))
        for k in (1, 2)
    ]
    threads = [threading.Thread(target=f, args=(0,)) for f in loops]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(b[0][1] for b in bars) == ["1", "2"] and all(steps(b) == 50 for b in bars)


# How often Python is called


class Time:
    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.mark.parametrize("total", [None, 20_000])
@pytest.mark.parametrize("step", [1e-6, 1e-3, 0.5])
def test_calls_are_at_most_ten_a_second(bars, monkeypatch, step, total):
    time = Time()
    monkeypatch.setattr(progress, "time", time)
    run = progress._Run(1, "", total)
    due, calls = 1, []
    for count in range(1, 20_001):
        time.now += step
        if count == due:
            due = run.advance(count)
            calls.append(count)
    spent = 20_000 * step
    shares = 100 if total else 0  # so many calls there may be in any case
    assert 5 * min(spent, 2000) - 10 <= len(calls) <= 10 * spent + shares + 40
    # however fast the steps were, the end is noticed
    assert calls[-1] == total if total else calls[-1] > 0


def test_a_loop_that_slows_down_stays_visible(bars, monkeypatch):
    time = Time()
    monkeypatch.setattr(progress, "time", time)
    run = progress._Run(1, "", None)
    due, calls = 1, []
    for count in range(1, 2001):
        time.now += 1e-5 if count < 1000 else 1.0
        if count == due:
            due = run.advance(count)
            calls.append(count)
    gaps = np.diff([c for c in calls if c > 1000])
    assert gaps[0] <= 1024 and gaps[-1] == 1


# The line of text


def test_line(capsys):
    time = Time()
    line = progress.Line("fit", 400, clock=time.perf_counter)
    time.now = 5.0  # compilation
    line.update(100)
    for _ in range(100):
        time.now += 1 / 16
        line.update(1)
    shown = capsys.readouterr().err.split("\r")
    assert shown[1] == "fit:   0% |                              | 0/400 [00:00<?, ? steps/s]"
    assert (
        shown[-1]
        == "fit:  50% |###############               | 200/400 [00:11<00:12, 16.00 steps/s]"
    )
    assert len(shown) == 2 + 1 + 50  # a redraw every eighth of a second
    line.update(200)
    line.close()
    end = capsys.readouterr().err
    assert end.endswith("\n") and "100% |##############################| 400/400 [" in end


def test_line_without_total():
    time = Time()
    line = progress.Line("", None, clock=time.perf_counter)
    line.update(1)
    time.now = 7322.0
    line.update(3661)
    assert line.text(time.now) == "3662 steps [2:02:02, 2.00 s/step]"


def test_the_line_is_what_loops_show(capsys):
    fori(0, "sum")
    err = capsys.readouterr().err
    assert err.startswith("\rsum:   0% |") and err.endswith("\n") and "1000/1000" in err


def test_tqdm_where_installed(monkeypatch):
    made = []
    module = types.ModuleType("tqdm")
    module.tqdm = lambda **options: (
        made.append(options) or types.SimpleNamespace(update=lambda n: None, close=lambda: None)
    )
    monkeypatch.setitem(sys.modules, "tqdm", module)
    fori(0, "sum")
    assert made[0]["desc"] == "sum" and made[0]["total"] == 1000
