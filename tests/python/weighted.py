"""The weighted operations of the core, one row at a time, by the argument order of the bindings."""

from __future__ import annotations

import numpy as np

from lapsum import _core

MASKS = ("soft_topk", "log_soft_topk")
INVERSES = ("lap_sum_inverse", "soft_kth_value", "soft_quantile")
OPERATIONS = ("soft_rank", *MASKS, *INVERSES)
# What stands before the flags, and how the reference calls the flag.
FLAGS = {
    "soft_rank": "descending",
    "soft_topk": "largest",
    "log_soft_topk": "largest",
    "soft_kth_value": "largest",
}


class Row:
    """One row with its weights; `k` are levels of the operations that have them."""

    def __init__(self, op, x, weights, k, alpha, reverse=False):
        self.op, self.x, self.weights, self.alpha, self.reverse = op, x, weights, alpha, reverse
        self.levels = None if k is None else np.atleast_1d(np.asarray(k, np.float64))
        masks = len(self.levels) if op in MASKS else 1
        length = len(self.levels) if op in INVERSES else x.size
        self.shape = masks, length

    @property
    def arguments(self):
        levels = () if self.levels is None else (self.levels[None],)
        return self.x[None], self.weights[None].astype(self.x.dtype), *levels, self.alpha

    @property
    def flags(self):
        return ((self.reverse,) if self.op in FLAGS else ()) + (1,)

    def value(self):
        out = np.full(self.shape, np.nan, self.x.dtype)
        getattr(_core, f"weighted_{self.op}")(*self.arguments, out, *self.flags)
        return out

    def vjp(self, g):
        """Gradients in x, weights, the levels if there are any, and alpha."""
        gx, gweights = (np.full((1, self.x.size), np.nan, self.x.dtype) for _ in range(2))
        glevels = [] if self.levels is None else [np.full(self.levels.size, np.nan)]
        galpha = np.full(1, np.nan)
        to = gx, gweights, *glevels, galpha
        g = np.asarray(g, self.x.dtype).reshape(self.shape)
        getattr(_core, f"weighted_{self.op}_vjp")(*self.arguments, g, *to, *self.flags)
        return gx[0], gweights[0], *glevels, galpha

    def jvp(self, *tangents):
        """The derivative along tangents in the order of the gradients; None is zero."""
        dx, dweights, *dlevels, dalpha = tangents
        wide = [None if d is None else np.asarray(d, self.x.dtype)[None] for d in (dx, dweights)]
        out = np.full(self.shape, np.nan, self.x.dtype)
        numbers = [None if d is None else np.asarray(d, np.float64) for d in (*dlevels, dalpha)]
        getattr(_core, f"weighted_{self.op}_jvp")(
            *self.arguments, *wide, *numbers, out, *self.flags
        )
        return out
