"""``jax.experimental.rnn``: LSTMs whose weights lie one after the other, as cuDNN has them."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

import xcore as xc
import xcore.numpy as xnp

from .. import nn


def _shapes(input_size: int, hidden_size: int, num_layers: int, bidirectional: bool):
    """Shapes of all weights for inputs and for states, layer by layer; then those of all biases."""
    sides, gates = (2 if bidirectional else 1), 4 * hidden_size
    of_layers = [input_size] + [hidden_size * sides] * (num_layers - 1)
    weights = [(gates, n) for size in of_layers for _ in range(sides) for n in (size, hidden_size)]
    return weights, [(gates,)] * len(weights)


def get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional) -> int:
    weights, biases = _shapes(input_size, hidden_size, num_layers, bidirectional)
    return sum(math.prod(s) for s in weights + biases)


def init_lstm_weight(rng, input_size, hidden_size, num_layers, bidirectional):
    """Weights between ±1/√hidden_size."""
    n = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    k = np.sqrt(1.0 / hidden_size)
    return xc.random.uniform(rng, (n,), np.float32, -k, k)


def unpack_lstm_weights(weights, input_size, hidden_size, num_layers, bidirectional):
    """(W_ih, W_hh, b_ih, b_hh), of each a dict by layers (and directions)."""
    found, at = [], 0
    weights_, biases = _shapes(input_size, hidden_size, num_layers, bidirectional)
    for shape in weights_ + biases:
        n = math.prod(shape)
        found.append(weights[at : at + n].reshape(shape))
        at += n
    half = len(found) // 2
    parts = found[:half:2], found[1:half:2], found[half::2], found[half + 1 :: 2]
    return tuple(dict(enumerate(p)) for p in parts)


def swap_lstm_gates(weights, input_size, hidden_size, num_layers, bidirectional):
    """The same with the third and the fourth gate exchanged."""

    def swapped(w):
        i, f, g, o = xnp.split(w, 4, 0)
        return xnp.concatenate([i, f, o, g], 0).ravel()

    parts = unpack_lstm_weights(weights, input_size, hidden_size, num_layers, bidirectional)
    w_ih, w_hh, b_ih, b_hh = parts
    order = [x for a, b in ((w_ih, w_hh), (b_ih, b_hh)) for i in a for x in (a[i], b[i])]
    return xnp.concatenate([swapped(x) for x in order])


def _cell(w_ih, w_hh, b_ih, b_hh, carry, x):
    h, c = carry
    i, f, g, o = xnp.split(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 4, -1)
    c = nn.sigmoid(f) * c + nn.sigmoid(i) * xnp.tanh(g)
    h = nn.sigmoid(o) * xnp.tanh(c)
    return (h, c), (h, c)


def _reversed_in_time(x, lengths):
    """Each sequence (time, batch, …) from its own end to its beginning, and padding where it was."""
    steps = xnp.arange(x.shape[0])[:, None]
    place = xnp.where(steps < lengths, lengths - 1 - steps, steps)
    return xnp.take_along_axis(x, place[..., None], 0)


def lstm_ref(x, h_0, c_0, W_ih, W_hh, b_ih, b_hh, seq_lengths, input_size, hidden_size, num_layers,
             dropout, bidirectional):  # fmt: skip
    """Layers of LSTM over (batch, time, features): all states of the last layer, last h and c of all."""
    if dropout:
        raise NotImplementedError("xcore.as_jax: lstm has no dropout; put it between layers.")
    lengths = xnp.asarray(seq_lengths)
    sides, seq = (2 if bidirectional else 1), xnp.swapaxes(xnp.asarray(x), 0, 1)
    last_h, last_c = [], []
    for layer in range(num_layers):
        outs = []
        for side in range(sides):
            j = layer * sides + side
            cell = partial(_cell, W_ih[j], W_hh[j], b_ih[j], b_hh[j])
            given = _reversed_in_time(seq, lengths) if side else seq
            _, (h, c) = xc.lax.scan(cell, (h_0[j], c_0[j]), given)
            ends = (lengths - 1)[None, :, None]
            last_h.append(xnp.take_along_axis(h, ends, 0)[0])
            last_c.append(xnp.take_along_axis(c, ends, 0)[0])
            outs.append(_reversed_in_time(h, lengths) if side else h)
        inside = xnp.arange(seq.shape[0])[:, None, None] < lengths[:, None]
        seq = xnp.where(inside, xnp.concatenate(outs, -1), 0)
    return xnp.swapaxes(seq, 0, 1), xnp.stack(last_h), xnp.stack(last_c)


def lstm(x, h_0, c_0, weights, seq_lengths, input_size, hidden_size, num_layers, dropout,
         bidirectional, precision=None):  # fmt: skip
    """The same with the weights in one array."""
    parts = unpack_lstm_weights(weights, input_size, hidden_size, num_layers, bidirectional)
    return lstm_ref(
        x,
        h_0,
        c_0,
        *parts,
        seq_lengths,
        input_size,
        hidden_size,
        num_layers,
        dropout,
        bidirectional,
    )
