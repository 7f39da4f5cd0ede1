"""log p = log F(z), finite wherever z is: the slope in z is F'(z) / F(z)."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from lapsum._torch.precision import large

from . import mask
from .laplace import log_cdf, log_cdf_slope


def _per_level(z: Tensor, e: Tensor, scale: Tensor) -> Tensor:
    """It grows without bound on a plateau."""
    return log_cdf_slope(z) * (2 / scale).clamp(max=large(z))


CURVE = mask.Curve(
    value=log_cdf,
    slope=lambda z, e, scale: log_cdf_slope(z),
    per_level=_per_level,
    of_share=torch.log,
    slope_of_share=torch.reciprocal,
)

value = partial(mask.value, CURVE)
vjp = partial(mask.vjp, CURVE)
jvp = partial(mask.jvp, CURVE)
