"""The short way: contiguous rows of x and plain numbers, where there is nothing to arrange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .layout import Array, all_plain


def short_cut(
    core: Callable[..., None],
    types: str,
    x: object,
    numbers: Sequence[Any],
    flags: Sequence[bool],
) -> Array | None:
    """A result of the shape of x, or None where this way is not enough; `types` are the core's."""
    if type(x) is not np.ndarray or x.dtype.char not in types or not x.dtype.isnative:
        return None
    if not x.flags.c_contiguous or not x.flags.aligned or not x.size or not x.ndim:
        return None
    if not all_plain(numbers):
        return None
    out = np.empty_like(x)
    given, to = (a.reshape(-1, x.shape[-1]) for a in (x, out))
    core(given, *map(float, numbers), to, *flags, 0)
    return out
