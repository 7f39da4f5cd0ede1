"""torchsort's two functions, by its signatures: `from lapsum.compat import torchsort`.

The hard limits are the same, the way there is not. torchsort projects onto the permutahedron:
piecewise linear, exact once gaps are wide enough, without gradient there. LapSum blurs each value
by a Laplace density: smooth everywhere, exact only in the limit. `regularization_strength` becomes
alpha; two close values then part at the same rate in `soft_rank`, longer rows part faster here.
Tune it anew, `lapsum.suggest_alpha(values)` is a start. Needs no compiler for torch, and takes
half precision and second derivatives too.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import lapsum

__all__ = ["soft_rank", "soft_sort"]

_REGULARIZATIONS = ("l2", "kl")


def soft_rank(
    values: Tensor, regularization: str = "l2", regularization_strength: float = 1.0
) -> Tensor:
    """Ascending soft ranks of each row, from 1 to n: `lapsum.soft_rank(values, strength) + 1`.

    Args:
        values: tensor (batch, n); integers become torch's default type.
        regularization: "l2" or "kl". Accepted, and without effect: there is one kind of softness.
        regularization_strength: alpha, positive.

    Returns:
        tensor (batch, n). torchsort's ranks are exact if all gaps are at least the strength; these
        differ from whole numbers by a sum of e^(-gap / strength) / 2.

    >>> import torch
    >>> from lapsum.compat import torchsort
    >>> x = torch.tensor([[8, 0, 5, 3, 2, 1, 6, 7, 9]])
    >>> torchsort.soft_rank(x, regularization_strength=0.05)
    tensor([[8., 1., 5., 4., 3., 2., 6., 7., 9.]])
    """
    x = _checked("soft_rank", values, regularization)
    ranks: Any = lapsum.soft_rank
    return ranks(x, regularization_strength) + 1


def soft_sort(
    values: Tensor, regularization: str = "l2", regularization_strength: float = 1.0
) -> Tensor:
    """Each row in ascending order, softly: `lapsum.soft_sort(values, strength)`.

    Args:
        values: tensor (batch, n); integers become torch's default type.
        regularization: "l2" or "kl". Accepted, and without effect.
        regularization_strength: alpha, positive, in the units of values. (torchsort's is in one
            over those units.)

    Returns:
        tensor (batch, n). A large strength pulls torchsort's result together, to the mean; this
        one spreads out, its ends beyond those of the row.

    >>> import torch
    >>> from lapsum.compat import torchsort
    >>> x = torch.tensor([[8.0, 0.0, 5.0, 3.0]])
    >>> torchsort.soft_sort(x, regularization_strength=0.01)
    tensor([[0., 3., 5., 8.]])
    """
    x = _checked("soft_sort", values, regularization)
    ordered: Any = lapsum.soft_sort
    result: Tensor = ordered(x, regularization_strength)
    return result


def _checked(op: str, values: Tensor, regularization: str) -> Tensor:
    if values.ndim != 2:
        raise ValueError(f"{op}: values must have two dimensions, got {tuple(values.shape)}")
    if regularization not in _REGULARIZATIONS:
        names = " or ".join(f'"{name}"' for name in _REGULARIZATIONS)
        raise ValueError(f'{op}: regularization must be {names}, got "{regularization}"')
    return values if values.is_floating_point() else values.to(torch.get_default_dtype())
