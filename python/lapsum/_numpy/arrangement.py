"""Operations whose arguments are arranged before they are rows: axes, columns, points, levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lapsum import _core

from .layout import (
    Array,
    Shape,
    axis_of,
    expect_shape,
    number,
    real_array,
    row_array,
    values_tail,
)
from .operation import Flags, Operation
from .padding import length_array, mask_array, padding
from .plain_rows import nothing_asked, short_cut
from .weights import gradient_of_weights, soft_only, weight_array


class AlongAxis:
    """An operation along any one axis of its array, `dim` or `axis`. Some take weights."""

    def __init__(self, operation: Operation, weights: bool = False) -> None:
        self.operation = operation
        self.weighted = operation.weighted() if weights else None

    def _axis(self, suffix: str, x: object, dim: int, axis: int | None) -> tuple[str, Array, int]:
        op = self.operation.name + suffix
        array = row_array(op, "x", x)
        return op, array, axis_of(op, dim, axis, array.ndim)

    def _arrays(
        self, op: str, array: Array, at: int, weights: object, options: dict[str, Any]
    ) -> tuple[Operation, list[Array]]:
        """The operation and its arrays along their last axis; so is the mask among the options."""
        if options.get("mask") is not None:
            mask = mask_array(op, options["mask"], array.shape)
            options["mask"] = np.moveaxis(mask, at, -1)
        rows = np.moveaxis(array, at, -1)
        if weights is None:
            return self.operation, [rows]
        assert self.weighted is not None
        return self.weighted, [rows, np.moveaxis(weight_array(op, weights, array), at, -1)]

    def value(
        self,
        x: object,
        *rest: object,
        dim: int,
        axis: int | None,
        weights: object = None,
        **options: Any,
    ) -> Array:
        if dim == -1 and axis is None and weights is None and self._keeps_axis():
            short = self._short_cut(x, rest, **options)
            if short is not None:
                return short
        op, array, at = self._axis("", x, dim, axis)
        soft_only(op, weights, options.get("hard", False))
        operation, arrays = self._arrays(op, array, at, weights, options)
        return self._back(operation.value(*arrays, *rest, **options), at)

    def _short_cut(
        self, x: object, numbers: Sequence[object], flags: Flags = (), **options: Any
    ) -> Array | None:
        if not nothing_asked(options):
            return None
        types = "efd" if self.operation.halves else "fd"
        return short_cut(getattr(_core, self.operation.core), types, x, numbers, flags)

    def vjp(
        self,
        x: object,
        *rest: object,
        dim: int,
        axis: int | None,
        weights: object = None,
        **options: Any,
    ) -> tuple[Array, ...]:
        """With weights their gradient comes last."""
        op, array, at = self._axis("_vjp", x, dim, axis)
        operation, arrays = self._arrays(op, array, at, weights, options)
        *rest, g = rest  # type: ignore[assignment]
        g = real_array(op, "g", g)
        if self._keeps_axis() and g.ndim >= -at:
            g = np.moveaxis(g, at, -1)
        gx, *others = operation.vjp(*arrays, *rest, g, **options)
        gx = np.moveaxis(gx, -1, at)
        if weights is None:
            return (gx, *others)
        gweights, *others = others
        return (gx, *others, gradient_of_weights(np.moveaxis(gweights, -1, at), weights))

    def jvp(
        self,
        x: object,
        *rest: object,
        dim: int,
        axis: int | None,
        weights: object = None,
        dweights: object = None,
        **options: Any,
    ) -> Array:
        op, array, at = self._axis("_jvp", x, dim, axis)
        operation, arrays = self._arrays(op, array, at, weights, options)
        half = len(rest) // 2
        dx = rest[half]
        if dx is not None:
            dx = real_array(op, "dx", dx)
            expect_shape(op, "dx", dx, array.shape)
            dx = np.moveaxis(dx, at, -1)
        tangents: list[object] = [dx]
        if weights is not None:
            if dweights is not None:
                expect_shape(op, "dweights", np.asarray(dweights), np.asarray(weights).shape)
                dweights = np.moveaxis(weight_array(op, dweights, array), at, -1)
            tangents.append(dweights)
        out = operation.jvp(*arrays, *rest[:half], *tangents, *rest[half + 1 :], **options)
        return self._back(out, at)

    def complement_level(
        self,
        x: object,
        k: object,
        alpha: object,
        largest: bool,
        dim: int,
        axis: int | None,
        weights: object,
        mask: object,
        lengths: object,
    ) -> Array:
        """The level of the elements left out: n - k, and at least those that are never chosen."""
        op, array, at = self._axis("", x, dim, axis)
        softness = np.asarray(number(op, "alpha", alpha).value)
        never = np.where((softness < 0) != largest, -np.inf, np.inf)
        options = {"mask": mask}
        ones = 1.0 if weights is None else weights
        _, arrays = self._arrays(op, array, at, ones, options)
        absent = padding(op, arrays[0].shape, options["mask"], lengths)
        rows, counts = (absent.pack(a) if absent else a for a in arrays)
        if absent is not None:
            counts = np.where(absent.present(rows.shape[-1]), counts, 0)
        counts = counts.astype(np.float64)
        left_out = np.where(rows == never[..., None], counts, 0.0).sum(-1)
        return np.maximum(counts.sum(-1) - np.asarray(number(op, "k", k).value), left_out)

    def _keeps_axis(self) -> bool:
        return len(self.operation.result((1,))) == 1

    def _back(self, result: Array, at: int) -> Array:
        return np.moveaxis(result, -1, at) if self._keeps_axis() else result


class Permute(Operation):
    """soft_permute: values are (..., n), or (..., n, d) with one axis more than x."""

    def __init__(self) -> None:
        super().__init__("soft_permute", ("x", "values"), result=lambda x, values: values)

    def value(self, *args: object, flags: Flags = (), **options: Any) -> Array:
        x, values, alpha = args
        if nothing_asked(options):
            short = short_cut(getattr(_core, self.core), "fd", x, [alpha], flags, values)
            if short is not None:
                return short
        return super().value(*args, flags=flags, **options)

    def arrays_by_element(self, flags: Flags) -> int:
        """P takes elements to positions, its transpose positions to elements."""
        transpose, *_ = flags
        return 1 if transpose else 2

    def element_axis(self, flags: Flags, tail: Shape) -> int:
        transpose, *_ = flags
        return -len(tail) if transpose else 0

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

    def _lift(
        self, suffix: str, r: object, k: object, alpha: object, options: dict[str, Any]
    ) -> tuple[Array, Any, bool]:
        op = self.operation.name + suffix
        row = row_array(op, "r", r)
        levels = number(op, "k", k)
        if not levels.shape:
            return row, alpha, False
        if options.get("mask") is not None:
            options["mask"] = mask_array(op, options["mask"], row.shape)[..., None, :]
        if options.get("lengths") is not None:
            counts = length_array(op, options["lengths"])
            options["lengths"] = counts[..., None] if counts.ndim else counts
        softness = number(op, "alpha", alpha)
        lifted = np.asarray(softness.value)[..., None] if softness.shape else alpha
        return row[..., None, :], lifted, True

    def value(self, r: object, k: object, alpha: object, **options: Any) -> Array:
        row, softness, _ = self._lift("", r, k, alpha, options)
        return self.operation.value(row, k, softness, **options)

    def vjp(
        self, r: object, k: object, alpha: object, g: object, **options: Any
    ) -> tuple[Array, ...]:
        row, softness, lifted = self._lift("_vjp", r, k, alpha, options)
        gr, gk, galpha = self.operation.vjp(row, k, softness, g, **options)
        if lifted:
            gr = gr[..., 0, :]
            galpha = galpha[..., 0] if np.ndim(galpha) else galpha
        return gr, gk, galpha

    def jvp(self, *args: object, **options: Any) -> Array:
        r, k, alpha, dr, dk, dalpha = args
        row, softness, lifted = self._lift("_jvp", r, k, alpha, options)
        if lifted:
            if dr is not None:
                dr = row_array(f"{self.operation.name}_jvp", "dr", dr)[..., None, :]
            dalpha = dalpha if np.ndim(dalpha) == 0 else np.asarray(dalpha)[..., None]  # type: ignore[arg-type]
        return self.operation.jvp(row, k, softness, dr, dk, dalpha, **options)
