"""What is left of a matrix product if one only has the inner product of two vectors?

`vmap` makes a product of a matrix and a vector of it, and `pmap` one of two matrices, a column for
each device. With a name for the mapped axis devices can also talk: here each divides by the sum.
"""

import os

os.environ.setdefault("XCORE_NUM_CPU_DEVICES", "8")

import numpy as np

import xcore as xc
import xcore.numpy as xnp

vv = xnp.vdot  # ([a], [a]) -> []
mv = xc.vmap(vv, (0, None), 0)  # ([b,a], [a]) -> [b]
mm = xc.pmap(mv, in_axes=(None, 1), out_axes=1)  # ([b,a], [a,c]) -> [b,c], a device for each c

rng = np.random.default_rng(0)
a = rng.standard_normal((3, 5)).astype("f")
b = rng.standard_normal((5, 8)).astype("f")
product = mm(a, b)
print(f"devices: {len(product.devices())}, error: {abs(product - a @ b).max():.1e}")
xc.debug.visualize_array_sharding(product)
assert np.allclose(product, a @ b, atol=1e-5)

share = xc.pmap(lambda v: v / xc.lax.psum(v, "devices"), axis_name="devices")
print("shares of the sum:", share(xnp.arange(8.0)))

shifted = xc.pmap(
    lambda v: xc.lax.ppermute(v, "devices", [(i, (i + 1) % 8) for i in range(8)]),
    axis_name="devices",
)
print("each to the right:", shifted(xnp.arange(8)))
