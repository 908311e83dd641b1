"""Finding and checking the CUDA packages, with packages made of text: no GPU is needed."""

import sys
from types import SimpleNamespace

import jaxlib
import pytest

from xcore._backend import client, cuda


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Writes plugin packages of a version into a folder that Python imports from."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(version, major="13", versions="def cuda_device_count(): return 0"):
        for name, text in {
            f"jax_plugins/xla_cuda{major}/__init__.py": "import jax_is_not_imported",
            f"jax_plugins/xla_cuda{major}/xla_cuda_plugin.so": "",
            f"jax_cuda{major}_plugin/__init__.py": "",
            f"jax_cuda{major}_plugin/version.py": f"__version__ = {version!r}",
            f"jax_cuda{major}_plugin/_versions.py": versions,
            f"nvidia/{cuda._TOOLKITS[major]}/bin/ptxas": "",
            f"nvidia/{cuda._CUBLAS[major]}": "",
        }.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        _forget()

    yield write
    _forget()


def _forget():
    cuda.installed_plugin.cache_clear()
    cuda.toolkit_directory.cache_clear()
    for name in list(sys.modules):
        if name.partition(".")[0] in (
            "jax_plugins",
            "jax_cuda13_plugin",
            "jax_cuda12_plugin",
            "nvidia",
        ):
            del sys.modules[name]


def installed():
    return cuda.installed_plugin() is not None


@pytest.mark.skipif(installed(), reason="the CUDA packages are installed")
def test_without_the_packages_nothing_is_imported():
    before = set(sys.modules)
    assert cuda.load_cuda() is None and not cuda.is_installed()
    assert not any("cuda" in name for name in set(sys.modules) - before)
    options = SimpleNamespace()
    cuda.set_compile_options(options)
    assert vars(options) == {}


@pytest.mark.parametrize("major", ["13", "12"])
def test_packages_are_found_without_running_them(packages, major, tmp_path, monkeypatch):
    monkeypatch.setattr(cuda, "_LIBRARIES", {major: cuda._LIBRARIES[major]})
    packages(jaxlib.__version__, major)
    assert cuda.installed_plugin().package == f"jax_cuda{major}_plugin"
    options = SimpleNamespace()
    cuda.set_compile_options(options)
    assert options.xla_gpu_cuda_data_dir == str(tmp_path / "nvidia" / cuda._TOOLKITS[major])


def test_no_gpu(packages, monkeypatch):
    packages(jaxlib.__version__)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    with pytest.raises(cuda.CudaUnavailable, match=r"no GPU is visible .CUDA_VISIBLE_DEVICES='-1'"):
        cuda.load_cuda()


def test_no_driver(packages):
    packages(jaxlib.__version__, versions="def cuda_device_count(): raise RuntimeError('cuInit')")
    with pytest.raises(cuda.CudaUnavailable, match="XCORE_PLATFORM=cpu"):
        cuda.load_cuda()


def test_version_mismatch(packages):
    packages("0.1.2")
    with pytest.raises(cuda.CudaUnavailable, match=r"0\.1\.2 does not fit jaxlib"):
        cuda.load_cuda()


def test_release_ignores_what_follows_the_numbers():
    assert cuda._release("0.12.0.1") == ["0", "12", "0", "1"] != cuda._release("0.12.0")
    assert cuda._release("0.10.2.dev20260101") == cuda._release("0.10.2")


def _fail():
    raise RuntimeError("libcudnn.so.9 not found")


@pytest.mark.parametrize(
    "found, message",
    [
        (lambda: 90801, None),
        (lambda: 91200, None),
        (lambda: 90700, "too old"),
        (_fail, "not found"),
    ],
)
def test_library_versions(found, message):
    versions = SimpleNamespace(cudnn_build_version=lambda: 90803, cudnn_get_version=found)
    check = (versions, "cuDNN", "cudnn", None, 100)
    if message is None:
        cuda._check_library(*check)
    else:
        with pytest.raises(cuda.CudaUnavailable, match=message):
            cuda._check_library(*check)


def test_memory_is_taken_on_demand(monkeypatch):
    monkeypatch.delenv("XLA_PYTHON_CLIENT_PREALLOCATE", raising=False)
    assert cuda._client_options(None)["preallocate"] is False
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "true")
    monkeypatch.setenv("XLA_CLIENT_MEM_FRACTION", "0.25")
    options = cuda._client_options([1])
    assert options["preallocate"] is True
    assert options["memory_fraction"] == 0.25
    assert options["visible_devices"] == [1]


def test_cpu_is_used_when_the_packages_cannot_be(packages, monkeypatch):
    packages(jaxlib.__version__)
    for name in ("XCORE_PLATFORM", "JAX_PLATFORMS"):
        monkeypatch.delenv(name, raising=False)
    best = client._best_platform.__wrapped__
    with pytest.warns(RuntimeWarning, match=r"no GPU is visible.*the CPU is used"):
        assert best() == "cpu"
    monkeypatch.setenv("XCORE_PLATFORM", "gpu")
    assert best() == "cuda"
    with pytest.raises(cuda.CudaUnavailable):
        client.client(best())
