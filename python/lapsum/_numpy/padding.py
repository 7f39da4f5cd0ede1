"""Elements that are absent: a mask or lengths, as present elements first and how many they are."""

from __future__ import annotations

import numpy as np

from .layout import Array, Number, Shape


class Padding:
    """Which elements of the rows of one call are present. `lengths` broadcasts with the batch."""

    def __init__(self, lengths: Array, order: Array | None = None) -> None:
        self.lengths = Number(np.asarray(lengths, np.int64), np.dtype(np.int64))
        self._order = order
        self._back = None if order is None else np.argsort(order, axis=-1, kind="stable")

    def pack(self, array: Array, axis: int = -1, tail: int = 1) -> Array:
        """Present elements first, in their order, along one of the `tail` last axes."""
        return _along(array, self._order, axis, tail)

    def unpack(self, array: Array, axis: int = -1, tail: int = 1) -> Array:
        """The inverse of `pack`."""
        return _along(array, self._back, axis, tail)

    def present(self, n: int) -> Array:
        """Where the present elements of packed rows are."""
        return np.arange(n) < np.asarray(self.lengths.value)[..., None]


def _along(array: Array, index: Array | None, axis: int, tail: int) -> Array:
    if index is None:
        return array
    own = (1,) * (tail + axis) + index.shape[-1:] + (1,) * (-1 - axis)
    batch = np.broadcast_shapes(array.shape[: array.ndim - tail], index.shape[:-1])
    index = np.broadcast_to(index.reshape(index.shape[:-1] + own), batch + own)
    array = np.broadcast_to(array, batch + array.shape[array.ndim - tail :])
    return np.take_along_axis(array, index, axis)


def padding(op: str, shape: Shape, mask: object, lengths: object) -> Padding | None:
    """The padding of rows x of this shape along its last axis; None where all is present."""
    if mask is not None and lengths is not None:
        raise TypeError(f"{op}: mask and lengths exclude each other, got both")
    if mask is not None:
        where = mask_array(op, mask, shape)
        return Padding(where.sum(-1), np.argsort(~where, axis=-1, kind="stable"))
    if lengths is not None:
        return Padding(length_array(op, lengths))
    return None


def mask_array(op: str, mask: object, shape: Shape) -> Array:
    """A mask with one entry for every element."""
    where = np.asarray(mask)
    if where.dtype != np.bool_:
        raise TypeError(f"{op}: mask must be boolean, got {where.dtype}")
    try:
        return np.broadcast_to(where, shape)
    except ValueError:
        raise ValueError(
            f"{op}: mask must broadcast to the shape of the row argument {shape}, got {where.shape}"
        ) from None


def length_array(op: str, lengths: object) -> Array:
    counts = np.asarray(lengths)
    if counts.dtype.kind not in "iu":
        raise TypeError(f"{op}: lengths must be an integer or an array of them, got {counts.dtype}")
    return counts.astype(np.int64)
