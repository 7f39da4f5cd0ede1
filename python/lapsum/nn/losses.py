"""The functions of lapsum.losses as torch modules."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from lapsum import losses
from lapsum.losses.arguments import check_reduction

from .softness import Softness


class _Loss(Softness):
    def __init__(self, alpha: float, *, trainable: bool, reduction: str) -> None:
        super().__init__(alpha, trainable=trainable)
        check_reduction(type(self).__name__, reduction)
        self.reduction = reduction

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, reduction={self.reduction}"


class TopKCrossEntropyLoss(_Loss):
    """`lapsum.losses.topk_cross_entropy` as a module.

    >>> import torch, lapsum.nn
    >>> loss = lapsum.nn.TopKCrossEntropyLoss(p_k=(0.5, 0, 0, 0, 0.5), alpha=0.5, trainable=True)
    >>> loss
    TopKCrossEntropyLoss(p_k=(0.5, 0, 0, 0, 0.5), alpha=0.5 (trainable), reduction=mean)
    >>> round(loss(torch.zeros(3, 10), torch.tensor([1, 2, 3])).item(), 4)  # -log(.05 + .25)
    1.204
    """

    def __init__(
        self,
        p_k: Sequence[float] = (0.2, 0.2, 0.2, 0.2, 0.2),
        alpha: float = 1.0,
        *,
        trainable: bool = False,
        label_smoothing: float = 0.0,
        reduction: str = "mean",
    ) -> None:
        super().__init__(alpha, trainable=trainable, reduction=reduction)
        self.p_k = tuple(p_k)
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return losses.topk_cross_entropy(
            logits,
            target,
            self.p_k,
            self.alpha,
            label_smoothing=self.label_smoothing,
            reduction=self.reduction,
        )

    def extra_repr(self) -> str:
        smoothing = f", label_smoothing={self.label_smoothing}" if self.label_smoothing else ""
        return f"p_k={self.p_k}{smoothing}, {super().extra_repr()}"


class PermutationCrossEntropyLoss(_Loss):
    """`lapsum.losses.permutation_cross_entropy` as a module.

    >>> import torch, lapsum.nn
    >>> loss = lapsum.nn.PermutationCrossEntropyLoss(alpha=0.5, descending=True)
    >>> loss(torch.tensor([5.0, 9.0, 1.0]), torch.tensor([1, 0, 2])).item() < 0.05
    True
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        trainable: bool = False,
        descending: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(alpha, trainable=trainable, reduction=reduction)
        self.descending = descending

    def forward(self, scores: Tensor, target_ranks: Tensor) -> Tensor:
        return losses.permutation_cross_entropy(
            scores,
            target_ranks,
            self.alpha,
            descending=self.descending,
            reduction=self.reduction,
        )

    def extra_repr(self) -> str:
        return f"descending={self.descending}, {super().extra_repr()}"


class SpearmanLoss(_Loss):
    """`lapsum.losses.spearman_loss` as a module.

    >>> import torch, lapsum.nn
    >>> loss = lapsum.nn.SpearmanLoss(alpha=0.1)
    >>> loss(torch.tensor([5.0, 9.0, 1.0]), torch.tensor([-5.0, -9.0, -1.0])).item()
    2.0
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        trainable: bool = False,
        dim: int = -1,
        reduction: str = "mean",
    ) -> None:
        super().__init__(alpha, trainable=trainable, reduction=reduction)
        self.dim = dim

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        return losses.spearman_loss(
            pred, target, self.alpha, dim=self.dim, reduction=self.reduction
        )

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, dim={self.dim}"


class _ChooseLoss(_Loss):
    """A loss of the k chosen."""

    def __init__(
        self, k: float, alpha: float = 1.0, *, trainable: bool = False, reduction: str = "mean"
    ) -> None:
        super().__init__(alpha, trainable=trainable, reduction=reduction)
        self.k = k

    def extra_repr(self) -> str:
        return f"k={self.k}, {super().extra_repr()}"


class KNNLoss(_ChooseLoss):
    """`lapsum.losses.knn_loss` as a module.

    >>> import torch, lapsum.nn
    >>> points, classes = torch.tensor([[0.0], [1.0], [9.0], [8.0]]), torch.tensor([0, 0, 1, 1])
    >>> lapsum.nn.KNNLoss(k=2)(points, points, classes, classes).item() < 1e-6
    True
    """

    def forward(
        self, queries: Tensor, candidates: Tensor, query_labels: Tensor, candidate_labels: Tensor
    ) -> Tensor:
        return losses.knn_loss(
            queries,
            candidates,
            query_labels,
            candidate_labels,
            self.k,
            self.alpha,
            reduction=self.reduction,
        )


class SoftTopKBCELoss(_ChooseLoss):
    """`lapsum.losses.soft_topk_bce` as a module.

    >>> import torch, lapsum.nn
    >>> loss = lapsum.nn.SoftTopKBCELoss(k=1, alpha=0.1)
    >>> loss(torch.tensor([5.0, 9.0, 1.0]), torch.tensor([False, True, False])).item() < 1e-6
    True
    """

    def forward(self, scores: Tensor, relevance: Tensor) -> Tensor:
        return losses.soft_topk_bce(scores, relevance, self.k, self.alpha, reduction=self.reduction)
