"""Soft top-k, sort and rank, and the losses made of them, as torch modules."""

from .losses import (
    KNNLoss,
    PermutationCrossEntropyLoss,
    SoftTopKBCELoss,
    SpearmanLoss,
    TopKCrossEntropyLoss,
)
from .ordering import SoftRank, SoftSort, SoftTopK
from .softness import Softness

__all__ = [
    "KNNLoss",
    "PermutationCrossEntropyLoss",
    "SoftRank",
    "SoftSort",
    "SoftTopK",
    "SoftTopKBCELoss",
    "Softness",
    "SpearmanLoss",
    "TopKCrossEntropyLoss",
]
