"""A batch of matrices factorised on four devices; prints the program. test_ffi runs it."""

import numpy as np
from jaxlib import xla_client as xla
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy

from xcore._backend import client, hlo, options


class Type:
    """Shape and dtype of an array, as the runtime reads them."""

    weak_type = False

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.ndim, self.size = len(shape), int(np.prod(shape))


def split(ndim):
    """The sharding of an array whose first axis is split."""
    first = sdy.DimensionShardingAttr.get([sdy.AxisRefAttr.get("x")], True)
    others = [sdy.DimensionShardingAttr.get([], True)] * (ndim - 1)
    return ir.DictAttr.get({"sdy.sharding": sdy.TensorShardingAttr.get("mesh", [first, *others])})


def compiled(devices, matrices, numbers):
    builder = hlo.Builder("cpu", len(devices))
    with ir.InsertionPoint(builder.module.body):
        axes = [sdy.MeshAxisAttr.get("x", len(devices))]
        sdy.mesh("mesh", sdy.MeshAttr.get(axes), loc=builder.location)
    kinds = [builder.type(matrices), builder.type(numbers)]
    main = builder.function(
        "main", kinds[:1], kinds[:1],
        lambda a: builder.routine("potrf", matrices.dtype, [a], kinds, lower=True)[:1], public=True,
    )  # fmt: skip
    main.arg_attrs = ir.ArrayAttr.get([split(3)])
    flags = options.compile_options(devices, partitions=len(devices))
    loaded = client.compile_module(builder.module, devices, flags)
    builder.close()
    return loaded


def main():
    devices = tuple(client.client("cpu").devices())
    x = np.random.default_rng(0).standard_normal((8, 3, 3))
    a = x @ x.swapaxes(-1, -2) + np.eye(3)
    matrices = Type(a.shape, a.dtype)
    loaded = compiled(devices, matrices, Type((8,), "int32"))
    spread = client.Spread(devices, xla.HloSharding.iota_tile((len(devices), 1, 1)))
    run = client.Executable(loaded, [matrices], [spread], devices)
    (factors,) = run([client.put_sharded(matrices, spread, np.split(a, len(devices)), devices)])
    got = np.concatenate([client.to_host(shard) for shard in client.shards(factors)])
    np.testing.assert_allclose(np.tril(got), np.linalg.cholesky(a), rtol=1e-14)
    print(loaded.hlo_modules()[0].to_string())


if __name__ == "__main__":
    main()
