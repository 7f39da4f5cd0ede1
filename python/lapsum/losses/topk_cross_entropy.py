"""Cross-entropy for top-k classification: the right class should be among the first few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import lapsum
from lapsum._torch.precision import wide

from .arguments import check_reduction, labels, reduced, softness, wide_row

_OP = "topk_cross_entropy"
_log_soft_topk: Any = lapsum.log_soft_topk


def topk_cross_entropy(
    logits: Tensor,
    target: Tensor,
    p_k: Sequence[float] = (0.2, 0.2, 0.2, 0.2, 0.2),
    alpha: float | Tensor = 1.0,
    *,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log of the probability that the right class is among the j highest, over random j.

    With p^(j) the soft top-j mask of the logits the loss is -log sum_j P_j p^(j)[target]: j is
    drawn from P, and the right class has to be among the j largest logits. It is formed from
    logarithms: finite, with a finite gradient, where every p underflows.

    Args:
        logits: tensor (..., n), one row of n classes for every sample.
        target: integer tensor (...), the class of every sample, in [0, n).
        p_k: the weights of j = 1, 2, ..., at most n of them: not negative, not all 0. They are
            divided by their sum, so (1, 0, 0, 0, 1) is (.5, 0, 0, 0, .5). Only those j with a
            weight cost anything.
        alpha: softness; a number, or a tensor that broadcasts with the batch shape (...).
        label_smoothing: the share of the target, in [0, 1], that is spread evenly over all
            classes, as in torch.nn.functional.cross_entropy.
        reduction: "none" gives a loss for every sample, "mean" and "sum" one number.

    Returns:
        tensor (...) or a single number; float64 for float64 logits, else float32.

    >>> import torch
    >>> from lapsum.losses import topk_cross_entropy
    >>> logits = torch.tensor([[4.0, 3.0, 0.0, -1.0], [0.0, 1.0, 2.0, 9.0]])
    >>> target = torch.tensor([1, 0])
    >>> topk_cross_entropy(logits, target, p_k=(0, 1), alpha=0.1, reduction="none")
    tensor([1.5295e-07, 1.5693e+01])
    """
    check_reduction(_OP, reduction)
    x = wide_row(_OP, "logits", logits)
    y = labels(_OP, "target", target, x.shape[:-1])
    a = softness(_OP, alpha, x.device)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(
            f"{_OP}: label_smoothing must be in [0, 1], got label_smoothing={label_smoothing:g}"
        )
    weights = _weights(p_k, x.shape[-1])
    k = torch.tensor(list(weights), dtype=wide(x.device), device=x.device)
    log_weights = torch.tensor(list(weights.values()), dtype=k.dtype, device=x.device).log()
    if isinstance(a, Tensor) and a.ndim:
        a = a.unsqueeze(-1)
    log_p = _log_soft_topk(x.unsqueeze(-2), k, a)
    if not label_smoothing:
        at = y[..., None, None].expand(*y.shape, len(weights), 1)
        loss = -torch.logsumexp(log_p.gather(-1, at).squeeze(-1) + log_weights, -1)
    else:
        every = -torch.logsumexp(log_p + log_weights.unsqueeze(-1), -2)
        own = every.gather(-1, y.unsqueeze(-1)).squeeze(-1)
        loss = torch.lerp(own, every.mean(-1), label_smoothing)
    return reduced(loss.to(x.dtype), reduction)


def _weights(p_k: Sequence[float], n: int) -> dict[int, float]:
    """The share of every j that has one."""
    values = [float(p) for p in p_k]
    if not all(0 <= p < math.inf for p in values) or not sum(values) > 0:
        raise ValueError(f"{_OP}: p_k must be non-negative with a positive sum, got p_k={values}")
    if len(values) > n:
        raise ValueError(f"{_OP}: p_k must have at most n entries, got {len(values)} with n={n}")
    total = sum(values)
    return {j: p / total for j, p in enumerate(values, 1) if p > 0}
