"""One call of an operation: which of four ways computes it, where plain_rows.py does not.

- plain tensors without gradient: the core, at once;
- with gradient: `Fast`, the core's value and vjp; a derivative of the derivative goes through the
  composite, which is exact to any order;
- inside a function transform or forward mode: the composite;
- while a graph is captured (torch.compile, torch.export, torch.jit.trace, fake and meta tensors):
  the opaque operators of library.py.

Outside a graph autograd.Function it is, for operators of torch.library cost more. soft_topk of one
row of 100 float32, forward / forward and backward, in microseconds (torch 2.13.0, 2-core x86-64
AVX-512, the best of 80 runs of 50): plain_rows.py 7.5 / 50, `Fast` 18 / 81, library.py 34 / 270. A
custom_op that does nothing takes 12 / 74, such an autograd.Function 33 for both, softmax 1.6 / 30.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import composite, library
from .kernels import KERNELS, Argument, Kernel

_PLAIN = (Tensor, torch.nn.Parameter)
_is_compiling = torch.compiler.is_compiling
_is_tracing = torch._C._is_tracing
_functorch_level = torch._C._functorch.peek_interpreter_stack
_dispatch_modes = torch._C._len_torch_dispatch_stack


class Fast(torch.autograd.Function):
    """The core's value, and its vjp as the gradient."""

    @staticmethod
    def forward(ctx: Any, kernel: Kernel, flags: Any, threads: int, *args: Argument) -> Tensor:
        out, ctx.thresholds = kernel.value(args, flags, threads, keep=True)
        ctx.call = (kernel, flags, threads)
        ctx.numbers = [a if type(a) is float else None for a in args]
        ctx.save_for_backward(*(a for a in args if type(a) is not float))
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        kernel, flags, threads = ctx.call
        rest = iter(ctx.saved_tensors)
        args = [next(rest) if a is None else a for a in ctx.numbers]
        needs = ctx.needs_input_grad[3:]
        if torch.is_grad_enabled() or transformed():
            return None, None, None, *differentiable_vjp(kernel, args, flags, g, needs)
        return None, None, None, *kernel.vjp(args, flags, threads, ctx.thresholds, g, needs)


def differentiable_vjp(
    kernel: Kernel, args: Sequence[Argument], flags: Any, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        # Aliases: the gradient stops here even where one argument was computed from another.
        args = [a.view_as(a) if isinstance(a, Tensor) else a for a in args]
        out = compose(kernel, args, flags)
        wanted: list[Any] = [a for a, need in zip(args, needs, strict=True) if need]
        grads = iter(torch.autograd.grad(out, wanted, g, create_graph=again, allow_unused=True))
    return [next(grads) if need else None for need in needs]


def compose(kernel: Kernel, args: Sequence[Any], flags: Any) -> Tensor:
    """The composite, in float64 inside; each of several levels has a row of its own there."""
    x = args[0]
    rows, batch = x.shape[:-1], kernel.batch(args)
    single = [1] * (len(batch) - len(rows))

    def whole(a: Argument, own: Sequence[int] = ()) -> Tensor:
        if not isinstance(a, Tensor):
            return x.new_tensor(a, dtype=torch.float64).expand(batch)
        t = a.to(torch.float64)
        if t.ndim == len(batch) + len(own):
            return t
        return t.reshape((*rows, *single, *own)).expand((*batch, *own))

    arrays = [whole(a, a.shape[len(rows) :]) for a in args[: kernel.arrays]]
    weights = arrays.pop() if kernel.weighted else None
    numbers = [whole(a) for a in args[kernel.arrays : kernel.numbers]]
    definition: Callable[..., Tensor] = getattr(composite, kernel.operation)
    lengths = kernel.lengths(args)
    if lengths is None:
        out = definition(*arrays, *numbers, *flags, w=weights)
    else:
        out = composite.ragged(definition, arrays, weights, numbers, flags, whole(lengths))
    return out.to(x.dtype)


def captured(x: Tensor) -> bool:
    """Whether a graph is being captured, or x stands for a tensor of a graph."""
    recording = _is_compiling() or _is_tracing() or _dispatch_modes() > 0
    return recording or type(x) not in _PLAIN or not x.is_cpu


def transformed() -> bool:
    return _functorch_level() is not None or forward_ad._current_level >= 0


def run(kernel_name: str, args: Sequence[Argument], flags: Any, threads: int) -> Tensor:
    """The result for arguments of one batch shape; floats stand for the same number everywhere."""
    kernel = KERNELS[kernel_name]
    tensors = [a for a in args if type(a) is not float]
    if any(captured(t) for t in tensors):  # type: ignore[arg-type]
        return library.run(kernel, args, flags, threads)
    if transformed():
        return compose(kernel, args, flags)
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):  # type: ignore[union-attr]
        return Fast.apply(kernel, flags, threads, *args)
    return kernel.value(args, flags, threads)[0]
