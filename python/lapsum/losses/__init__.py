"""Losses for torch that are made of soft top-k, ranks and permutations; modules are in lapsum.nn.

All take float16 and bfloat16 and compute, and return, float32: a loss easily overflows a half.
"""

from .knn_loss import knn_loss
from .permutation_cross_entropy import permutation_cross_entropy
from .soft_topk_bce import soft_topk_bce
from .spearman_loss import spearman_loss
from .topk_cross_entropy import topk_cross_entropy

__all__ = [
    "knn_loss",
    "permutation_cross_entropy",
    "soft_topk_bce",
    "spearman_loss",
    "topk_cross_entropy",
]
