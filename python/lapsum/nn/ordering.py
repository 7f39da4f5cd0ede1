"""Soft top-k, sort and rank as torch modules. Calls take a mask, lengths or weights by name."""

from __future__ import annotations

from typing import Any

from torch import Tensor

import lapsum

from .softness import Softness


class _AlongAxis(Softness):
    def __init__(self, alpha: float, *, trainable: bool, dim: int) -> None:
        super().__init__(alpha, trainable=trainable)
        self.dim = dim

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, dim={self.dim}"


class SoftTopK(_AlongAxis):
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

    def forward(self, x: Tensor, k: float | Tensor | None = None, **elements: Any) -> Tensor:
        k = self.k if k is None else k
        if k is None:
            raise ValueError("SoftTopK: k must be given to the module or to the call, got None")
        result: Tensor = lapsum.soft_topk(  # type: ignore[assignment]
            x, k, self.alpha, dim=self.dim, largest=self.largest, hard=self.hard, **elements
        )
        return result

    def extra_repr(self) -> str:
        own = f"k={self.k}, largest={self.largest}, hard={self.hard}"
        return f"{own}, {super().extra_repr()}"


class _Ordered(_AlongAxis):
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

    def forward(self, x: Tensor, **elements: Any) -> Tensor:
        result: Tensor = lapsum.soft_sort(  # type: ignore[assignment]
            x, self.alpha, dim=self.dim, descending=self.descending, hard=self.hard, **elements
        )
        return result


class SoftRank(_Ordered):
    """`lapsum.soft_rank` as a module.

    >>> import torch, lapsum.nn
    >>> lapsum.nn.SoftRank(alpha=0.01)(torch.tensor([3.0, 1.0, 2.0]))
    tensor([2., 0., 1.])
    """

    def forward(self, x: Tensor, **elements: Any) -> Tensor:
        result: Tensor = lapsum.soft_rank(  # type: ignore[assignment]
            x, self.alpha, dim=self.dim, descending=self.descending, hard=self.hard, **elements
        )
        return result
