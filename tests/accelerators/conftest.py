"""These tests compile for accelerators that are not here; `make test-accelerators` installs the compilers."""

import pytest

from xcore._backend import cuda, tpu


def compilers() -> dict[str, bool]:
    return {"cuda": cuda.is_installed(), "tpu": tpu.library() is not None}


@pytest.fixture
def needs(request):
    """``needs("cuda")`` skips a test where the compiler is not installed."""

    def check(platform: str) -> None:
        if not compilers()[platform]:
            pytest.skip(f"the compiler for {platform} is not installed (extra aot)")

    return check
