"""orbax: trees of arrays on disk, step by step."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

TREE = {"a": jnp.arange(4.0), "b": {"c": jnp.ones((2, 3), jnp.int32), "d": 3}, "e": np.arange(3)}


def first_example():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one"
        with ocp.StandardCheckpointer() as saver:
            saver.save(path, TREE)
            saver.wait_until_finished()
            return saver.restore(path)


def restored_as_shapes_say():
    with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as saver:
        tree = {"w": jnp.arange(6.0).reshape(2, 3), "h": jnp.ones(2, jnp.bfloat16)}
        saver.save(Path(folder) / "x", tree)
        saver.wait_until_finished()
        like = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(x.shape, jnp.float32, sharding=x.sharding), tree
        )
        out = saver.restore(Path(folder) / "x", like)
        return out, jnp.asarray(
            [type(x).__name__ in ("Array", "ArrayImpl") for x in jax.tree.leaves(out)]
        )


def manager_keeps_the_last():
    with tempfile.TemporaryDirectory() as folder:
        options = ocp.CheckpointManagerOptions(max_to_keep=2)
        with ocp.CheckpointManager(folder, options=options) as manager:
            for step in range(4):
                manager.save(step, args=ocp.args.StandardSave({"x": jnp.full(2, float(step))}))
            manager.wait_until_finished()
            out = manager.restore(3, args=ocp.args.StandardRestore({"x": jnp.zeros(2)}))
            return out, jnp.asarray(manager.all_steps()), jnp.asarray(manager.latest_step())


def several_items():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "both"
        with ocp.Checkpointer(ocp.CompositeCheckpointHandler()) as saver:
            saver.save(
                path,
                args=ocp.args.Composite(
                    state=ocp.args.StandardSave({"x": jnp.ones(2)}),
                    note=ocp.args.JsonSave({"n": 3}),
                ),
            )
            out = saver.restore(path)
            return out["state"], jnp.asarray(out["note"]["n"])


def of_a_training_state():
    import flax.linen as nn
    import optax
    from flax.training import train_state

    model = nn.Dense(2)
    state = train_state.TrainState.create(
        apply_fn=model.apply,
        params=model.init(jax.random.PRNGKey(0), jnp.ones((1, 3))),
        tx=optax.adam(0.1),
    )
    with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as saver:
        saver.save(Path(folder) / "s", state)
        saver.wait_until_finished()
        again = saver.restore(Path(folder) / "s", jax.tree.map(jnp.zeros_like, state))
        return again.params, again.opt_state


def of_an_nnx_module():
    from flax import nnx

    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    _, state = nnx.split(model)
    with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as saver:
        saver.save(Path(folder) / "s", state)
        saver.wait_until_finished()
        shapes = nnx.eval_shape(lambda: nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
        graph, like = nnx.split(shapes)
        again = nnx.merge(graph, saver.restore(Path(folder) / "s", like))
        return again(jnp.ones((1, 2)))


def in_the_background():
    with tempfile.TemporaryDirectory() as folder:
        with ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler()) as saver:
            saver.save(Path(folder) / "x", args=ocp.args.StandardSave({"x": jnp.arange(3.0)}))
            saver.wait_until_finished()
            return saver.restore(Path(folder) / "x")
