"""The hard results that the soft ones tend to as alpha goes to 0; ties are taken by index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .layout import Array, Number
from .padding import Padding


def hard(
    name: str,
    x: Array,
    k: Number | None,
    alpha: Number,
    flags: Sequence[bool],
    absent: Padding | None = None,
) -> Array:
    """The result along the last axis of x, of the dtype of x; absent elements come last."""
    softness = np.asarray(alpha.value)
    batches = [x.shape[:-1], softness.shape, () if k is None else k.shape]
    if absent is not None:
        batches.append(absent.lengths.shape)
    x = np.broadcast_to(x, (*np.broadcast_shapes(*batches), x.shape[-1]))
    turned = (softness < 0) != flags[0]
    r = np.where(turned[..., None], -x, x)
    if absent is not None:
        present = absent.present(x.shape[-1])
        r = np.where(present, r, np.inf)
    order = np.argsort(r, axis=-1, kind="stable")
    unknown = np.isnan(r).any(-1, keepdims=True)
    unknown = unknown | ~(np.isfinite(softness) & (softness != 0))[..., None]
    if name == "soft_sort":
        out = np.take_along_axis(x, order, -1)
    elif name == "soft_permutation":
        out = (order[..., None] == np.arange(x.shape[-1])).astype(x.dtype)
        unknown = unknown[..., None]
    else:
        rank = np.argsort(order, axis=-1, kind="stable")
        out = rank.astype(x.dtype)
        if k is not None:
            level = np.asarray(k.value)[..., None]
            out = ((rank < np.rint(level)) & (r != np.inf)).astype(x.dtype)
            unknown = unknown | np.isnan(level)
    out = np.where(unknown, x.dtype.type(np.nan), out)
    if absent is None:
        return out
    if name == "soft_permutation":
        present = present[..., None] & present[..., None, :]
    return np.where(present, out, x.dtype.type(0))
