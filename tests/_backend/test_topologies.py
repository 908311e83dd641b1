"""Descriptions of devices that are not here. What compilers make of them: tests/accelerators."""

import re

import pytest

import xcore as xc
from xcore._backend import client, cuda, topologies, tpu


def field(text: str, name: str) -> str:
    return re.search(rf"\b{name}: (\S+)", text)[1]


def test_a_gpu_in_xlas_words():
    """Beside the description of an H200 that XLA's own tests use, for what determines its code."""
    text = topologies._target_config(topologies.KINDS["h200"])
    known = {
        "threads_per_block_limit": "1024", "threads_per_warp": "32", "shared_memory_per_block": "49152",
        "shared_memory_per_core": "233472", "threads_per_core_limit": "2048", "core_count": "132",
        "fpus_per_core": "128", "block_dim_limit_x": "2147483647", "memory_bandwidth": "4800000000000",
        "l2_cache_size": "52428800", "clock_rate_ghz": "1.98", "device_memory_size": "151397597184",
        "shared_memory_per_block_optin": "232448", "registers_per_core_limit": "65536",
        "major": "9", "feature_extension": "ACCELERATED_FEATURES", "platform_name": '"CUDA"',
    }  # fmt: skip
    assert {name: field(text, name) for name in known} == known


@pytest.mark.parametrize("kind", [k for k, r in topologies.KINDS.items() if r.platform == "cuda"])
def test_ceilings_of_gpus_are_those_of_their_data_sheets(kind):
    """Single precision without tensor cores, in units of 10¹² operations per second."""
    sheet = {"v100": 15.7, "a100": 19.5, "l4": 30.3, "h100": 67, "h200": 67, "b200": 75}[kind]
    assert topologies.KINDS[kind].single == pytest.approx(sheet * 1e12, rel=0.02)


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16, 64])
@pytest.mark.parametrize("axes", [2, 3])
def test_tori_have_enough_chips_and_no_side_is_much_longer(count, axes):
    sides = topologies.chips(count, axes)
    size = 1
    for n in sides:
        size *= n
    assert len(sides) == axes and max(count, 4) <= size < 2 * max(count, 4)
    assert max(sides) <= 2 * min(n for n in sides if n > 1)


@pytest.mark.parametrize(
    "args, message",
    [
        (("h300",), "kind must be one of v100, .*, given 'h300'"),
        (("h200", 0), "count must be a number of devices from 1 to 256, given 0"),
        (("h200", 2.0), "count"),
    ],
)
def test_errors(args, message):
    with pytest.raises(xc.errors.ArgumentError, match=message):
        xc.topology(*args)


def test_without_the_compilers_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(cuda, "load_compiler", lambda: False)
    monkeypatch.setattr(tpu, "load_compiler", lambda: False)
    topologies.devices_of.cache_clear()
    for kind in ("h200", "v5e"):
        with pytest.raises(RuntimeError, match=r"not installed.*xcore\[aot\]"):
            xc.topology(kind)


def test_backends_that_are_not_here_are_not_listed(monkeypatch):
    monkeypatch.setattr(cuda, "load_cuda", lambda: None)
    monkeypatch.setattr(client, "platforms", lambda: ["cuda", "cpu"])
    with pytest.raises(RuntimeError, match=r"no backend 'cuda' here. Available: cpu\. .*cuda13"):
        client._make_client("cuda")
    with pytest.raises(RuntimeError, match=r"no backend 'moon' here. Available: cuda, cpu\."):
        client._make_client("moon")


def test_libtpu_alone_is_no_tpu(monkeypatch):
    monkeypatch.setattr(tpu, "library", lambda: "libtpu.so")
    monkeypatch.setattr(tpu, "is_here", lambda: False)
    with pytest.raises(tpu.TpuUnavailable, match=r"no TPU.*xc\.topology"):
        client._make_client("tpu")


def test_compilers_alone_do_not_choose_the_platform(monkeypatch):
    """The extra `aot` on a machine without a driver: the CPU is used, and nobody is warned."""
    for name in ("XCORE_PLATFORM", "JAX_PLATFORMS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tpu, "library", lambda: "libtpu.so")
    monkeypatch.setattr(cuda, "is_installed", lambda: True)
    monkeypatch.setattr(cuda, "only_compiles", lambda: True)
    assert client._best_platform.__wrapped__() == "cpu"
