"""Families of rows that the accuracy tests run through, the same ones every time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike, NDArray

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def _clusters(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.choice([-2.0, 0.5, 3.0], n) + 1e-3 * rng.normal(size=n)


def _one_outlier(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    x = rng.normal(size=n)
    x[rng.integers(n)] = 1e6
    return x


_DRAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, n // 3 + 1, n) / 4,
    "all_equal": lambda rng, n: np.full(n, 0.7),
    "clusters": _clusters,
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "lognormal": lambda rng, n: np.exp(2 * rng.normal(size=n)),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "reversed": lambda rng, n: np.sort(rng.normal(size=n))[::-1].copy(),
    "one_outlier": _one_outlier,
    "around_1e6": lambda rng, n: 1e6 + rng.normal(size=n),
}

FAMILIES = tuple(_DRAWS)


def row(family: str, n: int, dtype: DTypeLike = np.float64) -> NDArray[np.floating]:
    """The row of n elements of a family, rounded to dtype."""
    rng = np.random.default_rng([FAMILIES.index(family), n])
    return _DRAWS[family](rng, n).astype(dtype)


def levels(n: int) -> list[float]:
    """Levels inside (0, n): both tails, whole numbers, and a fraction in the middle."""
    candidates = {0.25, 1.0, float(n // 2), n // 2 + 0.3, n - 1.0, n - 0.25}
    return sorted(k for k in candidates if 0 < k < n)
