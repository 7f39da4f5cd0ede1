"""Masks at thresholds: a curve of z = (b - r) / alpha, p = F(z) or its logarithm.

Thresholds are (rows, m, 2), anchor and offset as in roots.py; masks (rows, m, n). With the slope of
the curve in z and q = softmax(-|z|),

    dz = (<q, dr> - dr) / alpha + 2 / sum(e^-|z|) dk + (<q, z> - z) / alpha dalpha
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lapsum._torch.precision import large

from .decayed_scan import scan_ones
from .roots import solve_levels
from .sorted_row import inverse, oriented, sort_row


class Curve(NamedTuple):
    """A mask as a function of z, and of the share of an element among those at -inf.

    `slope` takes z, and e^-|z| as e times `scale`; `per_level` is the slope times 2 / scale.
    """

    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor, Tensor], Tensor]
    per_level: Callable[[Tensor, Tensor, Tensor], Tensor]
    of_share: Callable[[Tensor], Tensor]
    slope_of_share: Callable[[Tensor], Tensor]


def thresholds(
    x: Tensor, k: Tensor, alpha: Tensor, descending: bool, weights: Tensor | None = None
) -> Tensor:
    """Of the levels k (rows, m)."""
    row = sort_row(x, alpha, descending, weights)
    roots = solve_levels(row, k, scan_ones(row))
    return torch.stack([roots.anchor, roots.offset], -1)


def distances(x: Tensor, b: Tensor, alpha: Tensor, descending: bool) -> tuple[Tensor, Tensor]:
    """The row r = sign * x (rows, 1, n), and z (rows, m, n), infinite only where b or r is."""
    _, softness, sign = oriented(x, alpha, descending)
    r = (sign * x).unsqueeze(1)
    anchor, offset = b[..., :1], b[..., 1:]
    z = ((anchor - r) + offset) / softness.unsqueeze(1)
    most = large(z)
    z = torch.where(r.isinf(), z, z.clamp(-most, most))
    return r, torch.where(anchor.isfinite(), z, anchor)


def value(
    curve: Curve,
    x: Tensor,
    k: Tensor,
    alpha: Tensor,
    descending: bool,
    weights: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The masks and their thresholds; weights (rows, n) count elements."""
    b = thresholds(x, k, alpha, descending, weights)
    r, z = distances(x, b, alpha, descending)
    anchor, offset = b[..., :1], b[..., 1:]
    first = curve.of_share(torch.where(anchor == -torch.inf, offset, 1.0))
    never = curve.of_share(torch.zeros_like(offset))
    p = torch.where(r == -torch.inf, first, torch.where(r == torch.inf, never, curve.value(z)))
    return torch.where(anchor.isnan(), torch.nan, p), b


class Slopes(NamedTuple):
    """What the derivatives of masks are made of, (rows, m, n), or (rows, m, 1) for a mask."""

    z: Tensor  # 0 where there is no slope
    q: Tensor
    slope: Tensor
    per_level: Tensor  # of the element, by k
    unknown: Tensor  # NaN where the threshold is, else 0
    inside: Tensor  # whether there is a slope in r


def _slopes(curve: Curve, x: Tensor, b: Tensor, alpha: Tensor, descending: bool) -> Slopes:
    r, z = distances(x, b, alpha, descending)
    anchor, share = b[..., :1], b[..., 1:]
    inside = r.isfinite() & anchor.isfinite()
    z = torch.where(inside, z, 0.0)
    far = torch.where(inside, z.abs(), torch.inf)
    near = far.amin(-1, keepdim=True)
    e = torch.where(inside, torch.exp(near - far), 0.0)
    total = e.sum(-1, keepdim=True).clamp(min=1)
    scale = torch.exp(-near)
    per_level = torch.where(inside, curve.per_level(z, e, scale) / total, 0.0)
    first = r == -torch.inf
    sharing = first & (anchor == -torch.inf) & (share > 0) & (share < 1)
    per_share = curve.slope_of_share(share) / first.sum(-1, keepdim=True)
    return Slopes(
        z,
        e / total,
        torch.where(inside, curve.slope(z, e, scale), 0.0),
        torch.where(sharing, per_share, per_level),
        torch.where(anchor.isnan(), anchor, 0.0),
        inside,
    )


def vjp(
    curve: Curve,
    x: Tensor,
    k: Tensor,
    alpha: Tensor,
    descending: bool,
    b: Tensor | None,
    g: Tensor,
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """Gradients of x, k and alpha (rows, 1), where needed; b are the thresholds if known."""
    b = thresholds(x, k, alpha, descending) if b is None else b
    _, softness, sign = oriented(x, alpha, descending)
    at = _slopes(curve, x, b, alpha, descending)
    pull = torch.where(at.inside, at.slope * g, 0.0)
    gx = gk = galpha = None
    if needs[0]:
        moved = pull.sum(-1, keepdim=True) * at.q - pull + at.unknown
        gx = sign * inverse(softness) * moved.sum(1)
    if needs[1]:
        gk = torch.where(at.per_level > 0, at.per_level * g, 0.0).sum(-1) + at.unknown.squeeze(-1)
    if needs[2]:
        mean = (at.q * at.z).sum(-1, keepdim=True)
        slope = (pull * (mean - at.z) + at.unknown).sum((1, 2)).unsqueeze(-1)
        galpha = alpha.sign() * inverse(softness) * slope
    return [gx, gk, galpha]


def jvp(
    curve: Curve,
    x: Tensor,
    k: Tensor,
    alpha: Tensor,
    descending: bool,
    tangents: Sequence[Tensor | None],
) -> Tensor:
    """The derivative along tangents of x, k and alpha; None stands for zero."""
    dx, dk, dalpha = tangents
    _, softness, sign = oriented(x, alpha, descending)
    at = _slopes(curve, x, thresholds(x, k, alpha, descending), alpha, descending)
    pull = torch.zeros_like(at.z)
    if dx is not None:
        pull = pull + torch.where(at.inside, (sign * dx).unsqueeze(1), 0.0)
    if dalpha is not None:
        pull = pull + at.z * (alpha.sign() * dalpha).unsqueeze(1)
    moved = (at.q * pull).sum(-1, keepdim=True) - pull
    out = at.slope * inverse(softness).unsqueeze(1) * moved
    if dk is not None:
        out = out + at.per_level * dk.unsqueeze(-1)
    return out + at.unknown
