"""NeuralSort (Grover et al. 2019): position i holds softmax(((n + 1 - 2i) s - A 1) / tau).

i = 1 is the largest, A is the matrix of |s_j - s_l|. Rows sum to 1, columns need not.
"""

from __future__ import annotations

import torch
from torch import Tensor


def log_neuralsort(scores: Tensor, tau: Tensor | float, first: int | None = None) -> Tensor:
    """Log P (..., position, element), largest first; only the `first` positions if given."""
    n = scores.shape[-1]
    places = torch.arange(1, (first or n) + 1, dtype=scores.dtype)
    apart = (scores.unsqueeze(-1) - scores.unsqueeze(-2)).abs().sum(-1)
    logits = (n + 1 - 2 * places).unsqueeze(-1) * scores.unsqueeze(-2) - apart.unsqueeze(-2)
    return (logits / tau).log_softmax(-1)
