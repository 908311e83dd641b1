"""Checkpoints take no other thing's place, refuse what they could not give back, and give back the rest."""

import os
import shutil

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import checkpoint, random
from xcore.errors import CheckpointError


def test_folders_of_something_else_are_left_alone(tmp_path):
    mine = tmp_path / "results"
    (mine / "sub").mkdir(parents=True)
    (mine / "thesis.txt").write_text("all of it")
    (mine / "sub" / "data-0").write_text("more")
    with pytest.raises(CheckpointError, match="no checkpoint; it would be lost"):
        checkpoint.save(mine, {"x": 1.0})
    assert (mine / "thesis.txt").read_text() == "all of it"
    assert (mine / "sub" / "data-0").read_text() == "more"


def test_so_is_the_folder_one_stands_in(tmp_path, monkeypatch):
    (tmp_path / "script.py").write_text("")
    monkeypatch.chdir(tmp_path)
    for path in (".", "", str(tmp_path)):
        with pytest.raises(CheckpointError, match="it would be lost"):
            checkpoint.save(path, {"x": 1.0})
    assert os.listdir(tmp_path) == ["script.py"]


def test_and_files(tmp_path):
    (tmp_path / "model.pt").write_text("weights")
    with pytest.raises(CheckpointError, match="is a file"):
        checkpoint.save(tmp_path / "model.pt", {"x": 1.0})
    assert (tmp_path / "model.pt").read_text() == "weights"


def test_a_note_beside_a_checkpoint_is_no_part_of_it(tmp_path):
    checkpoint.save(tmp_path / "a", {"x": 1.0})
    (tmp_path / "a" / "notes.txt").write_text("the good one")
    with pytest.raises(CheckpointError):
        checkpoint.save(tmp_path / "a", {"x": 2.0})
    assert checkpoint.restore(tmp_path / "a") == {"x": 1.0}


@pytest.mark.parametrize("as_folder", [False, True])
def test_names_alone_make_no_checkpoint(tmp_path, as_folder):
    for name in ("data-0", "data-1", "index-0"):
        path = tmp_path / "dataset" / name
        path.parent.mkdir(exist_ok=True)
        path.mkdir() if as_folder else path.write_text("1 2 3")
    with pytest.raises(CheckpointError, match="it would be lost"):
        checkpoint.save(tmp_path / "dataset", {"x": 1.0})
    assert len(os.listdir(tmp_path / "dataset")) == 3


def test_what_may_be_replaced(tmp_path):
    for name in ("empty", "whole"):
        (tmp_path / name).mkdir()
    checkpoint.save(tmp_path / "whole", {"x": 0.0})
    (tmp_path / "whole" / ".DS_Store").write_text("of the system")
    for name in ("empty", "whole", "new/one"):
        checkpoint.save(tmp_path / name, {"x": 1.0})
        assert checkpoint.restore(tmp_path / name) == {"x": 1.0}


def test_old_steps_alone_are_forgotten(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "mine").write_text("data of the year 1")
    (tmp_path / "2").write_text("a file")
    for name in ("²", "007", "-3"):
        (tmp_path / name).mkdir()
    with checkpoint.Checkpointer(tmp_path, keep=1) as steps:
        for i in (5, np.int64(6), xnp.asarray(7)):
            steps.save(i, {"x": float(i)})
        steps.wait()
        assert steps.all_steps() == [7] and steps.restore() == {"x": 7.0}
        with pytest.raises(CheckpointError, match="it would be lost"):
            steps.save(1, {"x": 1.0})
    assert (tmp_path / "1" / "mine").exists() and (tmp_path / "2").exists()


@pytest.mark.parametrize("step", [-1, 1.5, 2.0, "3", True, None, "last"])
def test_steps_are_whole_numbers(tmp_path, step):
    with (
        checkpoint.Checkpointer(tmp_path) as steps,
        pytest.raises(xc.errors.ArgumentError, match="step must be a whole number from 0 on"),
    ):
        steps.save(step, {"x": 1.0})
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "c8", "c16", "i2", "i4", "i8", "u2", "u4", "u8"]
)
def test_the_other_byte_order(tmp_path, dtype):
    x = np.arange(5).astype(">" + dtype)
    checkpoint.save(tmp_path / "a", [x, x[::-2], x[0]])
    for got, want in zip(checkpoint.restore(tmp_path / "a"), [x, x[::-2], x[0]], strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype.newbyteorder("=")


UNSTORABLE = {
    "structured": np.zeros(2, [("a", "f4")]),
    "records": np.rec.array([(1, 2.0)]),
    "void": np.zeros(2, "V4"),
    "longdouble": np.ones(2, np.longdouble),
    "clongdouble": np.ones(2, np.clongdouble),
    "objects": np.array([None, 1]),
    "texts": np.array(["a"]),
    "dates": np.array("2020-01-01", "M8[D]"),
    "text": "adam",
    "bytes": b"adam",
    "large int": 2**64,
    "set": {1},
    "function": len,
}


@pytest.mark.skipif(np.longdouble is np.float64, reason="long doubles are doubles here")
@pytest.mark.parametrize("name", UNSTORABLE)
def test_what_could_not_be_read_again_is_refused(tmp_path, name):
    with pytest.raises(xc.errors.ArgumentError, match=r"tree_\['w'\] must be .* metadata="):
        checkpoint.save(tmp_path / "a", {"w": UNSTORABLE[name]})
    assert not os.listdir(tmp_path)


def test_masks_are_not_dropped(tmp_path):
    with pytest.raises(xc.errors.ArgumentError, match="mask"):
        checkpoint.save(tmp_path / "a", np.ma.array([1, 2], mask=[0, 1]))


def test_a_traced_value_has_nothing_to_save(tmp_path):
    with pytest.raises(xc.errors.ArgumentError, match="save it outside"):
        xc.jit(lambda x: checkpoint.save(tmp_path / "a", {"w": x}))(1.0)


@pytest.mark.parametrize("impl", ["threefry2x32", "philox"])
def test_keys_are_keys_again(tmp_path, impl):
    state = {
        "key": random.key(3, impl=impl),
        "keys": [random.split(random.key(4, impl=impl), (2, 3))],
    }
    checkpoint.save(tmp_path / "a", state)
    again = checkpoint.restore(tmp_path / "a")
    assert xc.tree.structure(again) == xc.tree.structure(state)
    assert random.normal(again["key"]) == random.normal(state["key"])
    assert (again["keys"][0] == state["keys"][0]).all()


@pytest.mark.parametrize(
    "tree",
    [
        {1: 2.0, 2: 3.0},
        {-0.0: 3.0, 1.5: 2.0},
        {None: 1.0},
        {True: 1.0},
        {(1, ("a",)): 2.0, (1, ("b", 2)): 3.0},
        {"": 1.0, "..": 3.0, "a/b": 2.0, "x" * 300: 5.0, "ü": 4.0},
        {"a": {}, "b": [], "c": (), "d": None, "e": [None, (1.0,)]},
        3.5,
    ],
    ids=lambda t: str(t)[:40],
)
def test_keys_of_dicts_come_back_as_they_were(tmp_path, tree):
    checkpoint.save(tmp_path / "a", tree)
    again = checkpoint.restore(tmp_path / "a")
    assert again == tree and repr(again) == repr(tree)


@pytest.mark.parametrize("path", [None, 3, b"a", ["a"]])
def test_a_path_is_a_name(path):
    for f in (checkpoint.restore, checkpoint.structure, lambda p: checkpoint.save(p, 1.0)):
        with pytest.raises(xc.errors.ArgumentError, match="path must be the name of a folder"):
            f(path)


def test_links_are_followed_by_readers_and_not_removed(tmp_path):
    checkpoint.save(tmp_path / "a", {"x": 1.0})
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert checkpoint.restore(tmp_path / "link") == {"x": 1.0}
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(CheckpointError):
        checkpoint.save(tmp_path / "gone", {"x": 1.0})
    shutil.rmtree(tmp_path / "a")
