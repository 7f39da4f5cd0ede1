"""p = F(z): the slope in z is e^-|z| / 2, so that dp/dk = q."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from . import mask
from .laplace import cdf

CURVE = mask.Curve(
    value=cdf,
    slope=lambda z, e, scale: e * (scale / 2),
    per_level=lambda z, e, scale: e,
    of_share=lambda share: share,
    slope_of_share=torch.ones_like,
)


def value(x: Tensor, k: Tensor, alpha: Tensor, largest: bool) -> tuple[Tensor, Tensor]:
    """(rows, n) and levels (rows, m) to masks (rows, m, n), with thresholds (rows, m, 2)."""
    return mask.value(CURVE, x, k, alpha, largest)


def vjp(
    x: Tensor,
    k: Tensor,
    alpha: Tensor,
    largest: bool,
    *,
    b: Tensor | None,
    g: Tensor,
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """Gradients of x, k and alpha (rows, 1), where needed; b are the thresholds if known."""
    return mask.vjp(CURVE, x, k, alpha, largest, b, g, needs)


def jvp(
    x: Tensor, k: Tensor, alpha: Tensor, largest: bool, *, tangents: Sequence[Tensor | None]
) -> Tensor:
    """The derivative along tangents of x, k and alpha; None stands for zero."""
    return mask.jvp(CURVE, x, k, alpha, largest, tangents)
