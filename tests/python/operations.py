"""The operations as the contract sees them: functions of rows x and an alpha, all else fixed.

`call(x, alpha, **options)` works along the last axis; `reverse` names the flag that turns the
direction round, with its default; `n_dims` counts the last axes of the result that are not batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import lapsum


@dataclass(frozen=True)
class Operation:
    name: str
    arguments: Callable[..., tuple[Any, ...]]  # (x, alpha) -> all positional arguments
    reverse: str | None = None
    takes_dim: bool = False

    def __str__(self) -> str:
        return self.name

    def call(self, x, alpha=0.7, **options):
        return getattr(lapsum, self.name)(*self.arguments(x, alpha), **options)

    def call_dim(self, x, **where):
        """Along another axis: k is set by the length of that axis."""
        (dim,) = where.values()
        rest = self.arguments(np.moveaxis(x, dim, -1), 0.7)[1:]
        return getattr(lapsum, self.name)(x, *rest, **where)

    def vjp_dim(self, x, g, **where):
        (dim,) = where.values()
        rest = self.arguments(np.moveaxis(x, dim, -1), 0.7)[1:]
        return getattr(lapsum, f"{self.name}_vjp")(x, *rest, g, **where)[0]

    def vjp(self, x, alpha, g, **options):
        return getattr(lapsum, f"{self.name}_vjp")(*self.arguments(x, alpha), g, **options)

    def jvp(self, x, alpha, tangents, **options):
        return getattr(lapsum, f"{self.name}_jvp")(*self.arguments(x, alpha), *tangents, **options)


def _values(x):
    return ((np.arange(np.shape(x)[-1]) % 5 - 1.5) * np.ones_like(x)).astype(np.asarray(x).dtype)


def _points(x):
    return np.linspace(-2.0, 2.0, 5).astype(np.asarray(x).dtype)


OPERATIONS = [
    Operation("soft_rank", lambda x, a: (x, a), "descending", takes_dim=True),
    Operation("soft_sort", lambda x, a: (x, a), "descending", takes_dim=True),
    Operation("soft_topk", lambda x, a: (x, 0.4 * np.shape(x)[-1], a), "largest", takes_dim=True),
    Operation(
        "log_soft_topk", lambda x, a: (x, 0.4 * np.shape(x)[-1], a), "largest", takes_dim=True
    ),
    Operation(
        "soft_kth_value", lambda x, a: (x, 0.4 * np.shape(x)[-1], a), "largest", takes_dim=True
    ),
    Operation("soft_quantile", lambda x, a: (x, 0.3, a), takes_dim=True),
    Operation("soft_permutation", lambda x, a: (x, a), "descending"),
    Operation("soft_permute", lambda x, a: (x, _values(x), a), "descending"),
    Operation("lap_sum", lambda x, a: (x, _points(x), a)),
    Operation("lap_sum_inverse", lambda x, a: (x, 0.6 * np.shape(x)[-1], a)),
]
