"""Raw random bits on standard output, for external batteries of tests.

    python -m xcore.random.stream --impl philox | dieharder -a -g 200
    python -m xcore.random.stream --impl threefry --split 64 | RNG_test stdin32

``--split n`` takes one word in turn from each of n streams, whose keys one key is split into: what
such a battery finds wrong with it is a dependence between the streams.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator

import numpy as np

from .. import numpy as xnp
from .._control import jit, vmap
from ._keys import key, split
from ._uniform import bits_at

_WORDS = 1 << 20  # in a chunk: 4 MiB


def chunks(impl: str = "threefry2x32", seed: int = 0, streams: int = 1) -> Iterator[np.ndarray]:
    """Random words without end, in arrays of uint32.

    Args:
      impl: name of the generator.
      seed: seed of the key.
      streams: into how many streams the key is split, whose words take turns; 1 leaves it whole.

    >>> words = next(chunks("philox", seed=3))
    >>> words.dtype, words.size
    (dtype('uint32'), 1048576)
    """
    root = key(seed, impl=impl)
    keys = root.reshape(1) if streams == 1 else split(root, streams)
    length = -(-_WORDS // streams)

    @jit
    def chunk(keys, start):
        index = start + xnp.arange(length, dtype=np.uint64)
        return vmap(bits_at, in_axes=(0, None), out_axes=1)(keys, index)

    start = 0
    while True:
        yield np.asarray(chunk(keys, np.uint64(start))).ravel()
        start += length


def main(argv: list[str] | None = None) -> int:
    """What ``python -m xcore.random.stream`` does with its arguments.

    Args:
      argv: the arguments; those of the command line by default.

    >>> main(["--impl", "philox", "--bytes", "0"])
    0
    """
    parser = argparse.ArgumentParser(
        "python -m xcore.random.stream",
        description=__doc__.partition("\n")[0],  # pyright: ignore[reportOptionalMemberAccess]
    )
    parser.add_argument(
        "--impl", default="threefry2x32", help="the generator: threefry2x32 or philox4x32"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--split", type=int, default=1, metavar="N", help="words of N split streams in turn"
    )
    parser.add_argument("--bytes", type=int, metavar="N", help="stop after so many bytes")
    args = parser.parse_args(argv)
    left = float("inf") if args.bytes is None else args.bytes
    with contextlib.suppress(BrokenPipeError):
        for words in chunks(args.impl, args.seed, args.split):
            if left <= 0:
                break
            part = words.view(np.uint8)[: None if left == float("inf") else int(left)]
            sys.stdout.buffer.write(part)
            left -= part.size
        sys.stdout.flush()
        return 0
    # the reader has had enough; Python would complain once more when it closes the pipe
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
