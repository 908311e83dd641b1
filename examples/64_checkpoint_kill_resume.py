"""What remains of a run that is killed?

A training process writes a checkpoint every few steps, in the background, and is killed in the
middle. A second one restores the last checkpoint, on another mesh, and goes on; in the end it has
the parameters of a run that nobody has killed, to the last bit that the order of sums allows.
"""

import os
import subprocess
import sys
import tempfile

STEPS = 400


def train(folder: str, shape: tuple, stop: bool) -> None:
    import numpy as np

    import xcore as xc
    import xcore.numpy as xnp
    from xcore.sharding import NamedSharding, P

    mesh = xc.make_mesh(shape, ("x", "y"))
    split = NamedSharding(mesh, P("x", "y"))
    rng = np.random.default_rng(0)
    state = {
        "w": xc.device_put(rng.standard_normal((16, 8)).astype("f") / 4, split),
        "velocity": xc.device_put(np.zeros((16, 8), "f"), split),
        "key": xc.random.key(7),
        "step": 0,
    }

    def loss(w, x):
        return ((xnp.tanh(x @ w) - xnp.sin(x[:, :8])) ** 2).mean()

    @xc.jit
    def update(w, v, key):
        key, now = xc.random.split(key)
        value, g = xc.value_and_grad(loss)(w, xc.random.normal(now, (64, 16)))
        v = 0.9 * v - 0.05 * g
        return w + v, v, key, value

    with xc.checkpoint.Checkpointer(folder, keep=2) as checkpoints:
        last = checkpoints.latest_step()
        if last is not None:
            state = checkpoints.restore(state)
            print(f"resumes at step {state['step']} on a {shape[0]} × {shape[1]} mesh", flush=True)
        for i in range(state["step"], STEPS):
            w, v, key, value = update(state["w"], state["velocity"], state["key"])
            state = {"w": w, "velocity": v, "key": key, "step": i + 1}
            if (i + 1) % 20 == 0:
                checkpoints.save(i + 1, state, metadata={"loss": float(value)})
            if stop and i == 250:
                print("is killed at step 250", flush=True)
                os.kill(os.getpid(), 9)
    print(f"ends at step {state['step']} with loss {float(value):.4f}", flush=True)


def start(folder, shape, stop="") -> int:
    env = dict(os.environ, XCORE_NUM_CPU_DEVICES="8")
    command = [sys.executable, __file__, folder, *map(str, shape), stop]
    return subprocess.run(command, env=env, timeout=300).returncode


def main() -> None:
    import numpy as np

    import xcore as xc

    with tempfile.TemporaryDirectory() as folder:
        print("a run without a mishap:", flush=True)
        assert start(f"{folder}/whole", (4, 2)) == 0
        print("a run that is killed:", flush=True)
        assert start(f"{folder}/killed", (4, 2), "stop") == -9
        print("its successor:", flush=True)
        assert start(f"{folder}/killed", (2, 4)) == 0
        ends = [
            xc.checkpoint.restore(f"{folder}/{name}/{STEPS}")["w"] for name in ("whole", "killed")
        ]
    difference = np.abs(np.asarray(ends[0]) - np.asarray(ends[1])).max()
    print(f"largest difference of the parameters: {difference:.1e}")
    assert difference < 1e-5


if __name__ == "__main__":
    if len(sys.argv) > 1:
        train(sys.argv[1], (int(sys.argv[2]), int(sys.argv[3])), sys.argv[4] == "stop")
    else:
        main()
