"""Checkpoints: what goes in comes out, on other meshes too; damage and crashes are noticed."""

import contextlib
import errno
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import checkpoint
from xcore._control import store
from xcore.errors import CheckpointError
from xcore.sharding import NamedSharding, P, PositionalSharding

if xc.device_count() < 8:
    pytest.skip("needs eight devices", allow_module_level=True)

DEVICES = xc.devices()[:8]
MESH = xc.make_mesh((4, 2), ("x", "y"), devices=DEVICES)
LINE = xc.make_mesh((2,), "z", devices=DEVICES[3:5])
A = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)


@xc.tree_util.register_pytree_node_class
class Moments:
    def __init__(self, mean, square):
        self.mean, self.square = mean, square

    def tree_flatten(self):
        return (self.mean, self.square), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def state():
    return {
        "params": {"w": xnp.asarray(A), "b": xnp.zeros(3, "bfloat16")},
        "moments": Moments(xnp.ones((2, 0)), xnp.asarray(True)),
        "key": xc.random.key(5),
        "host": np.arange(6, dtype=np.int64).reshape(2, 3)[:, ::-1],
        "step": 12,
        "rate": 0.25,
        "flags": (True, None, 1 + 2j),
    }


def same(a, b):
    la, sa = xc.tree.flatten(a)
    lb, sb = xc.tree.flatten(b)
    assert sa == sb
    for x, y in zip(la, lb, strict=True):
        assert type(x) is type(y)
        assert getattr(x, "dtype", None) == getattr(y, "dtype", None)
        assert getattr(x, "weak_type", None) == getattr(y, "weak_type", None)
        np.testing.assert_array_equal(x, y)


def test_round_trip(tmp_path):
    given = state()
    checkpoint.save(tmp_path / "a", given, metadata={"loss": 0.5})
    same(checkpoint.restore(tmp_path / "a", like=given), given)
    assert checkpoint.read_metadata(tmp_path / "a") == {"loss": 0.5}
    flat = checkpoint.restore(tmp_path / "a")
    assert flat["step"] == 12 and flat["flags"][2] == 1 + 2j
    np.testing.assert_array_equal(flat["params"]["w"], A)
    shown = checkpoint.structure(tmp_path / "a")["['params']['b']"]
    assert shown.shape == (3,) and shown.dtype.name == "bfloat16"


def test_a_checkpoint_is_replaced(tmp_path):
    for i in range(3):
        checkpoint.save(tmp_path / "a", {"v": xnp.full(4, i)})
        np.testing.assert_array_equal(checkpoint.restore(tmp_path / "a")["v"], np.full(4, i))
    assert sorted(os.listdir(tmp_path)) == ["a"]


SHARDINGS = [
    None,
    NamedSharding(MESH, P("x", "y")),
    NamedSharding(MESH, P(None, "y")),
    NamedSharding(MESH, P()),
    NamedSharding(LINE, P("z")),
    PositionalSharding(DEVICES).reshape(2, 4),
]


@pytest.mark.parametrize("origin", range(len(SHARDINGS)))
def test_to_another_mesh(tmp_path, origin):
    x = xc.device_put(A, SHARDINGS[origin])
    checkpoint.save(tmp_path / "a", {"x": x})
    index = json.loads((tmp_path / "a" / "index-0").read_text().partition("\n")[2])
    pieces = index["leaves"]["['x']"]["pieces"]
    assert sum(nbytes for _, _, nbytes, _ in pieces) == A.nbytes  # copies are written once
    for target in SHARDINGS[1:]:
        got = checkpoint.restore(tmp_path / "a", like={"x": x}, shardings=target)["x"]
        assert got.sharding == target
        np.testing.assert_array_equal(got, A)
        like = {"x": xc.ShapeDtypeStruct(A.shape, A.dtype, sharding=target)}
        assert checkpoint.restore(tmp_path / "a", like)["x"].sharding == target
    same_place = checkpoint.restore(tmp_path / "a", like={"x": x})["x"]
    assert same_place.sharding == x.sharding


def test_optimizer_state_of_a_sharded_run(tmp_path):
    put = lambda v, *s: xc.device_put(v, NamedSharding(MESH, P(*s)))
    params = {"w": put(A, "x"), "b": put(A[0], "y")}
    run = {
        "params": params,
        "momentum": xc.tree.map(lambda v: v * 0.5, params),
        "key": xc.random.key(1),
        "n": 3,
    }
    checkpoint.save(tmp_path / "a", run)
    back = checkpoint.restore(tmp_path / "a", like=run)
    same(back, run)
    assert back["momentum"]["w"].sharding.is_equivalent_to(params["w"].sharding, 2)
    np.testing.assert_array_equal(
        xc.random.normal(back["key"], (3,)), xc.random.normal(run["key"], (3,))
    )


# Structures that changed


def test_errors_name_the_path(tmp_path):
    checkpoint.save(tmp_path / "a", {"w": A, "old": {"b": A[0]}})
    cases = [
        ({"w": A}, r"it has \['old'\]\['b'\], which the structure"),
        ({"w": A, "old": {"b": A[0], "c": A}}, r"it does not have \['old'\]\['c'\]"),
        (
            {"w": A[:4], "old": {"b": A[0]}},
            r"\['w'\] should have shape \(4, 8\).*saved with shape \(8, 8\)",
        ),
        (
            {"w": A.astype(np.float64), "old": {"b": A[0]}},
            r"\['w'\] should be float64.*saved as float32",
        ),
    ]
    for like, pattern in cases:
        with pytest.raises(CheckpointError, match=pattern):
            checkpoint.restore(tmp_path / "a", like=like)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        checkpoint.restore(tmp_path / "b")
    with pytest.raises(CheckpointError, match=r"\['n'\] has no value that could be kept"):
        like = {"w": A, "n": xc.ShapeDtypeStruct((1,), A.dtype)}
        checkpoint.restore(tmp_path / "a", like, strict=False)
    with pytest.raises(TypeError, match=r"tree_\['s'\]"):
        checkpoint.save(tmp_path / "c", {"s": "text"})


def test_parts_and_other_names(tmp_path):
    checkpoint.save(tmp_path / "a", {"params": {"w": A, "b": A[0]}, "step": 3})
    part = checkpoint.restore(
        tmp_path / "a", {"w": xnp.asarray(A), "b": xnp.zeros(8)}, prefix="['params']"
    )
    np.testing.assert_array_equal(part["b"], A[0])
    loose = checkpoint.restore(
        tmp_path / "a", {"params": {"w": xnp.zeros((8, 8)), "new": xnp.ones(2)}}, strict=False
    )
    np.testing.assert_array_equal(loose["params"]["w"], A)
    np.testing.assert_array_equal(loose["params"]["new"], [1, 1])
    renamed = {"['weights']": "['params']['w']"}
    for rename in (renamed, lambda name: renamed[name]):
        got = checkpoint.restore(tmp_path / "a", {"weights": A}, rename=rename, strict=False)
        np.testing.assert_array_equal(got["weights"], A)
    wide = checkpoint.restore(
        tmp_path / "a", {"w": A.astype(np.float64), "b": A[0]}, prefix="['params']", cast=True
    )
    assert wide["w"].dtype == np.float64


def test_one_array(tmp_path):
    checkpoint.save(tmp_path / "a", xnp.arange(3))
    np.testing.assert_array_equal(checkpoint.restore(tmp_path / "a", xnp.zeros(3, int)), [0, 1, 2])


# Damage and crashes


def test_damage_is_noticed(tmp_path):
    checkpoint.save(tmp_path / "a", {"v": A, "w": A + 1})
    data, index = tmp_path / "a" / "data-0", tmp_path / "a" / "index-0"
    good = data.read_bytes()
    data.write_bytes(good[:300] + bytes([good[300] ^ 1]) + good[301:])
    with pytest.raises(CheckpointError, match=r"is damaged.*checksum"):
        checkpoint.restore(tmp_path / "a")
    data.write_bytes(good[:200])
    with pytest.raises(CheckpointError, match="cannot read"):
        checkpoint.restore(tmp_path / "a")
    data.write_bytes(good)
    index.write_text(index.read_text().replace('"float32"', '"float16"'))
    with pytest.raises(CheckpointError, match="its index"):
        checkpoint.restore(tmp_path / "a")


class Crash(BaseException):
    pass


def crash_at(number, monkeypatch):
    """Every call that changes the disk counts; the one of this number does not happen."""
    count = [0]

    def counted(f):
        def call(*args, **kwargs):
            count[0] += 1
            if count[0] >= number:
                raise Crash
            return f(*args, **kwargs)

        return call

    for name in ("write", "fsync", "rename", "mkdir", "unlink", "rmdir", "open"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    return count


def test_a_crash_at_every_moment(tmp_path, monkeypatch):
    """Replacing a checkpoint leaves the old one or the new one, wherever it stops."""
    number, seen, finished = 0, set(), False
    while not finished:
        number += 1
        folder = tmp_path / str(number)
        checkpoint.save(folder, {"v": xnp.zeros(4), "n": 1})
        with monkeypatch.context() as patch:
            count = crash_at(number, patch)
            with contextlib.suppress(Crash):
                checkpoint.save(folder, {"v": xnp.ones(4), "n": 2})
            finished = count[0] < number
        flat = checkpoint.restore(folder)
        assert flat["n"] in (1, 2)
        np.testing.assert_array_equal(flat["v"], np.full(4, flat["n"] - 1))
        seen.add(flat["n"])
        checkpoint.save(folder, {"v": xnp.ones(4), "n": 3})  # what the crash left is no obstacle
        assert checkpoint.restore(folder)["n"] == 3
    assert number > 8 and seen == {1, 2}


WRITER = """
import sys, numpy as np, xcore as xc
steps = xc.checkpoint.Checkpointer(sys.argv[1], keep=2)
for i in range(10**6):
    steps.save(i, {"v": np.full(20000, i), "i": i})
    if i: print(i - 1, flush=True)
"""


@pytest.mark.parametrize("delay", [0.02, 0.11, 0.23])
def test_a_killed_writer(tmp_path, delay):
    env = dict(os.environ, PYTHONPATH=str(Path(xc.__file__).parents[1]))
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=env
    )
    process.stdout.readline()
    time.sleep(delay)
    process.kill()
    reported = [int(line) for line in process.stdout.read().split()]
    process.stdout.close()
    process.wait()
    steps = checkpoint.Checkpointer(tmp_path, keep=2)
    last = steps.latest_step()
    assert last >= max(reported, default=0) and len(steps.all_steps()) <= 3
    for step in steps.all_steps():
        flat = steps.restore(step=step)
        assert flat["i"] == step
        np.testing.assert_array_equal(flat["v"], np.full(20000, step))
    steps.save(last + 1, {"v": 1})
    steps.wait()
    assert steps.all_steps()[-1] == last + 1 and len(steps.all_steps()) == 2


# Step by step


def test_steps(tmp_path):
    with checkpoint.Checkpointer(tmp_path, keep=3) as steps:
        assert steps.latest_step() is None
        with pytest.raises(CheckpointError, match="there is no checkpoint in"):
            steps.restore()
        for i in range(0, 50, 10):
            steps.save(i, {"v": xnp.full(3, i)}, metadata=i)
        steps.wait()
        assert steps.all_steps() == [20, 30, 40]
        assert steps.restore({"v": xnp.zeros(3, int)})["v"].tolist() == [40] * 3
        assert steps.restore(step=20)["v"].tolist() == [20] * 3
        assert checkpoint.read_metadata(steps.path(30)) == 30
    with pytest.raises(ValueError, match="keep"):
        checkpoint.Checkpointer(tmp_path, keep=0)


def test_saving_does_not_wait_for_the_disk(tmp_path, monkeypatch):
    gate, real = threading.Event(), os.fsync
    monkeypatch.setattr(os, "fsync", lambda f: (gate.wait(20), real(f))[1])
    step = xc.jit(lambda v: v + 1, donate_argnums=0)
    host = np.zeros(3)
    v = step(xnp.zeros(1000))
    steps = checkpoint.Checkpointer(tmp_path)
    steps.save(1, {"v": v, "host": host})
    host[:] = 9  # what is changed or donated later is saved as it was
    v = step(v)
    assert steps.all_steps() == []
    gate.set()
    steps.wait()
    flat = steps.restore(step=1)
    np.testing.assert_array_equal(flat["v"], np.ones(1000))
    np.testing.assert_array_equal(flat["host"], np.zeros(3))
    assert float(v[0]) == 2


def test_a_failure_in_the_background_is_raised(tmp_path, monkeypatch):
    steps = checkpoint.Checkpointer(tmp_path)

    def full(*_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        steps.save(1, {"v": A})
        with pytest.raises(OSError, match="No space left"):
            steps.wait()
    steps.save(2, {"v": A})
    steps.wait()
    assert steps.all_steps() == [2]


def test_the_name_is_also_the_function():
    f = xc.checkpoint(lambda v: xnp.sin(v) ** 2)
    assert float(xc.grad(f)(0.5)) == pytest.approx(np.sin(1.0), rel=1e-6)


def test_keys_of_another_generator(tmp_path):
    """Their words would mean something else to it."""
    checkpoint.save(tmp_path / "a", {"key": xc.random.key(1)})
    with pytest.raises(CheckpointError, match=r"not have \['key'\]\.philox4x32"):
        checkpoint.restore(tmp_path / "a", {"key": xc.random.key(1, impl="philox4x32")})


@pytest.mark.parametrize("when", ["write_all", "finish"])
def test_a_full_disk(tmp_path, monkeypatch, when):
    """The old checkpoint stays, the space of the new one is given back, and later ones succeed."""
    steps = checkpoint.Checkpointer(tmp_path)
    steps.save(0, {"w": xnp.ones(3)})
    steps.wait()

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(store if when == "write_all" else store.Writer, when, full)
        steps.save(1, {"w": xnp.zeros(3)})
        with pytest.raises(OSError, match="No space left"):
            steps.wait()
    assert os.listdir(tmp_path) == ["0"] and steps.latest_step() == 0
    steps.save(2, {"w": xnp.zeros(3)})
    assert steps.restore()["w"].tolist() == [0, 0, 0] and steps.all_steps() == [0, 2]


def _damage(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("how", ["data", "index", "no index", "cut"])
def test_a_damaged_step_names_the_last_whole_one(tmp_path, how):
    state = {"w": np.arange(1000.0), "n": 3}
    with xc.checkpoint.Checkpointer(tmp_path) as steps:
        for k in (1, 2, 5):
            steps.save(k, state)
        steps.wait()
        for k in (5, 2):
            folder = tmp_path / str(k)
            if how == "no index":
                (folder / "index-0").unlink()
            elif how == "cut":
                (folder / "data-0").write_bytes((folder / "data-0").read_bytes()[:100])
            else:
                _damage(folder / f"{how}-0")
        with pytest.raises(
            xc.errors.CheckpointError, match=r"last whole step before it is 1: restore\(step=1\)"
        ):
            steps.restore(state)
        assert (steps.restore(state, step=1)["w"] == state["w"]).all()
        with pytest.raises(
            xc.errors.CheckpointError
        ) as told:  # nothing is wrong with the checkpoint
            steps.restore({"other": 1}, step=1)
        assert "whole" not in str(told.value)


def test_what_dead_writers_left_is_removed(tmp_path):
    script = (
        "import os, sys, numpy as np, xcore as xc\n"
        "from xcore._control import store\n"
        "store.commit = lambda folder: os._exit(9)\n"
        "xc.checkpoint.Checkpointer(sys.argv[1], asynchronous=False).save(7, {'w': np.ones(3)})\n"
    )
    assert subprocess.run([sys.executable, "-c", script, tmp_path], timeout=300).returncode == 9
    left = tmp_path / ".7.writing"
    assert left.exists()
    store.begin(tmp_path / "8")  # of this process, which lives
    with xc.checkpoint.Checkpointer(tmp_path) as steps:
        assert not left.exists() and (tmp_path / ".8.writing").exists()
        steps.save(7, {"w": np.ones(3)})
        steps.wait()
        assert steps.all_steps() == [7] and not (tmp_path / "7" / "writer").exists()
