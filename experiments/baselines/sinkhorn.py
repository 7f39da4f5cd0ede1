"""Sinkhorn sorting (Cuturi et al. 2019): the transport plan from scores to evenly spaced targets.

The scores are standardised and squashed into (0, 1), as the authors advise; the cost is the squared
distance, eps the weight of the entropy. Rows and columns are normalised in turns, in logarithms.
"""

from __future__ import annotations

import torch
from torch import Tensor

ROUNDS = 20


def log_sinkhorn(scores: Tensor, eps: Tensor | float) -> Tensor:
    """Log P (..., position, element), largest first: n times the plan."""
    n = scores.shape[-1]
    spread = scores.std(-1, keepdim=True, unbiased=False) + 1e-6
    inside = ((scores - scores.mean(-1, keepdim=True)) / spread).sigmoid()
    targets = torch.linspace(1, 0, n, dtype=scores.dtype)
    log_p = -((targets.unsqueeze(-1) - inside.unsqueeze(-2)) ** 2) / eps
    for _ in range(ROUNDS):
        log_p = log_p.log_softmax(-2)
        log_p = log_p.log_softmax(-1)
    return log_p
