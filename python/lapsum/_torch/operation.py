"""One call of an operation: which of four ways computes it, where plain_rows.py does not.

- plain tensors without gradient: the kernel of their device, at once;
- with gradient: `Fast`, the kernel's value and vjp;
- inside a function transform or forward mode: `Value` of derivatives.py, which knows both modes;
- while a graph is captured (torch.compile, torch.export, torch.jit.trace, fake and meta tensors):
  the opaque operators of library.py.

Outside a graph autograd.Function it is, for operators of torch.library cost more. soft_topk of one
row of 100 float32, forward / forward and backward, in microseconds (torch 2.13.0, 2-core x86-64
AVX-512, the best of 80 runs of 50): plain_rows.py 7.5 / 50, `Fast` 18 / 81, library.py 34 / 270. A
custom_op that does nothing takes 12 / 74, such an autograd.Function 33 for both, softmax 1.6 / 30.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import library
from .backends import backend_for
from .derivatives import Value, pulled
from .kernels import Argument, Kernel

_PLAIN = (Tensor, torch.nn.Parameter)
_is_compiling = torch.compiler.is_compiling
_is_tracing = torch._C._is_tracing
_functorch_level = torch._C._functorch.peek_interpreter_stack
_dispatch_modes = torch._C._len_torch_dispatch_stack


class Fast(torch.autograd.Function):
    """The kernel's value, and its vjp as the gradient."""

    @staticmethod
    def forward(ctx: Any, kernel: Kernel, flags: Any, threads: int, *args: Argument) -> Tensor:
        out, kept = kernel.value(args, flags, threads, keep=True)
        ctx.call = (kernel, flags, threads)
        ctx.numbers = [a if type(a) is float else None for a in args]
        ctx.thresholds = kept if kernel.mask else None
        argsort = () if kernel.mask or kept is None else (kept,)
        ctx.save_for_backward(*(a for a in args if type(a) is not float), *argsort)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        kernel, flags, threads = ctx.call
        rest = iter(ctx.saved_tensors)
        args = [next(rest) if a is None else a for a in ctx.numbers]
        needs = ctx.needs_input_grad[3:]
        if torch.is_grad_enabled() or transformed():
            return None, None, None, *pulled(kernel, flags, threads, g, args, needs)
        kept = next(rest, ctx.thresholds)
        return None, None, None, *kernel.vjp(args, flags, threads, kept, g, needs)


def captured(x: Tensor) -> bool:
    """Whether a graph is being captured, or x stands for a tensor of a graph."""
    recording = _is_compiling() or _is_tracing() or _dispatch_modes() > 0
    return recording or type(x) not in _PLAIN or x.is_meta


def transformed() -> bool:
    return _functorch_level() is not None or forward_ad._current_level >= 0


def run(kernel_name: str, args: Sequence[Argument], flags: Any, threads: int) -> Tensor:
    """The result for arguments of one batch shape; floats stand for the same number everywhere."""
    kernel = backend_for(args[0].device).KERNELS[kernel_name]  # type: ignore[union-attr]
    tensors = [a for a in args if type(a) is not float]
    if any(captured(t) for t in tensors):  # type: ignore[arg-type]
        return library.run(kernel, args, flags, threads)
    if transformed():
        return Value.apply(kernel, flags, threads, *args)
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):  # type: ignore[union-attr]
        return Fast.apply(kernel, flags, threads, *args)
    return kernel.value(args, flags, threads)[0]
