"""Operations whose arguments are arranged before they are rows: axes, columns, points, levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .layout import (
    Array,
    axis_of,
    expect_shape,
    number,
    real_array,
    row_array,
    values_tail,
)
from .operation import Operation


class AlongAxis:
    """An operation along any one axis of its array, `dim` or `axis`."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation

    def _axis(self, suffix: str, x: object, dim: int, axis: int | None) -> tuple[str, Array, int]:
        op = self.operation.name + suffix
        array = row_array(op, "x", x)
        return op, array, axis_of(op, dim, axis, array.ndim)

    def value(self, x: object, *rest: object, dim: int, axis: int | None, **options: Any) -> Array:
        _, array, at = self._axis("", x, dim, axis)
        return self._back(self.operation.value(np.moveaxis(array, at, -1), *rest, **options), at)

    def vjp(
        self, x: object, *rest: object, dim: int, axis: int | None, **options: Any
    ) -> tuple[Array, ...]:
        op, array, at = self._axis("_vjp", x, dim, axis)
        *rest, g = rest  # type: ignore[assignment]
        g = real_array(op, "g", g)
        if self._keeps_axis() and g.ndim >= -at:
            g = np.moveaxis(g, at, -1)
        gx, *others = self.operation.vjp(np.moveaxis(array, at, -1), *rest, g, **options)
        return (np.moveaxis(gx, -1, at), *others)

    def jvp(self, x: object, *rest: object, dim: int, axis: int | None, **options: Any) -> Array:
        op, array, at = self._axis("_jvp", x, dim, axis)
        half = len(rest) // 2
        dx = rest[half]
        if dx is not None:
            dx = real_array(op, "dx", dx)
            expect_shape(op, "dx", dx, array.shape)
            dx = np.moveaxis(dx, at, -1)
        out = self.operation.jvp(
            np.moveaxis(array, at, -1), *rest[:half], dx, *rest[half + 1 :], **options
        )
        return self._back(out, at)

    def complement_level(
        self, x: object, k: object, alpha: object, largest: bool, dim: int, axis: int | None
    ) -> Array:
        """The level of the elements left out: n - k, and at least those that are never chosen."""
        op, array, at = self._axis("", x, dim, axis)
        softness = np.asarray(number(op, "alpha", alpha).value)
        never = np.where((softness < 0) != largest, -np.inf, np.inf)
        rows = np.moveaxis(array, at, -1)
        left_out = (rows == never[..., None]).sum(-1)
        return np.maximum(rows.shape[-1] - np.asarray(number(op, "k", k).value), left_out)

    def _keeps_axis(self) -> bool:
        return len(self.operation.result((1,))) == 1

    def _back(self, result: Array, at: int) -> Array:
        return np.moveaxis(result, -1, at) if self._keeps_axis() else result


class Permute(Operation):
    """soft_permute: values are (..., n), or (..., n, d) with one axis more than x."""

    def __init__(self) -> None:
        super().__init__("soft_permute", ("x", "values"), result=lambda x, values: values)

    def tails(self, op: str, arrays: Sequence[Array]) -> list[int]:
        x, values = arrays
        return [1, values_tail(op, x.shape, values.shape)]


class AtPoints(Operation):
    """Sums over a row r at the points x of the same batch; a single number is a single point."""

    def tails(self, op: str, arrays: Sequence[Array]) -> list[int]:
        if len(arrays) == 3:
            expect_shape(op, "w", arrays[1], arrays[0].shape)
        return [1] * len(arrays)

    def _lift(self, op: str, x: object) -> tuple[Array, bool]:
        array = real_array(op, "x", float(x) if isinstance(x, int) else x)
        return (array[None], True) if array.ndim == 0 else (array, False)

    def value(self, *args: object, **options: Any) -> Array:
        *others, x, alpha = args
        points, single = self._lift(self.name, x)
        out = super().value(*others, points, alpha, **options)
        return out[..., 0][()] if single else out

    def vjp(self, *args: object, **options: Any) -> tuple[Array, ...]:
        r, x, alpha, g = args
        points, single = self._lift(f"{self.name}_vjp", x)
        if single:
            g = np.asarray(g)[..., None]
        gr, gx, galpha = super().vjp(r, points, alpha, g, **options)
        return gr, (gx[0] if single else gx), galpha

    def jvp(self, *args: object, **options: Any) -> Array:
        r, x, alpha, dr, dx, dalpha = args
        points, single = self._lift(f"{self.name}_jvp", x)
        if single and dx is not None:
            dx = np.asarray(dx)[..., None]
        out = super().jvp(r, points, alpha, dr, dx, dalpha, **options)
        return out[..., 0][()] if single else out


class AtLevels:
    """lap_sum_inverse: levels along the last axis of k, for the rows of the same batch."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation

    def _lift(self, suffix: str, r: object, k: object, alpha: object) -> tuple[Array, Any, bool]:
        op = self.operation.name + suffix
        row = row_array(op, "r", r)
        levels = number(op, "k", k)
        if not levels.shape:
            return row, alpha, False
        softness = number(op, "alpha", alpha)
        lifted = np.asarray(softness.value)[..., None] if softness.shape else alpha
        return row[..., None, :], lifted, True

    def value(self, r: object, k: object, alpha: object, **options: Any) -> Array:
        row, softness, _ = self._lift("", r, k, alpha)
        return self.operation.value(row, k, softness, **options)

    def vjp(
        self, r: object, k: object, alpha: object, g: object, **options: Any
    ) -> tuple[Array, ...]:
        row, softness, lifted = self._lift("_vjp", r, k, alpha)
        gr, gk, galpha = self.operation.vjp(row, k, softness, g, **options)
        if lifted:
            gr = gr[..., 0, :]
            galpha = galpha[..., 0] if np.ndim(galpha) else galpha
        return gr, gk, galpha

    def jvp(self, *args: object, **options: Any) -> Array:
        r, k, alpha, dr, dk, dalpha = args
        row, softness, lifted = self._lift("_jvp", r, k, alpha)
        if lifted:
            if dr is not None:
                dr = row_array(f"{self.operation.name}_jvp", "dr", dr)[..., None, :]
            dalpha = dalpha if np.ndim(dalpha) == 0 else np.asarray(dalpha)[..., None]  # type: ignore[arg-type]
        return self.operation.jvp(row, k, softness, dr, dk, dalpha, **options)
