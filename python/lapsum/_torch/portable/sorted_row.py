"""Rows in ascending order for an alpha > 0: the one problem that the recipes know.

Tensors are (rows, n), with columns of weights (rows, columns, n), all in one wide dtype.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class SortedRow(NamedTuple):
    """Sorted values of sign * x, and what belongs to a row, (rows, 1).

    `below` and `above` count the elements at -inf and at +inf; what they weigh stands apart. They
    take the value of the nearest finite element and `weight` 0, so that no distance is NaN. A row
    that is not valid (NaN, or an alpha out of its domain) has zeros.
    """

    r: Tensor
    order: Tensor
    finite: Tensor
    weight: Tensor
    alpha: Tensor
    sign: Tensor
    alpha_sign: Tensor
    below: Tensor
    above: Tensor
    weight_below: Tensor
    weight_above: Tensor
    valid: Tensor

    @property
    def peak(self) -> Tensor:
        """The density of an element at itself."""
        return inverse(self.alpha) / 2

    def gather(self, v: Tensor) -> Tensor:
        """The v of the elements (rows, [columns,] n) in sorted order."""
        order = self.order if v.ndim == 2 else self.order.unsqueeze(1).expand(v.shape)
        return v.gather(-1, order)

    def scatter(self, v: Tensor) -> Tensor:
        """The opposite of gather."""
        order = self.order if v.ndim == 2 else self.order.unsqueeze(1).expand(v.shape)
        return torch.zeros_like(v).scatter(-1, order, v)

    def or_nan(self, v: Tensor) -> Tensor:
        """NaN in place of v (rows, ...) for rows that are not valid."""
        valid = self.valid.view(-1, *[1] * (v.ndim - 1))
        return torch.where(valid, v, torch.nan)


def inverse(alpha: Tensor) -> Tensor:
    """1 / alpha, finite at every alpha > 0."""
    return (1 / alpha).clamp(max=torch.finfo(alpha.dtype).max)


def oriented(x: Tensor, alpha: Tensor, descending: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Valid rows, |alpha| and the sign of the row: each (rows, 1)."""
    valid = alpha.isfinite() & (alpha != 0)
    sign = torch.where((alpha < 0) != descending, -1.0, 1.0).to(x.dtype)
    return valid & ~x.isnan().any(-1, keepdim=True), torch.where(valid, alpha.abs(), 1.0), sign


def sort_row(
    x: Tensor, alpha: Tensor, descending: bool = False, weights: Tensor | None = None
) -> SortedRow:
    """Sorts x (rows, n) for alpha (rows, 1); weights (rows, n) count elements, one each if None."""
    valid, softness, sign = oriented(x, alpha, descending)
    r, order = torch.sort(torch.where(valid, sign * x, 0.0), dim=-1, stable=True)
    given = torch.ones_like(r) if weights is None else weights.gather(-1, order)
    finite, below, above = r.isfinite(), r == -torch.inf, r == torch.inf

    def total(of: Tensor) -> Tensor:
        return of.sum(-1, keepdim=True)

    low = torch.where(finite, r, torch.inf).amin(-1, keepdim=True)
    high = torch.where(finite, r, -torch.inf).amax(-1, keepdim=True)
    r = torch.where(low <= high, torch.minimum(torch.maximum(r, low), high), 0.0)
    return SortedRow(
        r,
        order,
        finite,
        torch.where(finite, given, 0.0),
        softness,
        sign,
        alpha.sign(),
        total(below),
        total(above),
        total(torch.where(below, given, 0.0)),
        total(torch.where(above, given, 0.0)),
        valid,
    )
