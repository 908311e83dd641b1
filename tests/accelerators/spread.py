"""Programs over four devices that are not here: ``python -m tests.accelerators.spread h200``.

Prints what each exchanges, as XLA's compiler wrote it: the operation, and which devices take part.
"""

import json
import re
import sys

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, pde, sparse
from xcore.sharding import NamedSharding, P

COUNT = 4
GROUPS = [[0, 3], [1, 2]]
X = P("x")
RING = [(0, 1), (1, 3), (3, 0)]
EXCHANGE = re.compile(
    r" = .*? (all-reduce|all-gather|all-to-all|ragged-all-to-all|collective-permute|reduce-scatter)(?:-start)?\((.*)"
)


def groups_of(text: str) -> list:
    """The devices of each group, from one of three forms.

    >>> groups_of("replica_groups={{0,3},{1,2}}, x"), groups_of("replica_groups=[2,2]<=[2,2]T(1,0)")
    ([[0, 3], [1, 2]], [[0, 2], [1, 3]])
    >>> groups_of("replica_groups=mesh['a'=2,'b'=2] {'a'}")
    [[0, 2], [1, 3]]
    """
    if mesh := re.search(r"replica_groups=mesh\[([^\]]*)\] \{([^}]*)\}", text):
        sizes = {k: int(n) for k, n in re.findall(r"'(\w+)'=(\d+)", mesh[1])}
        last = [list(sizes).index(k) for k in re.findall(r"'(\w+)'", mesh[2])]
        order = [i for i in range(len(sizes)) if i not in last] + last
        size = int(np.prod([[*sizes.values()][i] for i in last]))
        devices = np.arange(np.prod([*sizes.values()])).reshape([*sizes.values()])
        return devices.transpose(order).reshape(-1, size).tolist()
    if listed := re.search(r"(?:replica_groups|source_target_pairs)=\{(\{[\d,{} ]*\})\}", text):
        return [[int(n) for n in g.split(",")] for g in re.findall(r"\{([\d, ]+)\}", listed[1])]
    found = re.search(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if not found:
        return []
    shape, sides, perm = ([int(n) for n in x.split(",")] if x else None for x in found.groups())
    return np.arange(np.prod(sides)).reshape(sides).transpose(perm).reshape(shape).tolist()


def exchanges(text: str) -> list:
    """[operation, groups] of each line of compiled text that exchanges something."""
    return [[m[1], groups_of(m[2])] for m in map(EXCHANGE.search, text.splitlines()) if m]


def programs(mesh):
    """(name, function, arguments)"""

    def spread(*shape, spec=X, dtype="float32"):
        return xc.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))

    def over(f, out=X):
        return xc.shard_map(f, mesh, X, out)

    x, a = spread(1024), spread(512, 512)
    collectives = {
        "psum": over(lambda v: lax.psum(v, "x"), P()),
        "pmax": over(lambda v: lax.pmax(v, "x"), P()),
        "psum in groups": over(lambda v: lax.psum(v, "x", axis_index_groups=GROUPS)),
        "all_gather": over(lambda v: lax.all_gather(v, "x", tiled=True) * 2),
        "psum_scatter": over(lambda v: lax.psum_scatter(v, "x", tiled=True)),
        "all_to_all": over(lambda v: lax.all_to_all(v, "x", 0, 0, tiled=True)),
        "ppermute": over(lambda v: lax.ppermute(v, "x", RING)),
        "elementwise": lambda v: xnp.sin(v) + 1,
        "sum": lambda v: v.sum(),
        "shift": lambda v: v - xnp.roll(v, 1),
        "scan": lambda v: lax.scan(lambda c, u: (c + u.sum(), None), 0.0, v.reshape(4, -1).T)[0],
    }
    for name, f in collectives.items():
        yield name, f, (x,)

    def loss(w, x):
        return (xnp.tanh(x @ w) ** 2).mean()

    yield "gradient of a batch", xc.grad(loss), (spread(512, 512, spec=P()), a)
    yield "product, contracted", lambda a, b: a @ b, (spread(512, 512, spec=P(None, "x")), a)
    yield "product, rows", lambda a, b: a @ b, (a, spread(512, 512, spec=P()))
    ring = over(lambda v: lax.ppermute(lax.psum(v, "x", axis_index_groups=GROUPS), "x", RING))
    made = xc.export.export(xc.jit(ring), platforms=["cuda", "tpu"])(x)
    read = xc.export.deserialize(made.serialize())
    yield "exported", read.call, (x,)
    backwards = xc.sharding.Mesh(mesh.devices[::-1], "y")
    there = xc.ShapeDtypeStruct((1024,), "float32", sharding=NamedSharding(backwards, P("y")))
    yield "exported, on devices in another order", read.call, (there,)
    grid = pde.Grid((64, 65))
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(32, 32))
    five = sparse.kronsum(line, line)
    rows = lambda v: sparse.shard_rows(five.like(v), mesh)
    values = spread(five.nnz, spec=P())
    yield "sparse rows", lambda x, v: rows(v) @ x, (x, values)
    yield "gradient of sparse rows", xc.grad(lambda x, v: (rows(v) @ x).sum()), (x, values)
    yield "poisson", lambda f: pde.poisson(f, grid), (spread(63, 64, spec=P(None, "x")),)
    yield "transform of rows", xnp.fft.rfft, (a,)
    yield "transform of columns", lambda a: xnp.fft.rfft(a, axis=0), (a,)
    yield (
        "poisson, long lines",
        lambda f: pde.poisson(f, pde.Grid((4097, 4097))),
        (spread(4096, 4096),),
    )
    yield "poisson, even", lambda f: pde.poisson(f, pde.Grid((65, 65))), (spread(64, 64),)


def main() -> None:
    """A line for each program."""
    here = xc.topology(sys.argv[1], COUNT)
    mesh = xc.make_mesh((COUNT,), "x", devices=here.devices)
    for name, f, args in programs(mesh):
        try:
            made = xc.jit(f, donate_argnums=0).lower(*args).compile()
        except Exception as e:
            print(json.dumps({"name": name, "fails": f"{type(e).__name__}: {e}"[:400]}), flush=True)
            continue
        memory = made.memory_analysis()
        said = {"exchanges": exchanges(made.as_text()), "alias": memory.alias_size_in_bytes}
        print(
            json.dumps({"name": name, "arguments": memory.argument_size_in_bytes, **said}),
            flush=True,
        )


if __name__ == "__main__":
    main()
