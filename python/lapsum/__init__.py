"""Differentiable ordering from sums of Laplace CDFs: soft rank, sort, top-k and permutation.

Every operation comes with its derivatives, ``<name>_vjp`` (gradients of a weighted sum of the
result) and ``<name>_jvp`` (the derivative along a direction), for those with their own autodiff.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from lapsum._alpha.schedule import AlphaSchedule
from lapsum._alpha.suggest import suggest_alpha
from lapsum._ops.lap_kernel import lap_kernel
from lapsum._ops.lap_sum import lap_sum, lap_sum_jvp, lap_sum_vjp
from lapsum._ops.lap_sum_inverse import lap_sum_inverse, lap_sum_inverse_jvp, lap_sum_inverse_vjp
from lapsum._ops.log_soft_topk import log_soft_topk, log_soft_topk_jvp, log_soft_topk_vjp
from lapsum._ops.soft_kth_value import soft_kth_value, soft_kth_value_jvp, soft_kth_value_vjp
from lapsum._ops.soft_permutation import (
    soft_permutation,
    soft_permutation_jvp,
    soft_permutation_vjp,
)
from lapsum._ops.soft_permute import soft_permute, soft_permute_jvp, soft_permute_vjp
from lapsum._ops.soft_quantile import soft_quantile, soft_quantile_jvp, soft_quantile_vjp
from lapsum._ops.soft_rank import soft_rank, soft_rank_jvp, soft_rank_vjp
from lapsum._ops.soft_sort import soft_sort, soft_sort_jvp, soft_sort_vjp
from lapsum._ops.soft_topk import soft_topk, soft_topk_jvp, soft_topk_vjp

try:
    __version__ = _version("lapsum")
except _PackageNotFoundError:  # used from a source tree
    __version__ = "unknown"

__all__ = [
    "AlphaSchedule",
    "lap_kernel",
    "lap_sum",
    "lap_sum_inverse",
    "lap_sum_inverse_jvp",
    "lap_sum_inverse_vjp",
    "lap_sum_jvp",
    "lap_sum_vjp",
    "log_soft_topk",
    "log_soft_topk_jvp",
    "log_soft_topk_vjp",
    "soft_kth_value",
    "soft_kth_value_jvp",
    "soft_kth_value_vjp",
    "soft_permutation",
    "soft_permutation_jvp",
    "soft_permutation_vjp",
    "soft_permute",
    "soft_permute_jvp",
    "soft_permute_vjp",
    "soft_quantile",
    "soft_quantile_jvp",
    "soft_quantile_vjp",
    "soft_rank",
    "soft_rank_jvp",
    "soft_rank_vjp",
    "soft_sort",
    "soft_sort_jvp",
    "soft_sort_vjp",
    "soft_topk",
    "soft_topk_jvp",
    "soft_topk_vjp",
    "suggest_alpha",
]
