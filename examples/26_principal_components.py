"""Forty thermometers are read for a year: how many causes move them all?

The principal components of the readings are the right singular vectors of their table, each station's mean taken away;
squares of the singular values are what each explains of the variance. Errors of the instruments alone would make
singular values up to σ (√m + √n), for m days and n stations (Marchenko and Pastur 1967): what is above that is no
chance. The readings are made up of three causes, so what is found can be compared: seasons in step and delayed by the
sea, and weather that is stronger in the west.
"""

import numpy as np
from _figures import figure

import xcore as xc

rng = np.random.default_rng(0)
days, stations, noise = 365, 40, 0.8  # noise of a thermometer, K
day = np.arange(days)
sea = rng.random(stations)  # how near it is
west = rng.normal(size=stations)
weather = np.convolve(rng.normal(size=days + 9), np.ones(10) / 10**0.5, "valid")  # lasts ten days
season = 2 * np.pi * (day - 200) / days
causes = np.stack([np.cos(season), np.sin(season), weather], 1)
shares = np.stack([12 - 6 * sea, 4 * sea, 1.5 + 0.8 * west])  # K
exact = causes @ shares
readings = 9 + 6 * sea + exact + noise * rng.normal(size=(days, stations))

found = xc.linalg.svd(readings - readings.mean(0))
scores, values, patterns = (np.asarray(x) for x in (found.U * found.S, found.S, found.Vh))
explained = values**2 / (values**2).sum()
edge = noise * (np.sqrt(days) + np.sqrt(stations))
count = int((values > edge).sum())
kept = scores[:, :count] @ patterns[:count]
errors = [np.sqrt(((x - exact + exact.mean(0)) ** 2).mean()) for x in (readings - readings.mean(0), kept)]  # fmt: skip
print("explained:", *(f"{e:.1%}" for e in explained[:5]), f"; {count} components are above noise")
print(f"wrong by {errors[0]:.2f} K as read, by {errors[1]:.2f} K of {count} components")
with figure("components", cols=2, size=(10, 4)) as (left, right):
    left.semilogy(np.arange(1, stations + 1), 100 * explained, "o", ms=4, label="readings")
    left.axhline(100 * edge**2 / (values**2).sum(), color="grey", label="most that noise makes")
    left.set(xlabel="component", ylabel="explained variance (%)")
    left.legend()
    for k in range(count):
        right.plot(day, scores[:, k] / np.sqrt(stations), label=f"component {k + 1}", linewidth=1)
    right.set(xlabel="day of the year", ylabel="root mean square over stations, signed (K)")
    right.legend()

angles = np.linalg.svd(np.linalg.qr(causes - causes.mean(0))[0].T @ np.asarray(found.U)[:, :3])[1]
assert count == 3 and angles.min() > 0.97
assert errors[1] < 0.4 * errors[0]
