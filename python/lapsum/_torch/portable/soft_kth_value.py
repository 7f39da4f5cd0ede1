"""The threshold of soft top-k: the root of the level k, counted from either end."""

from __future__ import annotations

from .lap_sum_inverse import jvp, value, vjp

__all__ = ["jvp", "value", "vjp"]
