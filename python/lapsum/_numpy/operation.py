"""Every operation of the core as a function of NumPy arrays, with its vjp and jvp.

The core's functions have one pattern: arrays, levels (if any) and alpha; then the output, or the
incoming gradient and the outgoing ones, or the tangents and the output; then flags and threads.
"""

from __future__ import annotations

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
    thread_count,
)

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
    ) -> None:
        self.op = op
        self.names = list(arrays)
        self.arrays = list(arrays.values())
        self.tails = list(tails)
        batches = {
            n: a.shape[: a.ndim - t] for (n, a), t in zip(arrays.items(), tails, strict=True)
        }
        self.layout = Layout(op, batches, batches[self.names[0]], alpha, levels, level_name or "k")
        self.dtype = compute_dtype(*self.arrays)
        self.result_dtype = np.result_type(*self.arrays)
        self.threads = thread_count(op, num_threads)

    def inputs(self) -> list[Any]:
        layout = self.layout
        levels = [] if layout.levels is None else [layout.per_level(layout.levels)]
        return [
            *(self.split(a, t) for a, t in zip(self.arrays, self.tails, strict=True)),
            *levels,
            layout.per_row(layout.alpha),
        ]

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

    `result` tells the last axes of the result from those of the arrays.
    """

    def __init__(
        self,
        name: str,
        arrays: Sequence[str] = ("x",),
        level: str | None = None,
        result: Callable[..., Shape] = lambda x: x,
    ) -> None:
        self.name = name
        self.array_names = list(arrays)
        self.level = level
        self.result = result

    def tails(self, op: str, arrays: Sequence[Array]) -> list[int]:
        """How many last axes of each array belong to a row."""
        return [1] * len(arrays)

    def _call(self, op: str, args: Sequence[object], num_threads: int | None) -> Call:
        count = len(self.array_names)
        arrays = {n: row_array(op, n, a) for n, a in zip(self.array_names, args, strict=False)}
        levels = number(op, self.level, args[count]) if self.level else None
        alpha = number(op, "alpha", args[-1])
        tails = self.tails(op, list(arrays.values()))
        return Call(op, arrays, tails, alpha, self.level, levels, num_threads)

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
    ) -> Array:
        call = self._call(self.name, args, num_threads)
        tail = self._result_tail(call)
        out = call.empty(tail)
        getattr(_core, self.name)(*call.inputs(), out, *flags, call.threads)
        if hard:
            return hard_result(
                self.name, call.arrays[0], call.layout.levels, call.layout.alpha, flags
            )
        return call.layout.join_result(out, call.result_dtype, tail)

    def vjp(
        self, *args: object, flags: Flags = (), num_threads: int | None = None
    ) -> tuple[Array, ...]:
        *args, g = args  # type: ignore[assignment]
        op = f"{self.name}_vjp"
        call = self._call(op, args, num_threads)
        layout = call.layout
        tail = self._result_tail(call)
        g = real_array(op, "g", g)
        expect_shape(op, "g", g, layout.batch + tail)
        given = layout.split_result(g, call.dtype, len(tail)).reshape(call.empty(tail).shape)
        inputs = call.inputs()
        outs = [np.empty(split.shape, call.dtype) for split in inputs[: len(call.arrays)]]
        glevels = [] if layout.levels is None else [np.empty(layout.rows * layout.level_count)]
        galpha = np.empty(layout.rows)
        getattr(_core, op)(*inputs, given, *outs, *glevels, galpha, *flags, call.threads)
        gradients = [
            layout.join(out, a, t) for out, a, t in zip(outs, call.arrays, call.tails, strict=True)
        ]
        if layout.levels is not None:
            gradients.append(layout.join_per_level(glevels[0], layout.levels))
        return (*gradients, layout.join_per_row(galpha, layout.alpha))

    def jvp(self, *args: object, flags: Flags = (), num_threads: int | None = None) -> Array:
        half = len(args) // 2
        op = f"{self.name}_jvp"
        call = self._call(op, args[:half], num_threads)
        layout = call.layout
        tangents: list[Array | None] = []
        given_all = args[half : half + len(call.arrays)]
        for name, like, tails, given in zip(
            call.names, call.arrays, call.tails, given_all, strict=True
        ):
            if given is None:
                tangents.append(None)
                continue
            along = real_array(op, f"d{name}", given)
            expect_shape(op, f"d{name}", along, like.shape)
            tangents.append(call.split(along, tails))
        if layout.levels is not None:
            tangents.append(layout.tangent(f"d{self.level}", args[-2], layout.levels, "level"))
        tangents.append(layout.tangent("dalpha", args[-1], layout.alpha, "row"))
        tail = self._result_tail(call)
        out = call.empty(tail)
        getattr(_core, op)(*call.inputs(), *tangents, out, *flags, call.threads)
        return layout.join_result(out, call.result_dtype, tail)
