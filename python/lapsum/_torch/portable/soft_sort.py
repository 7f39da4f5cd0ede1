"""Soft sort: the roots of the levels 1/2, 3/2, ..., n - 1/2."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from . import lap_sum_inverse


def _levels(x: Tensor) -> Tensor:
    n = x.shape[-1]
    return (torch.arange(n, dtype=x.dtype, device=x.device) + 0.5).expand(x.shape)


def value(x: Tensor, alpha: Tensor, descending: bool) -> Tensor:
    """(rows, n) to (rows, n)."""
    return lap_sum_inverse.value(x, _levels(x), alpha, descending)


def vjp(
    x: Tensor, alpha: Tensor, descending: bool, *, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    """Gradients of x and alpha (rows, 1), where needed."""
    wanted = (needs[0], False, needs[1])
    gx, _, galpha = lap_sum_inverse.vjp(
        x, _levels(x), alpha, descending, g=g, needs=wanted, ascending=True
    )
    return [gx, galpha]


def jvp(x: Tensor, alpha: Tensor, descending: bool, *, tangents: Sequence[Tensor | None]) -> Tensor:
    """The derivative along tangents of x and alpha; None stands for zero."""
    along = (tangents[0], None, tangents[1])
    return lap_sum_inverse.jvp(x, _levels(x), alpha, descending, tangents=along)
