"""Every operation of the core as a function of NumPy arrays, with its vjp and jvp.

The core's functions have one pattern: arrays, levels (if any) and alpha; then the output, or the
incoming gradient and the outgoing ones, or the tangents and the output; then flags and threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lapsum import _core

from .hard import hard as hard_result
from .layout import (
    Array,
    Layout,
    Number,
    Shape,
    compute_dtype,
    expect_shape,
    number,
    real_array,
    row_array,
    sum_to,
    thread_count,
)
from .padding import Padding, padding

Flags = Sequence[bool]


class Call:
    """The arguments of one call, as rows for the core."""

    def __init__(
        self,
        op: str,
        arrays: dict[str, Array],
        tails: Sequence[int],
        alpha: Number,
        level_name: str | None,
        levels: Number | None,
        num_threads: int | None,
        absent: Padding | None,
        packed: int,
        halves: bool,
    ) -> None:
        self.op = op
        self.names = list(arrays)
        self.given = list(arrays.values())
        self.tails = list(tails)
        self.absent = absent
        self._packed = packed
        self.arrays = [self.pack(i, a) for i, a in enumerate(self.given)]
        batches = {
            n: a.shape[: a.ndim - t] for (n, a), t in zip(arrays.items(), tails, strict=True)
        }
        lengths = None if absent is None else absent.lengths
        row = batches[self.names[0]]
        self.layout = Layout(op, batches, row, alpha, levels, level_name or "k", lengths)
        self.dtype = compute_dtype(*self.arrays)
        self.result_dtype = np.result_type(*self.arrays)
        # A gradient that is summed over what was broadcast is summed in the wider type.
        if halves and self.layout.rows == math.prod(row) and self.arrays[0].dtype == np.float16:
            self.dtype = self.arrays[0].dtype
        self.threads = thread_count(op, num_threads)

    def inputs(self) -> list[Any]:
        layout = self.layout
        levels = [] if layout.levels is None else [layout.per_level(layout.levels)]
        return [
            *(self.split(a, t) for a, t in zip(self.arrays, self.tails, strict=True)),
            *levels,
            layout.per_row(layout.alpha),
        ]

    def widen(self, given: Array) -> None:
        """float16 is left as it is only where all arrays have it."""
        if given.dtype != self.dtype:
            self.dtype = compute_dtype(*self.arrays)

    def options(self) -> dict[str, Any]:
        """What the core takes by name."""
        if self.absent is None:
            return {}
        return {"lengths": self.layout.per_row(self.absent.lengths)}

    def pack(self, i: int, array: Array) -> Array:
        """What is given for array i, with present elements first."""
        if self.absent is None or i >= self._packed:
            return array
        return self.absent.pack(array, -self.tails[i], self.tails[i])

    def unpack(self, i: int, array: Array) -> Array:
        """The adjoint of `pack`."""
        if self.absent is None or i >= self._packed:
            return array
        return sum_to(self.absent.unpack(array, -self.tails[i], self.tails[i]), self.given[i].shape)

    def split(self, array: Array, tail: int) -> Array:
        return self.layout.split(array, self.dtype, tail)

    def empty(self, tail: Shape) -> Array:
        """Room for a result, as the core wants it: masks as rows, other levels along the row."""
        count = self.layout.rows * self.layout.level_count
        width = int(np.prod(tail, dtype=np.int64))
        return np.empty(
            (count, width) if tail else (self.layout.rows, self.layout.level_count), self.dtype
        )


class Operation:
    """An operation on arrays whose last axes are the row: `arrays` names them, `level` the levels.

    `result` tells the last axes of the result from those of the arrays; `elements` how many of the
    first arrays go by elements, and `by_element` whether the last axis of the result does; `core`
    is the core's name of the operation if it is another.
    """

    def __init__(
        self,
        name: str,
        arrays: Sequence[str] = ("x",),
        level: str | None = None,
        result: Callable[..., Shape] = lambda x: x,
        elements: int = 1,
        by_element: bool = False,
        core: str | None = None,
    ) -> None:
        self.name = name
        self.core = core or name
        self.array_names = list(arrays)
        self.level = level
        self.result = result
        self.elements = elements
        self.by_element = by_element
        self.halves = hasattr(_core, f"{self.core}_at_float16")  # whether the core reads them

    def weighted(self) -> Operation:
        """The same with weights behind its array."""
        return Operation(
            self.name,
            (*self.array_names, "weights"),
            self.level,
            lambda x, _: self.result(x),
            elements=2,
            by_element=self.by_element,
            core=f"weighted_{self.core}",
        )

    def tails(self, op: str, arrays: Sequence[Array]) -> list[int]:
        """How many last axes of each array belong to a row."""
        return [1] * len(arrays)

    def arrays_by_element(self, flags: Flags) -> int:
        """How many of the first arrays go by elements, not by positions or points."""
        return self.elements

    def element_axis(self, flags: Flags, tail: Shape) -> int:
        """The axis of the result that goes by elements, counted from the end; 0 for none."""
        return -1 if self.by_element else 0

    def _call(
        self,
        op: str,
        args: Sequence[object],
        flags: Flags,
        num_threads: int | None,
        mask: object,
        lengths: object,
    ) -> Call:
        count = len(self.array_names)
        arrays = {n: row_array(op, n, a) for n, a in zip(self.array_names, args, strict=False)}
        levels = number(op, self.level, args[count]) if self.level else None
        alpha = number(op, "alpha", args[-1])
        tails = self.tails(op, list(arrays.values()))
        absent = padding(op, arrays[self.array_names[0]].shape, mask, lengths)
        packed = self.arrays_by_element(flags) if absent else 0
        return Call(
            op, arrays, tails, alpha, self.level, levels, num_threads, absent, packed, self.halves
        )

    def _result_tail(self, call: Call) -> Shape:
        return self.result(
            *(a.shape[a.ndim - t :] for a, t in zip(call.arrays, call.tails, strict=True))
        )

    def value(
        self,
        *args: object,
        flags: Flags = (),
        num_threads: int | None = None,
        hard: bool = False,
        mask: object = None,
        lengths: object = None,
    ) -> Array:
        call = self._call(self.name, args, flags, num_threads, mask, lengths)
        tail = self._result_tail(call)
        out = call.empty(tail)
        getattr(_core, self.core)(*call.inputs(), out, *flags, call.threads, **call.options())
        if hard:
            numbers = call.layout.levels, call.layout.alpha
            return self._home(
                call, flags, hard_result(self.name, call.arrays[0], *numbers, flags, call.absent)
            )
        return self._home(call, flags, call.layout.join_result(out, call.result_dtype, tail))

    def _home(self, call: Call, flags: Flags, result: Array) -> Array:
        """A result for packed rows, its elements where they were."""
        tail = self._result_tail(call)
        axis = self.element_axis(flags, tail)
        return call.absent.unpack(result, axis, len(tail)) if call.absent and axis else result

    def vjp(
        self,
        *args: object,
        flags: Flags = (),
        num_threads: int | None = None,
        mask: object = None,
        lengths: object = None,
    ) -> tuple[Array, ...]:
        *args, g = args  # type: ignore[assignment]
        op = f"{self.name}_vjp"
        call = self._call(op, args, flags, num_threads, mask, lengths)
        layout = call.layout
        tail = self._result_tail(call)
        g = real_array(op, "g", g)
        expect_shape(op, "g", g, layout.batch + tail)
        call.widen(g)
        axis = self.element_axis(flags, tail)
        if call.absent and axis:
            g = call.absent.pack(g, axis, len(tail))
        given = layout.split_result(g, call.dtype, len(tail)).reshape(call.empty(tail).shape)
        inputs = call.inputs()
        outs = [np.empty(split.shape, call.dtype) for split in inputs[: len(call.arrays)]]
        glevels = [] if layout.levels is None else [np.empty(layout.rows * layout.level_count)]
        galpha = np.empty(layout.rows)
        getattr(_core, f"{self.core}_vjp")(
            *inputs, given, *outs, *glevels, galpha, *flags, call.threads, **call.options()
        )
        joined = (
            layout.join(out, a, t) for out, a, t in zip(outs, call.arrays, call.tails, strict=True)
        )
        gradients = [call.unpack(i, gradient) for i, gradient in enumerate(joined)]
        if layout.levels is not None:
            gradients.append(layout.join_per_level(glevels[0], layout.levels))
        return (*gradients, layout.join_per_row(galpha, layout.alpha))

    def jvp(
        self,
        *args: object,
        flags: Flags = (),
        num_threads: int | None = None,
        mask: object = None,
        lengths: object = None,
    ) -> Array:
        half = len(args) // 2
        op = f"{self.name}_jvp"
        call = self._call(op, args[:half], flags, num_threads, mask, lengths)
        layout = call.layout
        tangents: list[Array | None] = []
        given_all = args[half : half + len(call.arrays)]
        for name, like, tails, given in zip(
            call.names, call.given, call.tails, given_all, strict=True
        ):
            if given is None:
                tangents.append(None)
                continue
            along = real_array(op, f"d{name}", given)
            expect_shape(op, f"d{name}", along, like.shape)
            call.widen(along)
            tangents.append(call.split(call.pack(len(tangents), along), tails))
        if layout.levels is not None:
            tangents.append(layout.tangent(f"d{self.level}", args[-2], layout.levels, "level"))
        tangents.append(layout.tangent("dalpha", args[-1], layout.alpha, "row"))
        tail = self._result_tail(call)
        out = call.empty(tail)
        getattr(_core, f"{self.core}_jvp")(
            *call.inputs(), *tangents, out, *flags, call.threads, **call.options()
        )
        return self._home(call, flags, layout.join_result(out, call.result_dtype, tail))
