"""How the arrays of one call lie as rows: axes moved, batches broadcast, and all of it undone.

The C++ core takes 2-D arrays with contiguous rows, and k and alpha as numbers or float64 arrays.
Arguments are checked here for type and shape; their values are checked by the core.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Shape = tuple[int, ...]

_MOST_THREADS = 1 << 20

_COMPUTE: dict[str, np.dtype[Any]] = {
    "f2": np.dtype(np.float32),
    "f4": np.dtype(np.float32),
    "f8": np.dtype(np.float64),
}


class Number(NamedTuple):
    """A k or an alpha: a plain number, or an array that never raises on its values."""

    value: float | Array
    dtype: np.dtype[Any]

    @property
    def shape(self) -> Shape:
        return self.value.shape if isinstance(self.value, np.ndarray) else ()


def _array(op: str, name: str, value: object) -> Array:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{op}: {name} must not be a masked array; fill it, for example with -inf")
    try:
        return np.asarray(value)
    except ValueError as error:  # a ragged list
        raise ValueError(f"{op}: {name} must be an array: {error}") from None


def real_array(op: str, name: str, value: object) -> Array:
    """`value` as an array of a floating dtype the core can compute with."""
    array = _array(op, name, value)
    if array.dtype.str[1:] not in _COMPUTE:
        got = kind_of(value, array)
        raise TypeError(f"{op}: {name} must be float16, float32 or float64, got {got}")
    return array


def row_array(op: str, name: str, value: object) -> Array:
    """As `real_array`, with at least one axis."""
    array = real_array(op, name, value)
    if array.ndim == 0:
        raise ValueError(f"{op}: {name} must have at least one dimension, got a single number")
    return array


def plain_number(value: Any) -> float:
    """A float; infinite for an integer beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


_LARGE = 1 << 1000


def all_plain(numbers: Sequence[Any]) -> bool:
    """Whether the core takes them as they are; an integer beyond all floats is not."""
    for v in numbers:
        if type(v) is not float and not (type(v) is int and -_LARGE < v < _LARGE):
            return False
    return True


def kind_of(value: object, array: Array) -> str:
    """What was given, for an error: the dtype of its array, or its type."""
    return type(value).__name__ if array.dtype.kind == "O" else str(array.dtype)


def not_real(op: str, name: str, got: object) -> TypeError:
    return TypeError(f"{op}: {name} must be a real number or an array of them, got {got}")


def number(op: str, name: str, value: object) -> Number:
    """A k or an alpha; integers are welcome here."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        return Number(plain_number(value), np.dtype(np.float64))
    array = _array(op, name, value)
    if array.dtype.kind not in "fiu" or array.dtype.str[1:] == "f16":
        raise not_real(op, name, kind_of(value, array))
    dtype = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
    return Number(array.astype(np.float64), dtype)


def axis_of(op: str, dim: int, axis: int | None, ndim: int) -> int:
    """The axis that `dim` or its other name `axis` means, counted from the end."""
    if axis is not None and dim != -1:
        raise TypeError(f"{op}: dim and axis are the same argument, got dim={dim} and axis={axis}")
    name, value = ("dim", dim) if axis is None else ("axis", axis)
    try:
        index = operator.index(value)
    except TypeError:
        raise TypeError(f"{op}: {name} must be an integer, got {value!r}") from None
    if not -ndim <= index < ndim:
        raise IndexError(f"{op}: {name} must be in [{-ndim}, {ndim - 1}], got {name}={index}")
    return index % ndim - ndim


def thread_count(op: str, num_threads: int | None) -> int:
    """The core's thread argument, 0 for its own choice."""
    if num_threads is None:
        return 0
    try:
        count = operator.index(num_threads)
    except TypeError:
        raise TypeError(f"{op}: num_threads must be an integer, got {num_threads!r}") from None
    if count < 1:
        raise ValueError(f"{op}: num_threads must be 1 or more, got num_threads={count}")
    return min(count, _MOST_THREADS)


def compute_dtype(*arrays: Array) -> np.dtype[Any]:
    """float64 if any array is, else float32."""
    return max((_COMPUTE[a.dtype.str[1:]] for a in arrays), key=lambda d: d.itemsize)


def expect_shape(op: str, name: str, array: Array, shape: Shape) -> None:
    if array.shape != shape:
        raise ValueError(f"{op}: {name} must have shape {shape}, got {array.shape}")


def values_tail(op: str, x: Shape, values: Shape) -> int:
    """How many last axes of permuted values belong to a row: 1 for (..., n), 2 for (..., n, d)."""
    tail, n = len(values) - len(x) + 1, x[-1]
    if tail not in (1, 2) or values[len(values) - tail] != n:
        raise ValueError(
            f"{op}: values must have shape (..., {n}) with {len(x)} axes or (..., {n}, d) with "
            f"{len(x) + 1}, got {values}"
        )
    return tail


def sum_to(array: Array, shape: Shape) -> Array:
    """The adjoint of broadcasting `shape` to the shape of `array`."""
    extra = array.ndim - len(shape)
    ones = tuple(
        extra + i for i, size in enumerate(shape) if size == 1 and array.shape[extra + i] != 1
    )
    return array.sum(axis=tuple(range(extra)) + ones, keepdims=True).reshape(shape)


class Layout:
    """The batch of one call, cut into rows.

    The batch shapes of all arguments broadcast together. With `levels`, batch axes along which only
    k varies become several levels of one row, so that the core can share its work among them.
    """

    def __init__(
        self,
        op: str,
        batches: dict[str, Shape],
        row: Shape,
        alpha: Number,
        levels: Number | None = None,
        level_name: str = "k",
        lengths: Number | None = None,
    ) -> None:
        shapes = dict(batches, alpha=alpha.shape)
        if lengths is not None:
            shapes["lengths"] = lengths.shape
        if levels is not None:
            shapes[level_name] = levels.shape
        try:
            self.batch = np.broadcast_shapes(*shapes.values())
        except ValueError:
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ValueError(f"{op}: batch shapes do not broadcast: {listed}") from None
        self.op = op
        self.alpha = alpha
        self.levels = levels
        self._row_axes = list(range(len(self.batch)))
        self._level_axes: list[int] = []
        if levels is not None:
            own = [row, alpha.shape, () if lengths is None else lengths.shape]
            fixed = [self._padded(shape) for shape in own]
            self._level_axes = [
                a
                for a, size in enumerate(self.batch)
                if size != 1 and all(shape[a] == 1 for shape in fixed)
            ]
            self._row_axes = [a for a in self._row_axes if a not in self._level_axes]
        self.row_batch = tuple(self.batch[a] for a in self._row_axes)
        self.level_batch = tuple(self.batch[a] for a in self._level_axes)
        self.rows = int(np.prod(self.row_batch, dtype=np.int64))
        self.level_count = int(np.prod(self.level_batch, dtype=np.int64))

    def _padded(self, shape: Shape) -> Shape:
        return (1,) * (len(self.batch) - len(shape)) + shape

    def _row_shape(self) -> Shape:
        """The batch shape with 1 along the axes of levels."""
        return tuple(1 if a in self._level_axes else s for a, s in enumerate(self.batch))

    def split(self, array: Array, dtype: np.dtype[Any], tail: int = 1) -> Array:
        """(..., *tail) without levels to (rows, prod(tail)): contiguous, of the core's dtype."""
        shape = array.shape[array.ndim - tail :]
        full = np.broadcast_to(array, self._row_shape() + shape)
        width = int(np.prod(shape, dtype=np.int64))
        return np.require(full, dtype, ["C", "A"]).reshape(self.rows, width)

    def join(self, array: Array, like: Array, tail: int = 1) -> Array:
        """The adjoint of `split`: (rows, ...) back to the shape and dtype of `like`."""
        full = array.reshape(self._row_shape() + like.shape[like.ndim - tail :])
        return _cast(sum_to(full, like.shape), like.dtype)

    def split_result(self, array: Array, dtype: np.dtype[Any], tail: int = 1) -> Array:
        """(*batch, *tail) to (rows * levels, prod(tail)), in the core's order."""
        axes = self._row_axes + self._level_axes
        rest = list(range(len(self.batch), array.ndim))
        moved = array.transpose(axes + rest)
        width = int(np.prod(array.shape[array.ndim - tail :], dtype=np.int64)) if tail else 1
        shape = (self.rows * self.level_count, width)
        return np.require(moved, dtype, ["C", "A"]).reshape(shape)

    def join_result(self, array: Array, dtype: np.dtype[Any], tail: Sequence[int]) -> Array:
        """The inverse of `split_result`."""
        axes = self._row_axes + self._level_axes
        tail = tuple(tail)
        full = array.reshape(self.row_batch + self.level_batch + tail)
        back = [axes.index(a) for a in range(len(axes))]
        rest = list(range(len(axes), full.ndim))
        return _cast(full.transpose(back + rest), dtype)

    def per_row(self, value: Number) -> float | Array:
        """A number per row, for the core."""
        if not isinstance(value.value, np.ndarray):
            return value.value
        return np.ascontiguousarray(np.broadcast_to(value.value, self._row_shape())).reshape(-1)

    def per_level(self, value: Number) -> float | Array:
        """A number per level of each row, for the core."""
        if not isinstance(value.value, np.ndarray):
            return value.value
        full = np.broadcast_to(value.value, self.batch)
        shape = (self.rows, self.level_count)
        return self.split_result(full, np.dtype(np.float64), tail=0).reshape(shape)

    def join_per_row(self, array: Array, like: Number) -> Array:
        """The gradient of `per_row`."""
        return _cast(sum_to(array.reshape(self._row_shape()), like.shape), like.dtype)

    def join_per_level(self, array: Array, like: Number) -> Array:
        """The gradient of `per_level`."""
        full = self.join_result(array, np.dtype(np.float64), ())
        return _cast(sum_to(full, like.shape), like.dtype)

    def tangent(self, name: str, value: object, of: Number, per: str) -> Array | None:
        """The tangent of a k or an alpha, one per level or per row; None stands for zero."""
        if value is None:
            return None
        given = number(self.op, name, value)
        expect_shape(self.op, name, np.asarray(given.value), of.shape)
        array = Number(np.asarray(given.value), given.dtype)
        laid = self.per_level(array) if per == "level" else self.per_row(array)
        return np.asarray(laid).reshape(-1)


def _cast(array: Array, dtype: np.dtype[Any]) -> Array:
    """To `dtype`; what is finite stays finite."""
    if np.finfo(dtype).max < np.finfo(array.dtype).max:
        most = np.finfo(dtype).max
        array = np.where(np.isinf(array), array, np.clip(array, -most, most))
    return array.astype(dtype, order="C", copy=False)[()]
