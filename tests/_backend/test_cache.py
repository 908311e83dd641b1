"""DiskCache: what comes out is what was put in, or nothing, whatever happens to the files."""

import multiprocessing
import os
import random
import stat
import threading
import time
import warnings
from hashlib import blake2b
from pathlib import Path

import pytest

from xcore._backend import cache as module
from xcore._backend.cache import DiskCache, default_cache, environment_key

KEY = "ab" + "0123456789" * 3


def key_of(number: int) -> str:
    return blake2b(str(number).encode(), digest_size=20).hexdigest()


@pytest.fixture
def cache(tmp_path):
    return DiskCache(str(tmp_path / "cache"))


def files(cache):
    return [path for path in Path(cache.directory).rglob("*") if path.is_file()]


# Round trip


@pytest.mark.parametrize("blob", [b"", b"\0", os.urandom(5_000), os.urandom(3_000_000)], ids=len)
def test_round_trip(cache, blob):
    assert cache.get(KEY) is None
    cache.put(KEY, blob)
    assert cache.get(KEY) == blob
    assert DiskCache(cache.directory).get(KEY) == blob
    assert cache.get(KEY[:-1] + "x") is None


def test_put_replaces(cache):
    cache.put(KEY, b"old")
    cache.put(KEY, b"new")
    assert cache.get(KEY) == b"new"
    assert len(files(cache)) == 1


def test_stats_and_clear(cache):
    for i in range(5):
        cache.put(key_of(i), bytes(100))
    cache.get(key_of(0)), cache.get("nothing")
    seen = cache.stats()
    assert (seen["entries"], seen["hits"], seen["misses"]) == (5, 1, 1)
    assert 500 <= seen["bytes"] <= 500 + 5 * 100
    cache.clear()
    assert cache.stats()["entries"] == 0 and cache.get(key_of(0)) is None
    cache.put(KEY, b"again")
    assert cache.get(KEY) == b"again"


def test_entries_are_private(cache):
    cache.put(KEY, b"blob")
    assert stat.S_IMODE(files(cache)[0].parent.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE(files(cache)[0].stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_entries_that_others_may_write_are_refused(cache, mode):
    cache.put(KEY, b"blob")
    (path,) = files(cache)
    path.chmod(mode)
    with pytest.warns(RuntimeWarning, match="others may write it"):
        assert cache.get(KEY) is None
    assert path.exists() and cache.get(KEY) is None  # told once
    path.chmod(0o644)
    assert cache.get(KEY) == b"blob"


def test_entries_of_other_users_are_refused(cache, monkeypatch):
    """Files of root are read: a cache that an administrator has filled."""
    cache.put(KEY, b"blob")
    (path,) = files(cache)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    if owner == 0:
        assert cache.get(KEY) == b"blob"
        os.chown(path, 4321, -1)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert cache.get(KEY) is None
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid)
    assert cache.get(KEY) == b"blob"


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
@pytest.mark.parametrize("level", [0, 1])
def test_folders_that_others_may_write_are_refused(cache, mode, level):
    cache.put(KEY, b"blob")
    folder = files(cache)[0].parents[level]
    folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match="others may write it"):
        assert cache.get(KEY) is None
    cache.put(key_of(1), b"more")
    assert cache.stats()["entries"] == 1  # nothing more is left there
    folder.chmod(0o755)
    assert cache.get(KEY) == b"blob"


def test_folders_are_private_whatever_the_umask(tmp_path):
    before = os.umask(0o002)
    try:
        cache = DiskCache(str(tmp_path / "a" / "b"))
        cache.put(KEY, b"blob")
    finally:
        os.umask(before)
    assert cache.get(KEY) == b"blob"
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) & 0o077 == 0


def test_links_do_not_lend_trust(cache, tmp_path):
    """The owner is that of the file that is read, not of what leads to it."""
    cache.put(KEY, b"blob")
    (path,) = files(cache)
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    elsewhere.chmod(0o666)
    path.symlink_to(elsewhere)
    with pytest.warns(RuntimeWarning, match="not read"):
        assert cache.get(KEY) is None


# Damage


def _damages(data: bytes):
    flips = random.Random(0)
    for position in [0, 5, 12, 13, 40, 45, len(data) - 1, *flips.choices(range(len(data)), k=40)]:
        bit = 1 << flips.randrange(8)
        damaged = data[:position] + bytes([data[position] ^ bit]) + data[position + 1 :]
        yield f"flip {position}", damaged
    for length in [0, 1, 12, 13, 44, 45, 46, len(data) - 1]:
        yield f"truncated to {length}", data[:length]
    yield "extended", data + b"\0"
    yield "zeros", bytes(len(data))
    yield "text", b"not an entry of this cache\n" * 20
    yield "other version", data[:12] + bytes([data[12] + 1]) + data[13:]


def test_damaged_entry_is_deleted_and_missing(cache):
    cache.put(KEY, os.urandom(500))
    (path,) = files(cache)
    good = path.read_bytes()
    for what, damaged in _damages(good):
        path.write_bytes(damaged)
        assert cache.get(KEY) is None, what
        assert not path.exists(), what
    path.write_bytes(good)
    assert cache.get(KEY) is not None


def test_entry_under_another_key_is_foreign(cache):
    cache.put(KEY, b"program A")
    (path,) = files(cache)
    other = path.with_name(path.name[:-1] + "z")
    other.write_bytes(path.read_bytes())
    assert cache.get(KEY[:-1] + "z") is None
    assert cache.get(KEY) == b"program A"


def test_directory_in_place_of_an_entry(cache):
    (Path(cache.directory) / KEY[:2] / KEY[2:]).mkdir(parents=True)
    assert cache.get(KEY) is None
    with pytest.warns(RuntimeWarning, match="XCORE_CACHE"):
        cache.put(KEY, b"blob")


# Bound


def _age(cache, seconds):
    for path in files(cache):
        past = path.stat().st_mtime - seconds
        os.utime(path, (past, past))


def test_least_recently_used_are_evicted(tmp_path):
    cache = DiskCache(str(tmp_path), max_bytes=10_000)  # each put sweeps: 16 * 1000 > 10000
    for i in range(8):
        cache.put(key_of(i), bytes(1000))
        _age(cache, 10)
    assert cache.get(key_of(0)) == bytes(1000)  # a use makes it young again
    for i in range(8, 12):
        _age(cache, 10)
        cache.put(key_of(i), bytes(1000))
    alive = [i for i in range(12) if cache.get(key_of(i)) is not None]
    assert alive == [0, *range(12 - len(alive) + 1, 12)]
    assert cache.stats()["bytes"] <= 10_000


def test_bound_holds_without_a_sweep_per_put(tmp_path, monkeypatch):
    cache = DiskCache(str(tmp_path), max_bytes=100_000)
    sweeps = []
    evict = DiskCache._evict
    monkeypatch.setattr(DiskCache, "_evict", lambda *a: (sweeps.append(1), evict(*a)))
    for i in range(1000):
        cache.put(key_of(i), random.Random(i).randbytes(400))
    assert cache.stats()["bytes"] < 150_000  # 400 kB were written
    assert 20 < len(sweeps) < 150  # 16 * 400 / 100: about 64 expected


def test_entry_larger_than_the_bound_leaves(tmp_path):
    cache = DiskCache(str(tmp_path), max_bytes=1000)
    cache.put(KEY, bytes(5000))
    assert cache.stats()["bytes"] <= 1000


def test_leftovers_of_dead_writers_are_removed(cache):
    cache.put(KEY, b"blob")
    leftover, fresh = files(cache)[0].with_name(".dead.1.2"), files(cache)[0].with_name(".feed.1.3")
    leftover.write_bytes(b"half"), fresh.write_bytes(b"half")
    hours_ago = time.time() - 3 * 3600
    os.utime(leftover, (hours_ago, hours_ago))
    assert cache.stats()["entries"] == 1
    assert not leftover.exists() and fresh.exists()


def test_what_is_no_entry_is_left_alone(tmp_path):
    """A directory that a user names may hold anything: their own folders, hidden files, another store's."""
    mine = {
        "notes.txt": "a", "project/.env": "b", "project/.a.1.2": "c", ".ssh/.key": "d", "ab/readme": "e", "ab/.hidden": "f",
        f"ab/{'c' * 38}": "of git", "abc/123": "g", "ab/12.3": "h",
    }  # fmt: skip
    past = time.time() - 1e6
    for name, text in mine.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (past, past))
    cache = DiskCache(str(tmp_path), max_bytes=1000)
    for i in range(5):
        cache.put(key_of(i), bytes(900))
    cache.stats()
    cache.clear()
    assert cache.get(key_of(4)) is None
    for name, text in mine.items():
        assert (tmp_path / name).read_text() == text


# Company


def _blob_of(key: str, seed: int) -> bytes:
    return random.Random(f"{key}{seed % 3}").randbytes(2000 + 100 * (seed % 3))


def _hammer(directory, seed):
    """Write and read the keys that all processes share; every hit must be a blob somebody put."""
    cache = DiskCache(directory, max_bytes=40_000)
    rng = random.Random(seed)
    for turn in range(300):
        key = key_of(rng.randrange(10))
        if turn % 3 == 0:
            cache.put(key, _blob_of(key, seed))
        found = cache.get(key)
        if found is not None and found not in [_blob_of(key, s) for s in range(3)]:
            os._exit(1)
    os._exit(0 if cache.writable and cache.hits > 50 else 2)


def test_many_processes(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_hammer, args=(str(tmp_path), s)) for s in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert not list(tmp_path.rglob(".*"))


def test_many_threads(cache):
    wrong = []

    def work(seed):
        for turn in range(100):
            key = f"{turn % 7:02d}shared"
            cache.put(key, _blob_of(key, seed))
            if cache.get(key) not in [_blob_of(key, s) for s in range(3)]:
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and cache.writable


# Disks that refuse


def test_unwritable_directory_warns_once(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    cache = DiskCache(str(blocker / "cache"))
    with pytest.warns(RuntimeWarning, match="cannot be kept") as caught:
        cache.put(KEY, b"blob")
        cache.put(KEY, b"blob")
    assert len(caught) == 1
    assert cache.get(KEY) is None
    assert cache.stats()["entries"] == 0


def test_full_disk_leaves_nothing_and_keeps_reading(cache, monkeypatch):
    cache.put(KEY, b"blob")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        cache.put("cd-other", b"blob")
    assert cache.get(KEY) == b"blob"
    assert len(files(cache)) == 1


# Defaults and the environment's key


def test_default_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("XCORE_CACHE", raising=False)
    monkeypatch.setenv("XCORE_CACHE_DIR", str(tmp_path))
    assert default_cache().directory == str(tmp_path)
    assert default_cache() is default_cache()
    monkeypatch.delenv("XCORE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache().directory == str(tmp_path / "xdg" / "xcore")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache().directory == os.path.expanduser("~/.cache/xcore")
    monkeypatch.setenv("XCORE_CACHE", "0")
    assert default_cache() is None


class FakeDevice:
    """What environment_key reads of a device and its client."""

    platform, platform_version, device_kind = "cpu", "1", "some kind"

    def __init__(self, **facts):
        self.__dict__.update(facts)

    client = property(lambda self: self)


def test_environment_key_tells_apart(monkeypatch, tmp_path):
    key = environment_key(FakeDevice())
    assert len(key) == 32 and key == environment_key(FakeDevice())
    seen = {key}

    def is_new():
        found = environment_key(FakeDevice())
        return found not in seen and not seen.add(found)

    for fact in ("platform", "platform_version", "device_kind"):
        seen.add(environment_key(FakeDevice(**{fact: "other"})))
    assert len(seen) == 4
    with monkeypatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
        assert is_new()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_cpu", lambda: "another processor")
        assert is_new()
    with monkeypatch.context() as patch:
        patch.setattr("jaxlib.__version__", "0.0.0")
        assert is_new()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_source_files", lambda root: [("array.py", 10, 11)])
        assert is_new()
    with monkeypatch.context() as patch:  # what is compiled for a GPU may come from any machine
        there = environment_key(FakeDevice(platform="gpu"))
        patch.setattr(module, "_cpu", lambda: "another processor")
        assert environment_key(FakeDevice(platform="gpu")) == there
    h100 = {  # its client tells the driver's version, and a name for each form that it is sold in
        environment_key(FakeDevice(platform=p, platform_version=v, device_kind=kind))
        for p, v, kind in (
            ("gpu", "of the compiler", "NVIDIA H100"),
            ("cuda", "cuda 13000", "NVIDIA H100 80GB HBM3"),
        )
    }
    assert len(h100) == 1 and h100 != {
        environment_key(FakeDevice(platform="gpu", device_kind="NVIDIA H200"))
    }
    monkeypatch.setenv("XCORE_SOMETHING", "1")  # not the compiler's business
    assert environment_key(FakeDevice()) == key


def test_source_files_notice_an_edit(tmp_path):
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    source = package / "inner" / "a.py"
    source.write_text("x = 1")
    before = module._source_files(str(package))
    assert before == [("inner/a.py", 5, source.stat().st_mtime_ns)]
    source.write_text("x = 23")
    assert module._source_files(str(package)) != before


def test_source_contents_are_those_of_any_installation(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x = 1")
        os.utime(tmp_path / name / "a.py", (1, 1 + len(name)))
    here, there = (module._source_contents(str(tmp_path / n)) for n in ("here", "there"))
    assert here == there
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.py").write_text("x = 2")
    assert module._source_contents(str(tmp_path / "other")) != here


def test_cpu_names_its_instruction_set():
    cpu = str(module._cpu())
    assert cpu and (not os.path.exists("/proc/cpuinfo") or "lags" in cpu or "Features" in cpu)
    assert module._cpu() == module._cpu()


def test_get_is_quick(cache):
    """Far looser than what is measured (20 us), so that a busy machine passes."""
    cache.put(KEY, os.urandom(5000))
    times = []
    for _ in range(200):
        start = time.perf_counter()
        cache.get(KEY)
        times.append(time.perf_counter() - start)
    assert min(times) < 150e-6


def test_reading_warns_of_nothing(cache):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.put(KEY, b"blob")
        cache.get(KEY), cache.stats(), cache.clear()
