"""Row i of the matrix is the difference of the masks of the i + 1 and the i smallest elements."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from . import mask
from .laplace import mass
from .soft_topk import CURVE
from .sorted_row import oriented


def _levels(x: Tensor) -> Tensor:
    rows, n = x.shape
    return torch.arange(1, n, dtype=x.dtype, device=x.device).expand(rows, n - 1)


def value(x: Tensor, alpha: Tensor, descending: bool) -> Tensor:
    """(rows, n) to (rows, n, n): position, element."""
    n = x.shape[-1]
    valid, _, _ = oriented(x, alpha, descending)
    b = mask.thresholds(x, _levels(x), alpha, descending)
    r, z = mask.distances(x, b, alpha, descending)
    far = torch.full_like(r, torch.inf)
    out = mass(torch.cat([-far, z], 1), torch.cat([z, far], 1))
    # Infinite elements share the positions at their end evenly.
    position = torch.arange(n, device=x.device).view(1, n, 1)
    first, last = r == -torch.inf, r == torch.inf
    below, above = (end.sum(-1, keepdim=True, dtype=x.dtype) for end in (first, last))
    out = torch.where(first, (position < below) / below, out)
    out = torch.where(last, (position >= n - above) / above, out)
    return torch.where(valid.unsqueeze(-1), out, torch.nan)


def vjp(
    x: Tensor, alpha: Tensor, descending: bool, *, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    """Gradients of x and alpha (rows, 1), where needed."""
    levels, wanted = _levels(x), (needs[0], False, needs[1])
    b = mask.thresholds(x, levels, alpha, descending)
    met = g[:, :-1] - g[:, 1:]
    gx, _, galpha = mask.vjp(CURVE, x, levels, alpha, descending, b, met, wanted)
    valid, _, _ = oriented(x, alpha, descending)
    return [t if t is None else torch.where(valid, t, torch.nan) for t in (gx, galpha)]


def jvp(x: Tensor, alpha: Tensor, descending: bool, *, tangents: Sequence[Tensor | None]) -> Tensor:
    """The derivative along tangents of x and alpha; None stands for zero."""
    along = (tangents[0], None, tangents[1])
    masks = mask.jvp(CURVE, x, _levels(x), alpha, descending, along)
    valid, _, _ = oriented(x, alpha, descending)
    pad = torch.nn.functional.pad
    out = pad(masks, (0, 0, 0, 1)) - pad(masks, (0, 0, 1, 0))
    return torch.where(valid.unsqueeze(-1), out, torch.nan)
