"""Solvers and libraries by the names that users of SciPy, Optax and JAX look for."""

# pyright: standard, reportUnusedExpression=false

from typing import assert_type

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy as xsp
from xcore import tree


def solvers(a: xc.Array, b: xc.Array) -> None:
    xc.linalg.solve  # each name is found, and is public
    xc.linalg.linear_solve
    xc.optimize.minimize
    xc.optimize.adam
    xc.pde.solve
    xc.decomp.cp_als
    xc.scipy.linalg.lu_factor
    xsp.sparse.linalg.cg
    xsp.optimize.minimize
    xc.example_libraries.stax
    xc.experimental.io_callback
    xc.checkpoint.save
    xc.config.override
    xc.debug.print("x = {x}", x=a)
    xc.tree_util.tree_map
    xc.sharding.NamedSharding
    xc.errors.ShapeError


def containers(x: xc.Array) -> None:
    tree.leaves({"a": x})
    xc.tree.map(xnp.sin, {"a": x})


def devices(x: xc.Array) -> None:
    xc.device_put(x, xc.devices()[0])
    with xc.disable_jit(), xc.enable_x64():
        x.devices()
    mesh = xc.make_mesh((1,), ("x",))
    xc.device_put(x, xc.NamedSharding(mesh, xc.P("x")))


@xc.tree.struct
class Model:
    w: xc.Array
    layers: int = xc.tree.static(default=1)


assert_type(Model(xnp.ones(3)).layers, int)
Model(xnp.ones(3), layers=2)
