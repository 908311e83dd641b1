"""Readers while a checkpoint is replaced, several writers, steps of another run, numbers of another type."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._control import store
from xcore.checkpoint import Checkpointer, CheckpointError, restore, save


def state(i):
    return {"w": xnp.full(1000, float(i)), "i": i}


def read_while(folder, busy):
    """Reads, each of one state, until a function has ended."""
    done, found = threading.Event(), []

    def read():
        while not done.is_set():
            got = restore(folder)
            assert (np.asarray(got["w"]) == got["i"]).all()
            found.append(got["i"])

    def reading():
        try:
            read()
        except BaseException as e:
            found.append(e)

    threads = [threading.Thread(target=reading) for _ in range(2)]
    [t.start() for t in threads]
    try:
        busy()
    finally:
        done.set()
        [t.join() for t in threads]
    assert not [x for x in found if isinstance(x, BaseException)], found[-1]
    return found


@pytest.mark.parametrize("at_once", [True, False])
def test_readers_see_whole_states_and_change_nothing(tmp_path, at_once, monkeypatch):
    if not at_once:  # as of file systems that cannot exchange names
        monkeypatch.setattr(store, "_exchanged", lambda *_: False)
    save(tmp_path / "r", state(0))
    found = read_while(tmp_path / "r", lambda: [save(tmp_path / "r", state(i)) for i in range(100)])
    assert len(found) > 2
    assert restore(tmp_path / "r")["i"] == 99 and os.listdir(tmp_path) == ["r"]


@pytest.mark.parametrize("of_the_old", [[], ["data-0"], ["data-0", "index-0"]])
def test_a_reader_that_saw_no_name_takes_the_one_that_came(tmp_path, of_the_old, monkeypatch):
    """The folder was between two names as the reader looked; the old one is deleted, half or not, as it goes on."""
    save(tmp_path / "r", state(1))
    save(tmp_path / "new", state(2))
    os.rename(tmp_path / "r", tmp_path / ".r.replaced")
    identity = store._identity

    def meanwhile(folder):
        if (tmp_path / "new").exists():
            os.rename(tmp_path / "new", tmp_path / "r")
            for name in {"data-0", "index-0"}.difference(of_the_old):
                (tmp_path / ".r.replaced" / name).unlink()
            if not of_the_old:
                (tmp_path / ".r.replaced").rmdir()
        return identity(folder)

    monkeypatch.setattr(store, "_identity", meanwhile)
    assert restore(tmp_path / "r")["i"] == (1 if len(of_the_old) == 2 else 2)


def test_readers_of_another_process(tmp_path):
    save(tmp_path / "r", state(0))
    program = f"""
        import sys
        from tests.checkpoint.test_at_once import save, state
        for i in range(60):
            save({str(tmp_path / "r")!r}, state(i))
    """
    run = lambda: subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120
    )
    assert read_while(tmp_path / "r", run)


def test_what_a_crash_left_is_read_and_then_put_right(tmp_path):
    save(tmp_path / "r", state(3))
    os.rename(tmp_path / "r", tmp_path / ".r.replaced")
    assert restore(tmp_path / "r")["i"] == 3 and os.listdir(tmp_path) == [".r.replaced"]
    save(tmp_path / "r", state(4))
    assert restore(tmp_path / "r")["i"] == 4 and os.listdir(tmp_path) == ["r"]
    with Checkpointer(tmp_path) as steps:
        os.rename(tmp_path / "r", tmp_path / ".7.replaced")
        assert steps.all_steps() == [7] and steps.restore()["i"] == 4
        assert os.listdir(tmp_path) == [".7.replaced"]


def test_threads_take_turns(tmp_path):
    failed = []

    def write(i):
        try:
            for _ in range(5):
                save(tmp_path / "r", state(i))
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed and restore(tmp_path / "r")["i"] in range(4)


def test_another_process_at_work_is_told(tmp_path):
    writing = tmp_path / ".r.writing"
    writing.mkdir()
    (writing / "writer").write_text(store._process(os.getppid()))
    with pytest.raises(CheckpointError, match="another process is writing"):
        save(tmp_path / "r", state(0))
    (writing / "writer").write_text(json.dumps(["elsewhere", 1, "2"]))
    save(tmp_path / "r", state(0))


def test_a_step_is_kept_though_later_ones_are_there(tmp_path):
    with Checkpointer(tmp_path, keep=2, asynchronous=False) as old:
        [old.save(i, state(i)) for i in (10, 11)]
    with Checkpointer(tmp_path, keep=2, asynchronous=False) as new:
        with pytest.warns(UserWarning, match="steps after 0, up to 11"):
            new.save(0, state(0))
        assert new.all_steps() == [0, 11]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            new.save(1, state(1))
        assert new.all_steps() == [0, 1] and new.restore()["i"] == 1


def test_numbers_of_another_type(tmp_path):
    save(tmp_path / "n", {"i": 5, "f": 2.75, "c": 1 + 2j, "b": True})
    got = restore(tmp_path / "n", {"i": 0.0, "f": 0j, "c": 0j, "b": 0})
    assert [(type(got[k]), got[k]) for k in "ifcb"] == [
        (float, 5.0), (complex, 2.75), (complex, 1 + 2j), (int, 1),
    ]  # fmt: skip
    for like in ({"f": 0}, {"c": 0.0}, {"i": True}):
        with pytest.raises(CheckpointError, match="cast=True"):
            restore(tmp_path / "n", like, strict=False)
    assert restore(tmp_path / "n", {"f": 0}, strict=False, cast=True) == {"f": 2}
    with pytest.raises(CheckpointError, match="cannot be float"):
        restore(tmp_path / "n", {"c": 0.0}, strict=False, cast=True)
    into = restore(
        tmp_path / "n", {"i": xnp.zeros((), "int32"), "f": np.zeros((), "float32")}, strict=False
    )
    assert into["i"].dtype == np.int32 and int(into["i"]) == 5 and into["f"].dtype == np.float32
    with pytest.raises(CheckpointError, match="should be int32"):
        restore(tmp_path / "n", {"f": xnp.zeros((), "int32")}, strict=False)


@pytest.mark.parametrize("values", [[300.0, 1.0], [np.nan, 1.0], [-np.inf, 1.0], [-129.0, 0.0]])
def test_casts_that_cannot_hold_what_was_saved(tmp_path, values):
    save(tmp_path / "n", {"w": np.array(values)})
    for like in (xnp.zeros(2, "int8"), np.zeros(2, "int8")):
        with pytest.raises(CheckpointError, match="out of its range"):
            restore(tmp_path / "n", {"w": like}, cast=True)
    assert (
        restore(tmp_path / "n", {"w": xnp.zeros(2, "float16")}, cast=True)["w"].dtype == np.float16
    )


def test_metadata_that_json_cannot_hold(tmp_path):
    save(tmp_path / "m", 1, metadata={"epoch": 1})
    for steps in (lambda m: save(tmp_path / "m", 2, metadata=m), Checkpointer(tmp_path / "s").save):
        with pytest.raises(ValueError, match="metadata"):
            steps(0, {"w": 1}, metadata={"a": object()}) if steps.__name__ == "save" else steps(
                {"a": object()}
            )
    assert restore(tmp_path / "m") == 1 and xc.checkpoint.read_metadata(tmp_path / "m") == {
        "epoch": 1
    }
