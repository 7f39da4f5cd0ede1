"""Soft top-k, sort and rank as torch modules, with a fixed or a trainable alpha.

A trainable alpha is kept as its logarithm, so that no step can carry it across zero.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

import lapsum

__all__ = ["SoftRank", "SoftSort", "SoftTopK"]


class _Soft(nn.Module):
    """An operation along `dim` with its alpha."""

    log_alpha: Tensor

    def __init__(self, alpha: float, *, trainable: bool, dim: int) -> None:
        super().__init__()
        if not 0 < alpha < math.inf:
            name = type(self).__name__
            raise ValueError(f"{name}: alpha must be positive and finite, got alpha={alpha:g}")
        log_alpha = torch.tensor(math.log(alpha), dtype=torch.float64)
        self.trainable = trainable
        self.dim = dim
        if trainable:
            self.log_alpha = nn.Parameter(log_alpha)
        else:
            self.register_buffer("log_alpha", log_alpha)

    @property
    def alpha(self) -> Tensor:
        """The softness, a tensor with gradient if it is trainable."""
        return self.log_alpha.exp()

    def extra_repr(self) -> str:
        kind = "trainable" if self.trainable else "fixed"
        return f"alpha={self.alpha.item():.4g} ({kind}), dim={self.dim}"


class SoftTopK(_Soft):
    """`lapsum.soft_topk` with k given to the module, or to each call as a number or per row.

    >>> import torch, lapsum.nn
    >>> layer = lapsum.nn.SoftTopK(k=2, alpha=0.5, trainable=True)
    >>> layer
    SoftTopK(k=2, largest=True, hard=False, alpha=0.5 (trainable), dim=-1)
    >>> layer(torch.tensor([1.0, 3.0, 0.5, 2.5])).sum().item()
    2.0
    """

    def __init__(
        self,
        k: float | None = None,
        alpha: float = 1.0,
        *,
        trainable: bool = False,
        dim: int = -1,
        largest: bool = True,
        hard: bool = False,
    ) -> None:
        super().__init__(alpha, trainable=trainable, dim=dim)
        self.k = k
        self.largest = largest
        self.hard = hard

    def forward(self, x: Tensor, k: float | Tensor | None = None) -> Tensor:
        k = self.k if k is None else k
        if k is None:
            raise ValueError("SoftTopK: k must be given to the module or to the call, got None")
        result: Tensor = lapsum.soft_topk(  # type: ignore[assignment]
            x, k, self.alpha, dim=self.dim, largest=self.largest, hard=self.hard
        )
        return result

    def extra_repr(self) -> str:
        own = f"k={self.k}, largest={self.largest}, hard={self.hard}"
        return f"{own}, {super().extra_repr()}"


class _Ordered(_Soft):
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        trainable: bool = False,
        dim: int = -1,
        descending: bool = False,
        hard: bool = False,
    ) -> None:
        super().__init__(alpha, trainable=trainable, dim=dim)
        self.descending = descending
        self.hard = hard

    def extra_repr(self) -> str:
        return f"descending={self.descending}, hard={self.hard}, {super().extra_repr()}"


class SoftSort(_Ordered):
    """`lapsum.soft_sort` as a module.

    >>> import torch, lapsum.nn
    >>> lapsum.nn.SoftSort(alpha=0.01)(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1., 2., 3.])
    """

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = lapsum.soft_sort(  # type: ignore[assignment]
            x, self.alpha, dim=self.dim, descending=self.descending, hard=self.hard
        )
        return result


class SoftRank(_Ordered):
    """`lapsum.soft_rank` as a module.

    >>> import torch, lapsum.nn
    >>> lapsum.nn.SoftRank(alpha=0.01)(torch.tensor([3.0, 1.0, 2.0]))
    tensor([2., 0., 1.])
    """

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = lapsum.soft_rank(  # type: ignore[assignment]
            x, self.alpha, dim=self.dim, descending=self.descending, hard=self.hard
        )
        return result
