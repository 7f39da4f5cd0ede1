"""One call of an operation: which of four ways computes it.

- plain tensors without gradient: the core, at once;
- with gradient: `Fast`, the core's value and vjp; a derivative of the derivative goes through the
  composite, which is exact to any order;
- inside a function transform or forward mode: the composite;
- while a graph is captured (torch.compile, torch.export, fake and meta tensors): the opaque
  operators of library.py.
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
_functorch_level = torch._C._functorch.peek_interpreter_stack
_dispatch_modes = torch._C._len_torch_dispatch_stack


class Fast(torch.autograd.Function):
    """The core's value, and its vjp as the gradient."""

    @staticmethod
    def forward(
        ctx: Any, kernel: Kernel, batch: Any, flags: Any, threads: int, *args: Argument
    ) -> Tensor:
        out, saved = kernel.value(args, batch, flags, threads, keep=True)
        ctx.call = (kernel, batch, flags, threads)
        ctx.numbers = [a if isinstance(a, float) else None for a in args]
        ctx.save_for_backward(*(a for a in args if isinstance(a, Tensor)), saved)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        kernel, batch, flags, threads = ctx.call
        *tensors, saved = ctx.saved_tensors
        rest = iter(tensors)
        args = [next(rest) if a is None else a for a in ctx.numbers]
        needs = ctx.needs_input_grad[4:]
        if torch.is_grad_enabled():
            return None, None, None, None, *_differentiable_vjp(kernel, args, flags, g, needs)
        grads = kernel.vjp(args, batch, flags, threads, saved, g, needs)
        return None, None, None, None, *grads


def _differentiable_vjp(
    kernel: Kernel, args: Sequence[Argument], flags: Any, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    # Aliases, so that the gradient stops here even where one argument was computed from another.
    args = [a.view_as(a) if isinstance(a, Tensor) else a for a in args]
    out = compose(kernel, args, flags)
    wanted: list[Any] = [a for a, need in zip(args, needs, strict=True) if need]
    grads = iter(torch.autograd.grad(out, wanted, g, create_graph=True, allow_unused=True))
    return [next(grads) if need else None for need in needs]


def compose(kernel: Kernel, args: Sequence[Argument], flags: Any) -> Tensor:
    """The composite, in float64 inside."""
    arrays = [a for a in args[: kernel.arrays] if isinstance(a, Tensor)]
    batch = _batch_of(kernel, args)
    numbers = [
        (
            a.to(torch.float64)
            if isinstance(a, Tensor)
            else arrays[0].new_tensor(a, dtype=torch.float64)
        ).expand(batch)
        for a in args[kernel.arrays :]
    ]
    definition: Callable[..., Tensor] = getattr(composite, kernel.name)
    doubled = [a.to(torch.float64) for a in arrays]
    return definition(*doubled, *numbers, *flags).to(arrays[0].dtype)


def _batch_of(kernel: Kernel, args: Sequence[Argument]) -> torch.Size:
    x = args[0]
    assert isinstance(x, Tensor)
    return x.shape[:-1]


def run(kernel_name: str, args: Sequence[Argument], flags: Any, threads: int) -> Tensor:
    """The result for arguments of one batch shape; floats stand for the same number everywhere."""
    kernel = KERNELS[kernel_name]
    tensors = [a for a in args if isinstance(a, Tensor)]
    if (
        torch.compiler.is_compiling()
        or _dispatch_modes()
        or any(type(t) not in _PLAIN or t.is_meta for t in tensors)
    ):
        return library.run(kernel, args, flags, threads)
    if _functorch_level() is not None or forward_ad._current_level >= 0:
        return compose(kernel, args, flags)
    batch = args[0].shape[:-1]  # type: ignore[union-attr]
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return Fast.apply(kernel, batch, flags, threads, *args)
    return kernel.value(args, batch, flags, threads)[0]
