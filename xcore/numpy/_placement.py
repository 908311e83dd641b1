"""Where results lie: on a device, or spread over several."""

from __future__ import annotations

import functools

from .._core import Array, Literal, Value, errors
from .._core.devices import device_put
from .._core.sharding import NamedSharding, as_sharding
from .._ops.sharding import sharding_constraint
from ._promote import as_array


def spreads(f):
    """A function whose parameter ``out_sharding`` says how its result is laid out over devices."""
    who = f"{'lax' if '_lax' in f.__module__ else 'numpy'}.{f.__name__}"

    @functools.wraps(f)
    def spread(*args, out_sharding=None, **kwargs):
        out = f(*args, **kwargs)
        return out if out_sharding is None else laid_out(who, out, out_sharding)

    return spread


def laid_out(who: str, x, sharding):
    """An array laid out by a sharding, or by a PartitionSpec of the mesh of the context.

    A sharding over a mesh without axes, as types of arrays on one device tell it, says nothing.
    """
    if sharding is None or _says_nothing(sharding):
        return as_array(who, x)
    return sharding_constraint(as_array(who, x), sharding=as_sharding(who, sharding))


def _says_nothing(sharding) -> bool:
    return isinstance(sharding, NamedSharding) and sharding.mesh.empty


def placement(who: str, device, out_sharding):
    """The device or sharding that a function was given under either name."""
    if out_sharding is None or _says_nothing(out_sharding):
        return device
    if device is None:
        return as_sharding(who, out_sharding)
    raise errors.bad_argument(
        who, "device", device, "None where out_sharding is given", "Give one of the two."
    )


def on_device(x, device):
    """The array on a device, or laid out by a sharding; in a program a device is the program's own."""
    if device is None or type(x) is Array:
        return x if device is None else device_put(x, device)
    if isinstance(device, str) or not isinstance(x, (Value, Literal)):
        return x
    sharding = as_sharding("numpy", device)
    return x if len(sharding.devices) == 1 else sharding_constraint(x, sharding=sharding)
