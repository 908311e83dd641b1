"""Programs of several processes on this machine."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import xcore as xc

WORKER = Path(__file__).with_name("host_worker.py")


def start(what, count, devices, *more):
    """Processes, started."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    env = dict(os.environ, PYTHONPATH=str(WORKER.parents[2]), XCORE_NUM_CPU_DEVICES=str(devices),
               XCORE_ENABLE_CHECKS="0", XCORE_PLATFORM="cpu")  # fmt: skip
    return [
        subprocess.Popen(
            [sys.executable, str(WORKER), what, address, str(count), str(i), *more],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
        )
        for i in range(count)
    ]  # fmt: skip


def run(what, count, devices, *more, timeout=240):
    """Exit status and output of each of the processes."""
    started = start(what, count, devices, *more)
    try:
        output = [p.communicate(timeout=timeout)[0] for p in started]
    finally:
        for p in started:
            p.kill()
    return [p.returncode for p in started], output


def test_two_processes():
    status, output = run("everything", 2, 2)
    assert status == [0, 0], "\n".join(output)


def test_four_processes():
    status, output = run("ring", 4, 1)
    assert status == [0] * 4, "\n".join(output)


def test_a_killed_process_makes_the_others_raise():
    status, output = run("killed", 2, 1)
    assert status == [3, -signal.SIGKILL], "\n".join(output)
    assert "one of them has ended or cannot be reached" in output[0]


@pytest.mark.parametrize(
    ("how", "which", "what"),
    [
        ("exit", 2, "exchange"),
        ("exit", 0, "exchange"),
        ("kill", 0, "exchange"),
        ("stop", 1, "exchange"),
        ("raise", 0, "barrier"),
        ("kill", 1, "nothing"),
    ],
)
def test_survivors_raise_or_end_in_words(how, which, what):
    """Within one and a half heartbeats, whichever process ends, and however."""
    started = start("ends", 3, 2, how, str(which), what)
    try:
        others = [p for i, p in enumerate(started) if i != which]
        output = [p.communicate(timeout=100)[0] for p in others]
        ended = time.time()
        started[which].kill()
        at = float(started[which].communicate()[0].split("at ")[-1].split()[0])
    finally:
        for p in started:
            p.kill()
    assert ended - at < 1.5 * 8, ended - at
    for p, text in zip(others, output, strict=True):
        assert p.returncode in (3, 70), text
        assert p.returncode == 3 or f"with status 70, because of process {which}" in text, text
        assert "Check failure stack trace" not in text


def test_processes_that_leave_in_order_are_not_missed():
    status, output = run("goes_on", 2, 2)
    assert status == [0, 0], "\n".join(output)


def test_checkpoint_on_another_number_of_processes(tmp_path):
    status, output = run("saves", 2, 2, str(tmp_path))
    assert status == [0, 0], "\n".join(output)
    here = xc.checkpoint.Checkpointer(tmp_path).restore()
    assert here["w"].shape == (8, 8) and here["n"] == 5
    status, output = run("restores", 4, 1, str(tmp_path))
    assert status == [0] * 4, "\n".join(output)
    np.testing.assert_array_equal(here["w"][0], here["shared"])


def test_initialize_comes_first():
    xc.devices()
    with pytest.raises(RuntimeError, match="before any array is made"):
        xc.distributed.initialize("127.0.0.1:1234", 1, 0)
    assert not xc.distributed.is_initialized()


def test_helpers_in_one_process():
    tree = {"a": xc.numpy.arange(3), "b": 2.0}
    np.testing.assert_array_equal(xc.multihost.broadcast_one_to_all(tree)["a"], [0, 1, 2])
    assert xc.multihost.process_allgather(tree)["a"].shape == (1, 3)
    assert xc.multihost.process_allgather(tree["a"], tiled=True).shape == (3,)
    xc.multihost.assert_equal(tree)
    xc.multihost.sync_global_devices("alone")
    assert xc.multihost.live_processes() == [0]
    assert xc.multihost.live_devices(xc.devices()[:1]) == xc.devices()[:1]
    assert xc.experimental.multihost_utils.process_allgather is xc.multihost.process_allgather
