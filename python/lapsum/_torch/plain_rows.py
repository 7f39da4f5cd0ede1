"""The short way: contiguous rows of x, plain numbers k and alpha, and little but the core.

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

from .backends import backend_for
from .derivatives import pulled
from .kernels import room_for_argsort
from .operation import captured, transformed

_empty_like = torch.empty_like
_threads = torch.get_num_threads
_grad_enabled = torch.is_grad_enabled
_unwrap = torch._C._functorch.unwrap_if_dead
_CPU = torch.device("cpu")


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
        kernel, vjp, rows, length, numbers, flags = ctx.call
        if _grad_enabled() or transformed():
            needs = [True, *(False for _ in numbers)]
            args = [x, *(float(v) for v in numbers)]
            return pulled(kernel, flags, 0, g, args, needs)[0], None
        if not g.is_contiguous() or g.is_neg():
            g = g.contiguous().resolve_neg()
        gx = _empty_like(x)
        at = g.data_ptr(), gx.data_ptr()
        kept = ctx.thresholds or [t.data_ptr() for t in argsort]
        vjp(x.data_ptr(), rows, length, *numbers, *at, *flags, _threads(), *kept)
        return gx, None


# Function.apply less its own look at transforms, which short_cut has had.
_record = super(Function, Record).apply


def short_cut(name: str, x: Tensor, numbers: Sequence[Any], flags: Sequence[bool]) -> Tensor | None:
    """The result where there is nothing to arrange, else None. The core checks the numbers."""
    if not x.is_cpu or captured(x) or transformed():
        return None
    x, kernel = _unwrap(x), backend_for(_CPU).KERNELS[name]
    functions, shape, size = kernel.by_address.get(x.dtype), x.shape, x.numel()
    if not functions or not shape or not size or not x.is_contiguous() or x.is_neg():
        return None
    if not all_plain(numbers):
        return None
    value, vjp = functions
    length = shape[-1]
    rows = size // length
    recorded = x.requires_grad and _grad_enabled()
    thresholds = (bytearray(16 * rows),) if kernel.mask and recorded else ()
    argsort = (room_for_argsort(x),) if recorded and kernel.keeps_argsort(x) else ()
    kept = thresholds or [t.data_ptr() for t in argsort]
    out = _empty_like(x)
    at = x.data_ptr(), rows, length
    value(*at, *numbers, out.data_ptr(), *flags, _threads(), *kept)
    if recorded:
        out = _record(x, (out, thresholds, argsort, kernel, vjp, rows, length, numbers, flags))
    return out
