"""Random numbers beside jax's and NumPy's: rates of large draws, and what the first call costs.

(Not random.py: a script of that name would hide the standard library's module from its neighbours.)
"""

import functools
import json
import os
import subprocess
import sys
from functools import partial

import numpy as np
from harness import Bench, Lib, library

bench = Bench("Random numbers, 10⁷ float32 where a line says no other size, on all cores.")
N = 10_000_000
M = 1_000_000
PHILOX = {"impl": "philox4x32"}
LARGE = {"wait": True, "rounds": 7, "seconds": 0.1}


def drawn(lib: Lib, draw, **key):
    """The thunk of ``draw(random, key)`` as one compiled function of the key."""
    f = lib.core.jit(partial(draw, lib.core.random))
    k = lib.core.random.key(1, **key)
    return lambda: f(k)


def threefry(question: str, draw, bar: float, **options) -> None:
    """The same draw by both, with the same bits."""
    bench.time(f"threefry {question}", bar=bar, **LARGE | options)(lambda lib: drawn(lib, draw))


def philox(question: str, draw, bar: float, by_numpy=None) -> None:
    """Our draw beside jax's with threefry's bits or, if that is given, NumPy's with Philox's."""
    rng = np.random.Generator(np.random.Philox(1))
    peer = (lambda: partial(by_numpy, rng)) if by_numpy else lambda: drawn(library("jax"), draw)
    named = "NumPy's Philox" if by_numpy else "jax's threefry"
    ours = lambda: drawn(library("xcore"), draw, **PHILOX)  # noqa: E731
    bench.versus(f"philox {question}, {named} as peer", ours, peer, bar, **LARGE)


# What everything is made of


def bits(random, key):
    return random.bits(key, (N,))


def normal(random, key):
    return random.normal(key, (N,))


threefry("uniform", lambda random, key: random.uniform(key, (N,)), 1 / 2)
threefry("normal", normal, 1 / 1.5)
philox("bits", bits, 1 / 3)
philox("bits", bits, 1.0, lambda rng: rng.integers(0, 2**32, N, np.uint32))
philox("normal", normal, 1.0, lambda rng: rng.standard_normal(N, np.float32))

# Distributions made by rejection

REJECTED = {
    "gamma": [(0.3,), (2.5,)],
    "beta": [(2.0, 3.0)],
    "poisson": [(4.0,), (100.0,)],
    "binomial": [(20, 0.3), (1000, 0.4)],
}
for name, grid in REJECTED.items():
    for parameters in grid:
        threefry(
            f"{name}{parameters}, 1e6".replace(",)", ")"),
            lambda random, key, name=name, p=parameters: getattr(random, name)(key, *p, (M,)),
            1 / 5, rounds=5, seconds=0.05,
        )  # fmt: skip

# Order


def permutation(random, key):
    return random.permutation(key, M)


def half(random, key):
    return random.choice(key, 2 * M, (M,), replace=False)


threefry("permutation of 1e6", permutation, 1 / 5, rounds=3)
philox("permutation of 1e6", permutation, 1 / 0.7, lambda rng: rng.permutation(M))
threefry("1e6 of 2e6 without replacement", half, 1 / 5, rounds=3)
philox(
    "1e6 of 2e6 without replacement", half, 1 / 0.7,
    lambda rng: rng.choice(2 * M, M, replace=False),
)  # fmt: skip

# The first call
# A process of each library's calls every distribution once, on 1000 elements, and compiles it for that;
# ours finds nothing in its cache on the disk.

CALLS = {
    "uniform": (), "normal": (), "randint": ((1000,), 0, 10), "bernoulli": (0.3,), "truncated_normal": (-2.0, 2.0),
    "exponential": (), "gamma": (2.5,), "loggamma": (0.5,), "beta": (2.0, 3.0), "chisquare": (3.0,), "t": (5.0,),
    "f": (5.0, 7.0), "cauchy": (), "laplace": (), "logistic": (), "gumbel": (), "weibull_min": (1.0, 2.0),
    "pareto": (3.0,), "rayleigh": (1.0,), "maxwell": (), "lognormal": (0.5,), "triangular": (0.0, 1.0, 2.0),
    "wald": (1.0,), "geometric": (0.3,), "poisson": (4.0,), "binomial": (100, 0.3), "rademacher": (),
    "permutation": (), "dirichlet": (), "categorical": (), "choice": (), "multinomial": (),
    "multivariate_normal": (), "orthogonal": (), "ball": (),
}  # fmt: skip
FIRST_CALLS = """
import json, sys, time
import numpy as np
import {name} as lib, {name}.numpy as xnp
from {name} import random
special = {{
    "permutation": lambda key: random.permutation(key, 1000),
    "dirichlet": lambda key: random.dirichlet(key, np.ones(5, np.float32), (1000,)),
    "categorical": lambda key: random.categorical(key, np.zeros(10, np.float32), shape=(1000,)),
    "choice": lambda key: random.choice(key, 1000, (10,), replace=False),
    "multinomial": lambda key: random.multinomial(key, 10, np.ones(5, np.float32) / 5),
    "multivariate_normal": lambda key: random.multivariate_normal(
        key, np.zeros(3, np.float32), np.eye(3, dtype=np.float32), (1000,)),
    "orthogonal": lambda key: random.orthogonal(key, 4, (10,)),
    "ball": lambda key: random.ball(key, 3, 2, (1000,)),
}}
calls = json.loads(sys.argv[1])
lib.block_until_ready(xnp.ones(3) + 1)
key = lib.block_until_ready(random.key(1))
spent = {{}}
for name, parameters in calls.items():
    shape = () if name == "randint" else ((1000,),)
    call = special.get(name) or (lambda key: getattr(random, name)(key, *parameters, *shape))
    start = time.perf_counter()
    lib.block_until_ready(call(key))
    spent[name] = time.perf_counter() - start
print(json.dumps(spent))
"""


@functools.cache
def first_calls(name: str) -> dict[str, float]:
    """Seconds of the first call of each distribution."""
    argv = [sys.executable, "-c", FIRST_CALLS.format(name=name), json.dumps(CALLS)]
    done = subprocess.run(
        argv, stdout=subprocess.PIPE, check=True, env=os.environ | {"XCORE_CACHE": "0"}
    )
    return json.loads(done.stdout)


for name in CALLS:
    bench.value(f"first call of {name}", bar=0.5, unit="s")(
        lambda lib, name=name: first_calls(lib.name)[name]
    )


if __name__ == "__main__":
    bench.main()
