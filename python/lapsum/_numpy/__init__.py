"""The NumPy front end: one entry per operation, each with value, vjp and jvp."""

from __future__ import annotations

from typing import Any

from .arrangement import AlongAxis, AtLevels, AtPoints, Permute
from .operation import Operation

OPERATIONS: dict[str, Any] = {
    "soft_rank": AlongAxis(Operation("soft_rank", by_element=True), weights=True),
    "soft_sort": AlongAxis(Operation("soft_sort")),
    "soft_topk": AlongAxis(Operation("soft_topk", level="k", by_element=True), weights=True),
    "log_soft_topk": AlongAxis(
        Operation("log_soft_topk", level="k", by_element=True), weights=True
    ),
    "soft_kth_value": AlongAxis(
        Operation("soft_kth_value", level="k", result=lambda x: ()), weights=True
    ),
    "soft_quantile": AlongAxis(
        Operation("soft_quantile", level="q", result=lambda x: ()), weights=True
    ),
    "soft_permutation": Operation("soft_permutation", result=lambda x: x + x, by_element=True),
    "soft_permute": Permute(),
    "lap_sum": AtPoints("lap_sum", ("r", "x"), result=lambda r, x: x),
    "lap_sum_inverse": AtLevels(
        Operation("lap_sum_inverse", ("r",), level="k", result=lambda r: ())
    ),
    "lap_kernel": AtPoints("lap_kernel", ("r", "w", "x"), result=lambda r, w, x: x, elements=2),
}
