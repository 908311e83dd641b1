"""What is larger than the memory of the machine is refused when it is asked for; the process goes on."""

import subprocess
import sys

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._backend import client, memory

pytestmark = pytest.mark.skipif(xc.default_backend() != "cpu", reason="of the host's memory")

TOO_LARGE = {
    "zeros": lambda: xnp.zeros(10**14),
    "ones of rows": lambda: xnp.ones((10**7, 10**7)),
    "full": lambda: xnp.full(10**14, 3),
    "arange": lambda: xnp.arange(10**13),
    "eye": lambda: xnp.eye(10**7),
    "outer": lambda: xnp.outer(xnp.ones(10**6), xnp.ones(10**7)),
    "broadcasting": lambda: xnp.ones((10**6, 1)) * xnp.ones(10**7),
    "a product of matrices": lambda: xnp.ones((10**6, 1)) @ xnp.ones((1, 10**7)),
    "on the way": lambda: xc.jit(lambda a: (a @ a.T).sum() + xnp.linalg.cholesky(a @ a.T)[0, 0])(xnp.ones((10**6, 1))),
    "random": lambda: xc.random.normal(xc.random.key(0), (10**13,)),
    "repeat": lambda: xnp.repeat(xnp.ones(10**6), 10**7),
    "one of several": lambda: xc.jit(lambda a: (a.sum(), a[:, None] * a))(xnp.ones(10**7)),
    "a gradient": lambda: xc.jacfwd(lambda a: a * 2)(xnp.ones(10**7)),
    "vmap": lambda: xc.vmap(lambda a: xnp.ones(10**7) * a)(xnp.ones(10**6)),
}  # fmt: skip


@pytest.mark.parametrize("name", TOO_LARGE)
def test_is_refused_in_words(name):
    for _ in range(2):  # the second time what was learnt of the call answers
        with pytest.raises(xc.errors.OutOfMemoryError, match=r"memory|allocate"):
            TOO_LARGE[name]()
    assert (xnp.ones(3) + 1).tolist() == [2, 2, 2]


def test_programs_may_be_looked_at():
    """What is compiled says what it needs; only running it is refused."""
    compiled = xc.jit(lambda a: a[:, None] * a).lower(xnp.ones(10**7)).compile()
    assert compiled.memory_analysis().output_size_in_bytes == 4 * 10**14
    with pytest.raises(xc.errors.OutOfMemoryError, match="GiB"):
        compiled(xnp.ones(10**7))


@pytest.mark.parametrize("read", ["print(y)", "np.asarray(y)", "np.from_dlpack(y)", "xc.device_get(y)", "y.copy() + 1; print(y.copy())",
                                  "print(y[0])", "print(y.sum())"])  # fmt: skip
def test_memory_that_nobody_gave_is_not_looked_at(read):
    """A machine may promise more than it gives: where XLA itself finds no memory the process goes on, too."""
    code = (
        "import numpy as np, xcore as xc, xcore.numpy as xnp\n"
        "from xcore._backend import client\n"
        "client._needed_of_host = lambda *a: 0\n"
        "y = xnp.eye(10**7)\n"
        f"try:\n    {read}\nexcept xc.errors.OutOfMemoryError:\n    print('told')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "told\n"), done.stderr[-500:]


def test_the_memory_of_the_machine():
    assert 2**28 < memory.of_host() < 2**60
    x = xnp.ones(2**17) + 1
    client.to_host(x._buffer())  # asked for before it is seen
    assert np.asarray(x).sum() == 2**18
