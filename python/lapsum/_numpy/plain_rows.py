"""The short way: contiguous rows and plain numbers, where there is nothing to arrange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from .layout import Array, all_plain


def nothing_asked(options: dict[str, Any]) -> bool:
    """Whether all options are left as they are."""
    return all(v is None or v is False for v in options.values())


def short_cut(
    core: Callable[..., None],
    types: str,
    x: object,
    numbers: Sequence[Any],
    flags: Sequence[bool],
    values: object = None,
) -> Array | None:
    """A result of the shape of x, or None where this way is not enough; `types` are the core's.

    Some operations take values too, (..., n) or (..., n, d) for x of (..., n), whose shape it has.
    """
    if not _is_plain(x) or x.dtype.char not in types or not all_plain(numbers):
        return None
    arrays = [x]
    if values is not None:
        if not _is_plain(values) or values.dtype != x.dtype:
            return None
        if values.shape[: x.ndim] != x.shape or values.ndim > x.ndim + 1:
            return None
        arrays.append(values)
    out = np.empty_like(arrays[-1])
    rows = x.size // x.shape[-1]
    *given, to = (a.reshape(rows, -1) for a in (*arrays, out))
    core(*given, *map(float, numbers), to, *flags, 0)
    return out


def _is_plain(array: object) -> TypeGuard[Array]:
    if type(array) is not np.ndarray or not array.dtype.isnative:
        return False
    flags = array.flags
    return bool(flags.c_contiguous and flags.aligned and array.size and array.ndim)
