"""Keras 3 with its backend for JAX: models, layers, training loops, operations, files."""

import os
import tempfile

os.environ.setdefault("KERAS_BACKEND", "jax")

import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import layers, ops

RNG = np.random.default_rng(27)
X = RNG.normal(size=(64, 8)).astype("float32")
Y = (X[:, :3].sum(1) > 0).astype("int32")


def _drawn(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("float32")


def _weighted(model):
    """The model with weights that do not depend on how they are drawn."""
    for i, v in enumerate(model.trainable_variables):
        v.assign(0.3 * np.random.default_rng(i).normal(size=v.shape).astype("float32"))
    return model


def first_example():
    model = _weighted(
        keras.Sequential([keras.Input((8,)), layers.Dense(16, "relu"), layers.Dense(2)])
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    seen = model.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0).history
    return (
        seen["loss"],
        seen["accuracy"],
        model.predict(X[:5], verbose=0),
        model.evaluate(X, Y, verbose=0),
    )


def images_of_any_size():
    given = keras.Input((None, None, 3))
    x = layers.Conv2D(4, 3, strides=2, padding="same", activation="gelu")(given)
    x = layers.DepthwiseConv2D(3)(layers.BatchNormalization()(x))
    x = layers.UpSampling2D()(layers.MaxPooling2D()(x))
    model = _weighted(keras.Model(given, layers.Dense(2)(layers.GlobalAveragePooling2D()(x))))
    known = [np.array([-1 if n is None else n for n in v.output.shape]) for v in model.layers]
    return known, model(_drawn(2, 17, 13, 3)), model(_drawn(1, 24, 24, 3), training=True)


def recurrent_nets():
    given = keras.Input((None,), dtype="int32")
    x = layers.Embedding(11, 6, mask_zero=True)(given)
    x = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(x)
    model = _weighted(keras.Model(given, layers.Dense(1)(layers.GRU(4)(x))))
    words = np.random.default_rng(3).integers(0, 11, (6, 9))
    model.compile("rmsprop", "mse")
    seen = model.fit(words, np.ones(6), epochs=2, shuffle=False, verbose=0).history["loss"]
    return seen, model.predict(words, verbose=0)


def attention_of_two_inputs():
    query, value = keras.Input((None, 8)), keras.Input((5, 8))
    x = layers.MultiHeadAttention(2, 4)(query, value)
    x = layers.LayerNormalization()(layers.Add()([query, x]))
    x = layers.Concatenate()([x, layers.EinsumDense("abc,cd->abd", output_shape=(None, 3))(x)])
    model = _weighted(keras.Model([query, value], [x, layers.GlobalMaxPooling1D()(x)]))
    return model([_drawn(2, 7, 8), _drawn(3, 5, 8)[:2]])


class _Scale(layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1],), initializer="ones", name="w")
        self.seen = self.add_weight(initializer="zeros", trainable=False, name="seen")

    def call(self, x):
        self.seen.assign_add(1.0)
        return x * self.w


def loop_of_ones_own():
    model = _weighted(keras.Sequential([keras.Input((8,)), _Scale(), layers.Dense(1)]))
    optimizer = keras.optimizers.AdamW(0.01)
    optimizer.build(model.trainable_variables)

    def loss(trained, fixed, x, y):
        found, fixed = model.stateless_call(trained, fixed, x, training=True)
        return ((found[:, 0] - y) ** 2).mean(), fixed

    @jax.jit
    def step(trained, fixed, state, x, y):
        (value, fixed), slopes = jax.value_and_grad(loss, has_aux=True)(trained, fixed, x, y)
        trained, state = optimizer.stateless_apply(state, slopes, trained)
        return trained, fixed, state, value

    trained = [v.value for v in model.trainable_variables]
    fixed, state = (
        [v.value for v in model.non_trainable_variables],
        [v.value for v in optimizer.variables],
    )
    values = []
    for _ in range(4):
        trained, fixed, state, value = step(trained, fixed, state, X, Y.astype("float32"))
        values.append(value)
    return values, trained, fixed


def operations():
    x, ids = _drawn(6, 4), np.array([0, 0, 2, 2, 1, 1])
    return {
        "einsum": ops.einsum("ij,kj->ik", x, x), "segments": ops.segment_sum(x, ids, 3), "best": ops.top_k(x, 2),
        "scan": ops.scan(lambda c, v: (c + v, c * v), np.zeros(4, "f"), x),
        "while": ops.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), (0, x[0])),
        "cond": ops.cond(x[0, 0] > 0, lambda: x[0], lambda: -x[0]), "map": ops.vectorized_map(ops.sort, x),
        "resize": ops.image.resize(_drawn(1, 4, 4, 1), (7, 5)), "fft": ops.fft2((x, 0 * x)),
        "pool": ops.average_pool(x[None, ..., None], 2, strides=2), "qr": ops.abs(ops.qr(x)[1]), "lengths": ops.normalize(x, axis=1),
        "hot": ops.one_hot(ids, 3), "put": ops.scatter_update(x, [[1], [3]], x[:2]), "erf": ops.erf(x),
        "solved": ops.solve_triangular(np.stack([np.tril(x[:4]) + 3 * np.eye(4, dtype="f")] * 2), x[:2], lower=True),
    }  # fmt: skip


def losses_and_metrics():
    y, p = np.abs(_drawn(5, 3)), np.abs(_drawn(3, 5)).T
    p, y = p / p.sum(1, keepdims=True), y / y.sum(1, keepdims=True)
    names = "CategoricalCrossentropy KLDivergence Poisson LogCosh Huber CosineSimilarity MeanSquaredLogarithmicError"
    told = [getattr(keras.losses, n)()(y, p) for n in names.split()]
    counts = [
        keras.metrics.AUC(num_thresholds=20),
        keras.metrics.F1Score(average="macro"),
        keras.metrics.TopKCategoricalAccuracy(2),
    ]
    hot = np.eye(3, dtype="float32")[y.argmax(1)]
    for m in counts:
        m.update_state(hot, p)
    return told, [m.result() for m in counts]


def optimizers():
    found = {}
    for name in "SGD RMSprop Adam Adagrad Adadelta Nadam Ftrl Lion Adamax Adafactor".split():
        optimizer, v = getattr(keras.optimizers, name)(), keras.Variable(_drawn(4))
        for k in range(3):
            optimizer.apply([v.value * (k + 1)], [v])
        found[name] = v.value
    schedule = keras.optimizers.schedules.CosineDecay(0.1, 10, warmup_steps=3, warmup_target=0.2)
    return found, [schedule(k) for k in range(0, 14, 3)]


def files():
    model = _weighted(
        keras.Sequential([keras.Input((8,)), layers.Dense(3, "tanh"), layers.Dense(1)])
    )
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.keras")
        again = keras.models.load_model(f"{folder}/model.keras")
        model.save_weights(f"{folder}/model.weights.h5")
        other = keras.models.clone_model(model)
        other.load_weights(f"{folder}/model.weights.h5")
    return [m.predict(X[:4], verbose=0) for m in (model, again, other)], jnp.asarray(
        again.count_params()
    )


def preparation_and_precision():
    normal = layers.Normalization()
    normal.adapt(X)
    narrow = _weighted(
        keras.Sequential([keras.Input((8,)), layers.Dense(4, dtype="mixed_float16")])
    )
    cut = layers.Discretization(bin_boundaries=[-1.0, 0.0, 1.0])(X[:3])
    coded = layers.CategoryEncoding(num_tokens=4, output_mode="multi_hot")(cut)
    return (
        normal(X[:4]),
        ops.cast(narrow(X[:4]), "float32"),
        cut,
        coded,
        layers.Rescaling(2.0, 1.0)(X[:2]),
    )
