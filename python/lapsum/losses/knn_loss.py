"""Differentiable k-nearest-neighbour classification, to train the space that distances live in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import lapsum
from lapsum._torch.precision import wide

from .arguments import check_reduction, labels, level, reduced, softness, wide_row

_OP = "knn_loss"
_log_soft_topk: Any = lapsum.log_soft_topk


def knn_loss(
    queries: Tensor,
    candidates: Tensor,
    query_labels: Tensor,
    candidate_labels: Tensor,
    k: float | Tensor,
    alpha: float | Tensor = 1.0,
    *,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log of the share of the k nearest candidates that have the label of the query.

    The k nearest are the soft top-k of minus the squared distances; the share is the part of that
    mask, which sums to k, on candidates with the right label. It is formed from logarithms and in
    float64: a query whose own class is far away has a large loss and a gradient that pulls.

    A query with no candidate of its label cannot be right: its loss is 0, without gradient, and
    "mean" does not count it.

    Args:
        queries: tensor (..., m, d).
        candidates: tensor (..., n, d), with the same leading axes.
        query_labels: integer tensor (..., m).
        candidate_labels: integer tensor (..., n).
        k: how many neighbours vote, any real in (0, n]; a number, or a tensor that broadcasts
            with (..., m).
        alpha: softness, in units of squared distances; a number, or a tensor that broadcasts with
            (..., m).
        reduction: "none" gives a loss for every query, "mean" and "sum" one number.

    Returns:
        tensor (..., m) or a single number; float64 if an embedding is, else float32.

    >>> import torch
    >>> from lapsum.losses import knn_loss
    >>> candidates = torch.tensor([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    >>> classes, queries = torch.tensor([0, 0, 1, 1]), torch.tensor([[0.0, 0.5], [4.0, 5.0]])
    >>> knn_loss(queries, candidates, torch.tensor([0, 0]), classes, 2, reduction="none")
    tensor([5.9819e-11, 1.6230e+01])
    """
    check_reduction(_OP, reduction)
    q, c = wide_row(_OP, "queries", queries), wide_row(_OP, "candidates", candidates)
    if q.ndim < 2 or q.shape[:-2] != c.shape[:-2] or q.shape[-1] != c.shape[-1]:
        raise ValueError(
            f"{_OP}: queries and candidates must be (..., m, d) and (..., n, d), "
            f"got {tuple(q.shape)} and {tuple(c.shape)}"
        )
    of_query = labels(_OP, "query_labels", query_labels, q.shape[:-1])
    of_candidate = labels(_OP, "candidate_labels", candidate_labels, c.shape[:-1])
    count = level(_OP, k, c.shape[-2], q.device)
    if count == 0 and not isinstance(count, Tensor):
        raise ValueError(f"{_OP}: k must be positive, got k=0")
    dtype = torch.promote_types(q.dtype, c.dtype)
    log_p = _log_soft_topk(-_squared_distances(q, c), count, softness(_OP, alpha, q.device))
    right = of_query.unsqueeze(-1) == of_candidate.unsqueeze(-2)
    known = right.any(-1)
    log_share = torch.where(right | ~known.unsqueeze(-1), log_p, -torch.inf).logsumexp(-1)
    log_share = log_share - torch.as_tensor(count, dtype=wide(q.device), device=q.device).log()
    loss = torch.where(known, -log_share, 0.0).to(dtype)
    if reduction == "mean":
        return loss.sum() / known.sum().clamp(min=1)
    return reduced(loss, reduction)


def _squared_distances(q: Tensor, c: Tensor) -> Tensor:
    """(..., m, n) from products, which need less memory than differences.

    Float64, and an origin amid the candidates, keep the digits that the products would cancel.
    """
    dtype = wide(q.device)
    q, c = q.to(dtype), c.to(dtype)
    origin = c.detach().mean(-2, keepdim=True)
    q, c = q - origin, c - origin
    squares = q.square().sum(-1).unsqueeze(-1) + c.square().sum(-1).unsqueeze(-2)
    return squares - 2 * q @ c.transpose(-1, -2)
