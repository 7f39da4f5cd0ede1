"""The short way: contiguous rows, plain numbers k and alpha, and little but the core.

The core needs few microseconds for a row of 100, so what surrounds it must not take more: memory
goes by address, and nothing is arranged that need not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from lapsum._numpy.layout import all_plain

from .backends import backend_of
from .derivatives import pulled
from .kernels import Argument, Kernel, room_for_argsort
from .operation import captured, transformed

_empty_like = torch.empty_like
_threads = torch.get_num_threads
_grad_enabled = torch.is_grad_enabled
_unwrap = torch._C._functorch.unwrap_if_dead


class Record(Function):
    """Hangs a result that is already there into the graph, with the core's vjp as its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, call: tuple[Any, ...]) -> Any:
        out, ctx.thresholds, argsort, *ctx.call = call
        ctx.save_for_backward(x, *argsort)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, *argsort = ctx.saved_tensors
        kernel, vjp, sizes, numbers, flags = ctx.call
        if _grad_enabled() or transformed():
            return *_pulled(kernel, flags, g, (x,), numbers, (True,)), None
        g = _plain(g)
        gx = _empty_like(x)
        at = g.data_ptr(), gx.data_ptr()
        kept = ctx.thresholds or [t.data_ptr() for t in argsort]
        vjp(x.data_ptr(), *sizes, *numbers, *at, *flags, _threads(), *kept)
        return gx, None


class RecordColumns(Function):
    """The same for x with columns; each may need a gradient or not."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, columns: Tensor, call: tuple[Any, ...]) -> Any:
        out, *ctx.call = call
        ctx.save_for_backward(x, columns)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        arrays, needs = ctx.saved_tensors, ctx.needs_input_grad[:2]
        kernel, vjp, sizes, numbers, flags = ctx.call
        if _grad_enabled() or transformed():
            return *_pulled(kernel, flags, g, arrays, numbers, needs), None
        g = _plain(g)
        grads = [_empty_like(t) if need else None for t, need in zip(arrays, needs, strict=True)]
        given = [t.data_ptr() for t in arrays]
        at = [g.data_ptr(), *(0 if t is None else t.data_ptr() for t in grads)]
        vjp(*given, *sizes, *numbers, *at, *flags, _threads())
        return *grads, None


def _pulled(
    kernel: Kernel,
    flags: Sequence[bool],
    g: Tensor,
    arrays: Sequence[Tensor],
    numbers: Sequence[Any],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of the arrays, to be differentiated further."""
    args: list[Argument] = [*arrays, *(float(v) for v in numbers)]
    return pulled(kernel, flags, 0, g, args, [*needs, *(False for _ in numbers)])[: len(needs)]


def _plain(g: Tensor) -> Tensor:
    return g if g.is_contiguous() and not g.is_neg() else g.contiguous().resolve_neg()


# Function.apply less its own look at transforms, which short_cut has had.
_record = super(Function, Record).apply
_record_columns = super(Function, RecordColumns).apply


def short_cut(
    name: str,
    x: Tensor,
    numbers: Sequence[Any],
    flags: Sequence[bool],
    columns: Tensor | None = None,
) -> Tensor | None:
    """The result where there is nothing to arrange, else None. The core checks the numbers.

    Some operations take columns too, (..., n, d) for x of (..., n).
    """
    if not x.is_cpu or captured(x) or transformed():
        return None
    x, kernel = _unwrap(x), backend_of("cpu").KERNELS[name]
    functions, shape, size = kernel.by_address.get(x.dtype), x.shape, x.numel()
    if not functions or not shape or not size or not x.is_contiguous() or x.is_neg():
        return None
    if not all_plain(numbers):
        return None
    value, vjp = functions
    length = shape[-1]
    rows = size // length
    sizes = rows, length
    if columns is not None:
        return _with_columns(kernel, x, _unwrap(columns), sizes, numbers, flags)
    out = _empty_like(x)
    call = x.data_ptr(), *sizes, *numbers, out.data_ptr(), *flags, _threads()
    if not (x.requires_grad and _grad_enabled()):
        value(*call)
        return out
    thresholds = (bytearray(16 * rows),) if kernel.mask else ()
    argsort = (room_for_argsort(x),) if kernel.keeps_argsort(x) else ()
    value(*call, *(thresholds or [t.data_ptr() for t in argsort]))
    return _record(x, (out, thresholds, argsort, kernel, vjp, sizes, numbers, flags))


def _with_columns(
    kernel: Kernel,
    x: Tensor,
    columns: Tensor,
    of_rows: tuple[int, int],
    numbers: Sequence[Any],
    flags: Sequence[bool],
) -> Tensor | None:
    alike = columns.is_cpu and not captured(columns) and columns.dtype == x.dtype
    fit = columns.shape[:-1] == x.shape and columns.numel() > 0
    if not alike or not fit or not columns.is_contiguous() or columns.is_neg():
        return None
    value, vjp = kernel.by_address[x.dtype]
    out = _empty_like(columns)
    sizes = *of_rows, columns.shape[-1]
    given = x.data_ptr(), columns.data_ptr()
    value(*given, *sizes, *numbers, out.data_ptr(), *flags, _threads())
    if _grad_enabled() and (x.requires_grad or columns.requires_grad):
        out = _record_columns(x, columns, (out, kernel, vjp, sizes, numbers, flags))
    return out
