"""Several processes on this machine: they meet, compute together, and notice who is gone."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xcore._backend import cluster
from xcore._backend.cluster import Place

WORKER = Path(__file__).with_name("cluster_worker.py")
ROOT = WORKER.parents[2]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Processes:
    """Started workers; their exit status and output, and how long the last of them took."""

    def __init__(self, what, count=2, wait_for=None, timeout=60):
        address = f"127.0.0.1:{free_port()}"
        started = time.monotonic()
        environment = dict(os.environ, PYTHONPATH=str(ROOT), PYTHONUNBUFFERED="1")
        self.all = [
            subprocess.Popen(
                [sys.executable, str(WORKER), what, address, str(count), str(i)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
            )
            for i in range(count)
        ]  # fmt: skip
        waited = self.all if wait_for is None else [self.all[i] for i in wait_for]
        try:
            self.output = [process.communicate(timeout=timeout)[0] for process in waited]
        finally:
            self.kill()
        self.seconds = time.monotonic() - started
        self.status = [process.returncode for process in waited]

    def kill(self):
        for process in self.all:
            if process.poll() is None:
                process.kill()
                process.communicate()


@pytest.mark.parametrize("count", [2, 3])
def test_psum(count):
    done = Processes("psum", count)
    assert done.status == [0] * count, done.output


def test_dictionary_and_barrier():
    done = Processes("dictionary")
    assert done.status == [0, 0], done.output
    assert "two timeouts" in done.output[0]


def test_process_zero_waits_for_no_one_that_has_left():
    done = Processes("early")
    assert done.status == [0, 0], done.output


def test_a_killed_process_makes_the_others_raise():
    done = Processes("killed")
    assert done.status == [3, -signal.SIGKILL], done.output
    assert done.seconds < 30


def test_a_hanging_process_ends_the_others():
    done = Processes("hangs", wait_for=[0])
    assert done.status == [cluster.EXIT_STATUS], done.output
    assert "because of process 1: killed, crashed or hanging" in done.output[0]
    assert done.seconds < 40


def test_a_killed_coordinator_ends_the_others():
    done = Processes("coordinator_killed")
    assert done.status[0] == -signal.SIGKILL and done.status[1] != 0, done.output
    assert done.seconds < 30


def test_an_exception_in_one_process_fails_the_others():
    done = Processes("raises")
    assert done.status == [3, 1], done.output
    assert "a mistake in one process" in done.output[1]
    assert done.seconds < 30


def test_an_exception_before_the_first_collective_ends_the_others():
    done = Processes("raises_early")
    assert done.status == [cluster.EXIT_STATUS, 1], done.output
    assert done.seconds < 25  # gloo by itself would wait for 30


def test_a_missing_process_is_reported_in_time():
    code = (
        "import sys\nfrom xcore._backend import cluster\n"
        "cluster.connect(sys.argv[1], 2, int(sys.argv[2]), initialization_timeout=2)"
    )
    started = time.monotonic()
    alone = [
        subprocess.Popen([sys.executable, "-c", code, f"127.0.0.1:{free_port()}", str(i)], cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for i in range(2)
    ]  # fmt: skip
    for i, process in enumerate(alone):
        said = process.communicate(timeout=60)[0]
        assert process.returncode != 0 and time.monotonic() - started < 30
        assert f"process {i} did not meet the other processes within 2 s" in said, said


# Places in the environment

SLURM = {"SLURM_JOB_ID": "1234567", "SLURM_NTASKS": "8", "SLURM_PROCID": "3"}
ORTE = "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911"
OMPI = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "2"}
ENVIRONMENTS = [
    ({}, Place()),
    (SLURM | {"SLURM_JOB_NODELIST": "head"}, Place("head:63111", 8, 3)),
    (SLURM | {"SLURM_JOB_NODELIST": "node[007-012,015]"}, Place("node007:63111", 8, 3)),
    (SLURM | {"SLURM_JOB_NODELIST": "rack[1,4-5]n3,other"}, Place("rack1n3:63111", 8, 3)),
    (
        SLURM | {"SLURM_JOB_NODELIST": "a[1-9]", "SLURM_STEP_NODELIST": "a[4-5]"},
        Place("a4:63111", 8, 3),
    ),
    (OMPI | {"OMPI_MCA_orte_hnp_uri": ORTE}, Place("10.96.0.1:62624", 4, 2)),
    (OMPI | {"PMIX_NAMESPACE": "prterun-node-07-12345@1"}, Place("node-07:61497", 4, 2)),
    (OMPI | SLURM | {"PMIX_NAMESPACE": "prterun-n-1@1"}, Place("n:61441", 4, 2)),
    (
        {"JOB_COMPLETION_INDEX": "5", "HOSTNAME": "train-5", "XCORE_NUM_PROCESSES": "6"},
        Place("train-0:61440", 6, 5),
    ),
    (
        {"MASTER_ADDR": "h", "MASTER_PORT": "29500", "WORLD_SIZE": "2", "RANK": "1"},
        Place("h:29501", 2, 1),
    ),
    (
        SLURM | {"SLURM_JOB_NODELIST": "h", "XCORE_COORDINATOR_ADDRESS": "other:1"},
        Place("other:1", 8, 3),
    ),
]


@pytest.mark.parametrize("environment, place", ENVIRONMENTS)
def test_detect(environment, place, monkeypatch):
    monkeypatch.setattr(socket, "getfqdn", lambda host: host)
    assert cluster.detect(environment) == place


def test_one_manager_is_asked():
    both = OMPI | SLURM | {"PMIX_NAMESPACE": "prterun-n-1@1", "SLURM_JOB_NODELIST": "h"}
    assert cluster.detect(both, "ompi") == Place("n:61441", 4, 2)
    assert cluster.detect(both, "slurm") == Place("h:63111", 8, 3)
    assert cluster.detect(both, "k8s") == cluster.detect(both, "deactivate") == Place()
    with pytest.raises(ValueError, match="cluster_detection_method must be None or one of 'slurm'"):
        cluster.detect(both, "pbs")


def test_kubernetes_domain(monkeypatch):
    monkeypatch.setattr(socket, "getfqdn", lambda host: f"{host}.svc.space.local")
    environment = {"JOB_COMPLETION_INDEX": "5", "HOSTNAME": "train-5"}
    assert cluster.detect(environment) == Place("train-0.svc.space.local:61440", None, 5)


def test_arguments_win_over_the_environment():
    environment = SLURM | {"SLURM_JOB_NODELIST": "h"}
    assert cluster._complete(Place(None, 4, None), environment) == Place("h:63111", 4, 3)


@pytest.mark.parametrize(
    "given, message",
    [
        (Place("host:1", 2, None), "process_id not given"),
        (Place(), "coordinator_address and num_processes and process_id not given"),
        (Place("host:1", 2, 2), "from 0 to num_processes - 1 = 1, given 2"),
        (Place("host", 2, 0), "'host'"),
    ],
)
def test_places_that_are_wrong(given, message):
    with pytest.raises(ValueError, match=message):
        cluster._complete(given, {})


def test_a_number_that_is_none():
    with pytest.raises(ValueError, match="SLURM_NTASKS must be a number, is 'many'"):
        cluster.detect(SLURM | {"SLURM_NTASKS": "many"})


# What can be wrong at the start


def test_processes_that_disagree_about_their_number():
    address = f"127.0.0.1:{free_port()}"
    connect = "cluster.connect(sys.argv[1], *map(int, sys.argv[2:]))"
    code = f"import sys, time\nfrom xcore._backend import cluster\n{connect}\ntime.sleep(60)"
    started = [
        subprocess.Popen([sys.executable, "-c", code, address, str(count), str(i)], cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for i, count in enumerate((2, 3))
    ]  # fmt: skip
    try:
        said = started[1].communicate(timeout=60)[0]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    assert "num_processes must be the same in all processes, given 2 in process 0 and 3 in" in said


def test_a_port_that_is_taken():
    with socket.socket() as s:
        s.bind(("", 0))
        s.listen()
        with pytest.raises(OSError, match=r"process 0 cannot listen on port .* another port"):
            cluster.connect(f"127.0.0.1:{s.getsockname()[1]}", 1, 0)
    assert cluster.current() is None
