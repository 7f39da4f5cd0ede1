"""Cross-entropy of a permutation, summed over the elements of a row."""

from __future__ import annotations

import torch
from torch import Tensor

from lapsum.losses import permutation_cross_entropy

__all__ = ["cross_entropy"]


def cross_entropy(
    x: Tensor, target: Tensor, alpha: float | Tensor = 1, reduction: str = "mean"
) -> Tensor:
    """N times `lapsum.losses.permutation_cross_entropy`: theirs is a sum over the row, not a mean.

    Gradients follow what comes in, so that a scaled loss has a scaled gradient; ties are allowed.

    Args:
        x: tensor (batch, n) of scores.
        target: tensor (batch, n): the position of each element, 0 for the smallest score. Whole
            numbers of any type.
        alpha: softness; a negative one reverses the direction.
        reduction: "mean" or "sum" over the batch, or "none".

    Returns:
        a single number, or tensor (batch,).

    >>> import torch
    >>> from lapsum.compat.gmum.permute import cross_entropy
    >>> cross_entropy(torch.tensor([[0.0, 20.0, 10.0]]), torch.tensor([[0, 2, 1]]), alpha=1.0)
    tensor(0.0135)
    """
    n = x.shape[-1]
    return n * permutation_cross_entropy(x, target.to(torch.int64), alpha, reduction=reduction)
