"""log p = log F(z), finite wherever z is: the slope in z is F'(z) / F(z)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from . import mask
from .laplace import log_cdf, log_cdf_slope


def _per_level(z: Tensor, e: Tensor, scale: Tensor) -> Tensor:
    """It grows without bound on a plateau."""
    return log_cdf_slope(z) * (2 / scale).clamp(max=torch.finfo(z.dtype).max / 1e8)


CURVE = mask.Curve(
    value=log_cdf,
    slope=lambda z, e, scale: log_cdf_slope(z),
    per_level=_per_level,
    of_share=torch.log,
    slope_of_share=torch.reciprocal,
)


def value(x: Tensor, k: Tensor, alpha: Tensor, largest: bool) -> tuple[Tensor, Tensor]:
    """(rows, n) and levels (rows, m) to log masks (rows, m, n), with thresholds (rows, m, 2)."""
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
