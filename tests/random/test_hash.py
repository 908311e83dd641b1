"""The hashes give the published answers, and are one operation to every transformation."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import random

# Random123's known answers: generator, rounds, then (counter, key, result) in hexadecimal words.
KNOWN = {
    ("philox2x32", 7): [
        ("00000000 00000000", "00000000", "257a3673 cd26be2a"),
        ("ffffffff ffffffff", "ffffffff", "ab302c4d 3dc9d239"),
        ("243f6a88 85a308d3", "13198a2e", "bedbbe6b e4c770b3"),
    ],
    ("philox2x32", 10): [
        ("00000000 00000000", "00000000", "ff1dae59 6cd10df2"),
        ("ffffffff ffffffff", "ffffffff", "2c3f628b ab4fd7ad"),
        ("243f6a88 85a308d3", "13198a2e", "dd7ce038 f62a4c12"),
    ],
    ("philox4x32", 7): [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000",
            "5f6fb709 0d893f64 4f121f81 4f730a48",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff",
            "5207ddc2 45165e59 4d8ee751 8c52f662",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "4dfccaba 190a87f0 c47362ba b6b5242a",
        ),
    ],
    ("philox4x32", 10): [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000",
            "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff",
            "408f276d 41c83b0e a20bc7c6 6d5451fd",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
    ("threefry2x32", 13): [
        ("00000000 00000000", "00000000 00000000", "9d1c5ec6 8bd50731"),
        ("ffffffff ffffffff", "ffffffff ffffffff", "fd36d048 2d17272c"),
        ("243f6a88 85a308d3", "13198a2e 03707344", "ba3e4725 f27d669e"),
    ],
    ("threefry2x32", 20): [
        ("00000000 00000000", "00000000 00000000", "6b200159 99ba4efe"),
        ("ffffffff ffffffff", "ffffffff ffffffff", "1cb996fc bb002be7"),
        ("243f6a88 85a308d3", "13198a2e 03707344", "c4923a9c 483df7a0"),
    ],
    ("threefry2x32", 32): [
        ("00000000 00000000", "00000000 00000000", "cee3d47e a23dfd5c"),
        ("ffffffff ffffffff", "ffffffff ffffffff", "6e2fe0d0 b1b76f82"),
        ("243f6a88 85a308d3", "13198a2e 03707344", "e2827716 c3c05cdf"),
    ],
    ("threefry4x32", 13): [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000 00000000 00000000",
            "531c7e4f 39491ee5 2c855a92 3d6abf9a",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff ffffffff ffffffff",
            "c4189358 1c9cc83a d5881c67 6a0a89e0",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0 082efa98 ec4e6c89",
            "4aa71d8f 734738c2 431fc6a8 ae6debf1",
        ),
    ],
    ("threefry4x32", 20): [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000 00000000 00000000",
            "9c6ca96a e17eae66 fc10ecd4 5256a7d8",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff ffffffff ffffffff",
            "2a881696 57012287 f6c7446e a16a6732",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0 082efa98 ec4e6c89",
            "59cd1dbb b8879579 86b5d00c ac8b6d84",
        ),
    ],
    ("threefry4x32", 72): [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000 00000000 00000000",
            "93171da6 9220326d b392b7b1 ff58a002",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff ffffffff ffffffff",
            "60743f3d 9961e684 aab21c34 8c65fb7d",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0 082efa98 ec4e6c89",
            "09930adf 7f27bd55 9ed68ce1 97f803f6",
        ),
    ],
}  # fmt: skip
DEFAULT_ROUNDS = {"threefry2x32": 20, "threefry4x32": 20, "philox2x32": 10, "philox4x32": 10}


def words(rows):
    return np.array([[int(word, 16) for word in row.split()] for row in rows], np.uint32)


@pytest.mark.parametrize(("name", "rounds"), KNOWN)
def test_known_answers(name, rounds):
    counter, key, result = (words(column) for column in zip(*KNOWN[name, rounds], strict=True))
    assert np.array_equal(getattr(random, name)(key, counter, rounds), result)


@pytest.mark.parametrize("name", DEFAULT_ROUNDS)
def test_default_rounds(name):
    rounds = DEFAULT_ROUNDS[name]
    counter, key, result = (words(column) for column in zip(*KNOWN[name, rounds], strict=True))
    assert np.array_equal(getattr(random, name)(key, counter), result)


def test_one_equation_in_a_program():
    zeros = xnp.zeros(2, "uint32")
    program = xc.make_jaxpr(lambda c: random.threefry2x32(zeros, c))(zeros)
    assert sum(e.op.name == "threefry2x32" for e in program.eqns) == 1


def test_batch_rule():
    counters = np.arange(12, dtype=np.uint32).reshape(6, 2)
    key = np.array([1, 2], np.uint32)
    mapped = xc.vmap(lambda c: random.threefry2x32(key, c))(counters)
    assert np.array_equal(mapped, random.threefry2x32(key, counters))


def test_words_are_checked():
    with pytest.raises(
        ValueError, match="key must be an array of words whose last axis has length 2"
    ):
        random.threefry2x32(xnp.zeros(3, "uint32"), xnp.zeros(2, "uint32"))
