"""The core's functions on plain CPU tensors: no autograd, memory is shared.

Arguments are as in _numpy/operation.py: arrays, levels (if any), alpha, and for a ragged batch
lengths. All have one batch shape or are floats; levels may have axes behind it, for several levels
of a row. Arrays are float32 or float64, levels and alpha float64, lengths int64. A single array may
be float16 or bfloat16: where the core does not read them, a few rows at a time are computed in
float32, and no copy of the whole is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from lapsum import _core

Argument = Tensor | float
# What a value keeps for its vjp: thresholds, (rows, 2) of anchor and offset, or argsorts, (rows, n)
Kept = np.ndarray[Any, Any] | Tensor

OfClass = TypeVar("OfClass", bound="Kernel")
HALF = (torch.float16, torch.bfloat16)
_TYPES = (torch.float32, torch.float64, *HALF)
_BLOCK = 1 << 20  # elements of a half type that are widened at a time
_ARGSORT_FROM = {
    torch.float64: _core.argsort_from_float64,
    **dict.fromkeys((torch.float32, *HALF), _core.argsort_from_float32),
}


@dataclass(frozen=True)
class Kernel:
    """One operation of the core: how many arrays it takes, and whether it has levels and masks.

    With weights they are the second array, and the core's name of the operation begins so. One
    that sorts can keep the order for its vjp.
    """

    operation: str
    arrays: int = 1
    levels: bool = False
    mask: bool = False
    weighted: bool = False
    sorts: bool = False

    @classmethod
    def like(cls: type[OfClass], kernel: Kernel) -> OfClass:
        """The same operation, by this class."""
        return cls(*astuple(kernel))

    @cached_property
    def name(self) -> str:
        return f"weighted_{self.operation}" if self.weighted else self.operation

    @property
    def numbers(self) -> int:
        """Where the numbers end among the arguments; lengths may follow."""
        return self.arrays + self.levels + 1

    @cached_property
    def by_address(self) -> dict[torch.dtype, tuple[Callable[..., None], Callable[..., None]]]:
        """The value and the vjp on contiguous rows in memory, where the core has them."""
        names = {dtype: str(dtype).removeprefix("torch.") for dtype in _TYPES}
        return {
            dtype: tuple(getattr(_core, f"{self.name}{part}_at_{name}") for part in ("", "_vjp"))
            for dtype, name in names.items()
            if hasattr(_core, f"{self.name}_at_{name}")
        }

    def _widens(self, x: Tensor) -> bool:
        """Whether x is of a type that the core does not read."""
        return x.dtype in HALF and x.dtype not in self.by_address

    def result_shape(self, args: Sequence[Any]) -> list[int]:
        batch, tail = self.batch(args), args[self.arrays - 1].shape[args[0].ndim - 1 :]
        if self.levels:
            return [*batch, *tail] if self.mask else list(batch)
        return [*batch, *tail, *tail] if self.name == "soft_permutation" else [*batch, *tail]

    def batch(self, args: Sequence[Any]) -> torch.Size:
        """The batch of the result: that of the rows, and the levels of each."""
        levels = args[self.arrays] if self.levels else 0.0
        batch: torch.Size = levels.shape if isinstance(levels, Tensor) else args[0].shape[:-1]
        return batch

    def lengths(self, args: Sequence[Any]) -> Tensor | None:
        """How many elements of each row there are; None where all of them."""
        return args[self.numbers] if len(args) > self.numbers else None

    def argsort_from(self, x: Tensor) -> int | None:
        """The shortest rows like those of x whose order the value keeps; None if it keeps none."""
        return _ARGSORT_FROM[x.dtype] if self.sorts else None

    def keeps_argsort(self, x: Tensor) -> bool:
        """Whether the value keeps the order of the rows for the vjp, if asked to."""
        least = self.argsort_from(x)
        return least is not None and x.shape[-1] >= least

    def _options(self, args: Sequence[Any], rows: int) -> dict[str, Any]:
        """What the core takes by name."""
        lengths = self.lengths(args)
        return {} if lengths is None else {"lengths": _flat(lengths, rows).reshape(-1)}

    def _inputs(self, args: Sequence[Argument], rows: int) -> list[Any]:
        inputs: list[Any] = [_flat(a, rows) for a in args[: self.arrays]]
        if self.levels:
            k = args[self.arrays]
            inputs.append(k if isinstance(k, float) else _flat(k, rows))
        alpha = args[self.numbers - 1]
        inputs.append(alpha if isinstance(alpha, float) else _flat(alpha, rows).reshape(-1))
        return inputs

    def _results(self, args: Sequence[Any]) -> int:
        """How many rows the result has: for a mask one per level."""
        return prod(self.batch(args) if self.mask else args[0].shape[:-1])

    def _room(self, args: Sequence[Any], keep: bool) -> tuple[Tensor, Kept | None]:
        kept: Kept | None = None
        if keep and self.mask:
            kept = np.empty((self._results(args), 2))
        elif keep and self.keeps_argsort(args[0]):
            kept = room_for_argsort(args[0])
        return args[0].new_empty(self.result_shape(args)), kept

    def value(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        keep: bool = False,
    ) -> tuple[Tensor, Kept | None]:
        """The result and, if asked to keep it, what spares the vjp a search or a sort."""
        if self._widens(args[0]):
            return self._value_of_half(args, flags, threads, keep)
        rows, threads = prod(args[0].shape[:-1]), threads or torch.get_num_threads()
        out, kept = self._room(args, keep)
        if rows:
            inputs = self._inputs(args, rows)
            results = self._results(args)
            options = self._options(args, rows)
            core = getattr(_core, self.name)
            core(*inputs, _flat(out, results), *flags, threads, *_memory(kept), **options)
        return out, kept

    def vjp(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        saved: Kept | None,
        g: Tensor,
        needs: Sequence[bool],
    ) -> list[Tensor | None]:
        """Gradients of the arguments that need one."""
        if self._widens(args[0]):
            return self._vjp_of_half(args, flags, threads, saved, g, needs)
        rows, threads = prod(args[0].shape[:-1]), threads or torch.get_num_threads()
        grads = room_for_gradients(args, needs)
        if not rows:
            return grads
        outs = [
            t if t is None else _flat(t, rows) if i < self.arrays else t.numpy().reshape(-1)
            for i, t in enumerate(grads[: self.numbers])
        ]
        inputs = [*self._inputs(args, rows), _flat(g, self._results(args))]
        kept, options = _memory(saved), self._options(args, rows)
        getattr(_core, f"{self.name}_vjp")(*inputs, *outs, *flags, threads, *kept, **options)
        return grads

    def jvp(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        tangents: Sequence[Tensor | None],
    ) -> Tensor:
        """The derivative of the result along tangents of the arguments; None stands for zero."""
        x = args[0]
        if self._widens(x):
            first = tangents[0] if tangents[0] is None else tangents[0].to(torch.float32)
            wide = [x.to(torch.float32), *args[1:]], flags, threads, [first, *tangents[1:]]
            return self.jvp(*wide).to(x.dtype)
        rows, threads = prod(x.shape[:-1]), threads or torch.get_num_threads()
        out, _ = self._room(args, False)
        if rows:
            along = [None if t is None else _flat(t, rows) for t in tangents[: self.numbers]]
            along[self.arrays :] = [t if t is None else t.reshape(-1) for t in along[self.arrays :]]
            inputs = [*self._inputs(args, rows), *along, _flat(out, self._results(args))]
            options = self._options(args, rows)
            getattr(_core, f"{self.name}_jvp")(*inputs, *flags, threads, **options)
        return out

    def _value_of_half(
        self, args: Sequence[Any], flags: Sequence[Any], threads: int, keep: bool
    ) -> tuple[Tensor, Kept | None]:
        out, kept = self._room(args, keep)
        for rows, block, own in self._blocks(args):
            part, own_kept = self.value(block, flags, threads, keep)
            _rows(out, args)[rows] = part.reshape(part.shape[0], -1)
            if kept is not None and own_kept is not None:
                kept[own] = own_kept  # type: ignore[assignment]
        return out, kept

    def _vjp_of_half(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        saved: Kept | None,
        g: Tensor,
        needs: Sequence[bool],
    ) -> list[Tensor | None]:
        grads = room_for_gradients(args, needs)
        for rows, block, own in self._blocks(args):
            given = _rows(g, args)[rows].to(torch.float32).reshape(self.result_shape(block))
            kept = None if saved is None else saved[own]
            parts = self.vjp(block, flags, threads, kept, given, needs)
            for grad, part in zip(grads, parts, strict=True):
                if grad is not None and part is not None:
                    _rows(grad, args)[rows] = part.reshape(part.shape[0], -1).to(grad.dtype)
        return grads

    def _blocks(self, args: Sequence[Any]) -> Iterator[tuple[slice, list[Any], slice]]:
        """Some rows, their arguments in float32, and where their results lie."""
        x = args[0].detach().reshape(-1, args[0].shape[-1])
        count = x.shape[0]
        each = prod(self.batch(args)) // count if count else 0
        step = max(1, _BLOCK // max(1, x.shape[-1]))
        numbers = [
            a if isinstance(a, float) else a.detach().reshape(count, -1).squeeze(-1)
            for a in args[1:]
        ]
        for first in range(0, count, step):
            rows = slice(first, min(first + step, count))
            own = slice(rows.start * each, rows.stop * each)
            parts = [a if isinstance(a, float) else a[rows] for a in numbers]
            yield rows, [x[rows].to(torch.float32), *parts], own


def room_for_argsort(x: Tensor) -> Tensor:
    """int32, which torch knows better than the core's uint32."""
    return x.new_empty((prod(x.shape[:-1]), x.shape[-1]), dtype=torch.int32)


def room_for_gradients(args: Sequence[Any], needs: Sequence[bool]) -> list[Tensor | None]:
    return [
        a.new_empty(a.shape) if need and isinstance(a, Tensor) else None
        for a, need in zip(args, needs, strict=True)
    ]


def _rows(t: Tensor, args: Sequence[Any]) -> Tensor:
    """All that belongs to a row of x side by side."""
    return t.reshape(prod(args[0].shape[:-1]), -1)


def _memory(kept: Kept | None) -> tuple[np.ndarray[Any, Any], ...]:
    """What was kept, if anything, as the core takes it."""
    if kept is None:
        return ()
    array = np.asarray(kept)
    return (array.view(np.uint32) if array.dtype == np.int32 else array,)


def _flat(t: Argument, rows: int) -> Any:
    """A (rows, width) view; a copy where memory is not laid out so.

    A NumPy array, which the core reads faster; NumPy has no bfloat16.
    """
    assert isinstance(t, Tensor)
    if t.requires_grad:
        t = t.detach()
    t = t.resolve_neg()
    if t.ndim != 2 or t.shape[0] != rows or not t.is_contiguous():
        width = t.numel() // rows if rows else t.shape[-1]
        t = t.reshape(rows, width).contiguous()
    return t if t.dtype == torch.bfloat16 else t.numpy()


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("soft_rank", sorts=True),
        Kernel("soft_sort", sorts=True),
        Kernel("soft_permutation"),
        Kernel("soft_topk", levels=True, mask=True),
        Kernel("log_soft_topk", levels=True, mask=True),
        Kernel("lap_sum_inverse", levels=True),
        Kernel("soft_kth_value", levels=True),
        Kernel("soft_quantile", levels=True),
        Kernel("soft_permute", arrays=2),
        Kernel("lap_sum", arrays=2),
        Kernel("soft_rank", arrays=2, weighted=True),
        Kernel("soft_topk", arrays=2, levels=True, mask=True, weighted=True),
        Kernel("log_soft_topk", arrays=2, levels=True, mask=True, weighted=True),
        Kernel("lap_sum_inverse", arrays=2, levels=True, weighted=True),
        Kernel("soft_kth_value", arrays=2, levels=True, weighted=True),
        Kernel("soft_quantile", arrays=2, levels=True, weighted=True),
    )
}


def mask_and_z(
    x: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor, descending: bool, log: bool
) -> tuple[Tensor, Tensor]:
    """The mask p or log p, and z = (b - r) / |alpha|, which is NaN or infinite where b is."""
    name = "log_soft_topk" if log else "soft_topk"
    kernel = KERNELS[name if w is None else f"weighted_{name}"]
    arrays = (x,) if w is None else (x, w)
    out, keep = kernel.value((*arrays, k, alpha), (descending,), 0, keep=True)
    assert keep is not None
    b = torch.as_tensor(keep).view(*k.shape, 2)
    turned = (alpha < 0) != descending
    r = torch.where(turned.unsqueeze(-1), -x, x)
    z = ((b[..., :1] - r) + b[..., 1:]) / alpha.abs().unsqueeze(-1)
    return out, torch.where(torch.isinf(b[..., :1]), b[..., :1].sign() * torch.inf, z)


def kernel_sum(r: Tensor, w: Tensor, x: Tensor, alpha: Tensor, shape: str, order: int) -> Tensor:
    rows = prod(r.shape[:-1])
    out = x.new_empty(x.shape)
    softness, threads = _flat(alpha, rows).reshape(-1), torch.get_num_threads()
    arrays = _flat(r, rows), _flat(w, rows), _flat(x, rows)
    _core.lap_kernel(*arrays, softness, _flat(out, rows), shape, order, threads)
    return out


def inverse(r: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor) -> Tensor:
    rows = prod(r.shape[:-1])
    out = r.new_empty(k.shape)
    inputs = (_flat(k, rows), _flat(alpha, rows).reshape(-1))
    threads = torch.get_num_threads()
    if w is None:
        _core.lap_sum_inverse(_flat(r, rows), *inputs, _flat(out, rows), threads)
    else:
        arrays = _flat(r, rows), _flat(w, rows)
        _core.weighted_lap_sum_inverse(*arrays, *inputs, _flat(out, rows), threads)
    return out
