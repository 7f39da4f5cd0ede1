"""SoftSort (Prillo and Eisenschlos 2020): position i holds softmax(-|sort(s)_i - s_j| / tau).

Rows sum to 1, columns need not.
"""

from __future__ import annotations

from torch import Tensor


def log_softsort(scores: Tensor, tau: Tensor | float, first: int | None = None) -> Tensor:
    """Log P (..., position, element), largest first; only the `first` positions if given."""
    ordered = scores.sort(dim=-1, descending=True).values[..., :first]
    return (-(ordered.unsqueeze(-1) - scores.unsqueeze(-2)).abs() / tau).log_softmax(-1)
