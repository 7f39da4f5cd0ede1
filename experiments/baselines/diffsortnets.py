"""DiffSortNets (Petersen et al. 2022), an odd-even network, by its authors' package diffsort.

Imported when it is used: a run without the package reports it as missing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torch import Tensor

SMALLEST = 1e-7  # products of swaps underflow; the logarithm must not


def log_diffsort(scores: Tensor, softness: Tensor | float) -> Tensor:
    """Log P (..., position, element), largest first; softness is one over the steepness."""
    _, p = _network(scores.shape[-1])(-scores / softness)
    return p.transpose(-1, -2).clamp(min=SMALLEST).log()


@cache
def _network(n: int) -> Any:
    from diffsort import DiffSortNet

    return DiffSortNet("odd_even", n, steepness=1.0, distribution="cauchy")
