"""What all modules have: an alpha, fixed or trainable.

A trainable alpha is kept as its logarithm, so that no step can carry it across zero.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class Softness(nn.Module):
    """A module with an alpha."""

    log_alpha: Tensor

    def __init__(self, alpha: float, *, trainable: bool) -> None:
        super().__init__()
        log_alpha = torch.tensor(self._log(alpha), dtype=torch.float64)
        self.trainable = trainable
        if trainable:
            self.log_alpha = nn.Parameter(log_alpha)
        else:
            self.register_buffer("log_alpha", log_alpha)

    @property
    def alpha(self) -> Tensor:
        """The softness, a tensor with gradient if it is trainable. May be set to a number."""
        return self.log_alpha.exp()

    @alpha.setter
    def alpha(self, value: float) -> None:
        with torch.no_grad():
            self.log_alpha.fill_(self._log(value))

    def _log(self, alpha: float) -> float:
        name = type(self).__name__
        if isinstance(alpha, Tensor) and (alpha.ndim or alpha.requires_grad):
            raise TypeError(
                f"{name}: alpha must be a number, got a tensor; trainable=True trains it, and the "
                "functions of lapsum take one alpha for each row"
            )
        if not 0 < alpha < math.inf:
            raise ValueError(f"{name}: alpha must be positive and finite, got alpha={alpha:g}")
        return math.log(alpha)

    def extra_repr(self) -> str:
        kind = "trainable" if self.trainable else "fixed"
        return f"alpha={self.alpha.item():.4g} ({kind})"
