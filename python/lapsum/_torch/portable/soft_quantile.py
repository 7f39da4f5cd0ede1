"""Soft quantiles: the roots of the levels q n."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from . import lap_sum_inverse


def value(x: Tensor, q: Tensor, alpha: Tensor) -> Tensor:
    """(rows, n) and quantiles (rows, m) to (rows, m)."""
    return lap_sum_inverse.value(x, q * x.shape[-1], alpha)


def vjp(
    x: Tensor, q: Tensor, alpha: Tensor, *, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    """Gradients of x, q and alpha (rows, 1), where needed."""
    n = x.shape[-1]
    gx, gk, galpha = lap_sum_inverse.vjp(x, q * n, alpha, g=g, needs=needs)
    return [gx, None if gk is None else gk * n, galpha]


def jvp(x: Tensor, q: Tensor, alpha: Tensor, *, tangents: Sequence[Tensor | None]) -> Tensor:
    """The derivative along tangents of x, q and alpha; None stands for zero."""
    n = x.shape[-1]
    dx, dq, dalpha = tangents
    along = (dx, None if dq is None else dq * n, dalpha)
    return lap_sum_inverse.jvp(x, q * n, alpha, tangents=along)
