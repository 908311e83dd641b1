"""Run here what is lowered for another platform, as far as it calls no library of that platform."""

from __future__ import annotations

import numpy as np

import xcore as xc
from xcore._backend import client as backend
from xcore._backend.options import compile_options, hasty_options, keep_barriers
from xcore._core import compile, tree
from xcore._core.eval import execute, to_array


def run_as(platform: str, f, *args):
    """``f(*args)`` by the program that a platform would get, compiled for the CPU."""
    traced = xc.jit(f).trace(*args)
    p, devices = traced.program, (backend.client("cpu").local_devices()[0],)
    with compile.lowering().lowered(p, platform, verify=True) as ctx:
        options = compile_options(devices, options=hasty_options(devices[0]))
        if ctx.barriers:
            keep_barriers(options)
        loaded = backend.compile_module(ctx.module, devices, options, ctx.callbacks)
        keep = (p, ctx.callbacks)
    types = [compile.placed(t, devices[0]) for t in p.out_types]
    place = [backend.one_device(devices[0])] * len(types)
    exe = backend.Executable(loaded, types, place, devices, False, keep)
    arrays = [to_array(x) for x in [*traced._found.captured, *tree.leaves(args)]]
    outs = execute(exe, [xc.device_put(x, devices[0]) for x in arrays])
    return tree.map(np.asarray, tree.unflatten(traced.out_tree, outs))
