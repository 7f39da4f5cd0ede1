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

from lapsum import _core

from . import composite, library
from .kernels import KERNELS, Argument, Kernel

_PLAIN = (Tensor, torch.nn.Parameter)
_NATIVE = (torch.float32, torch.float64)
_functorch_level = torch._C._functorch.peek_interpreter_stack
_dispatch_modes = torch._C._len_torch_dispatch_stack


class Fast(torch.autograd.Function):
    """The core's value, and its vjp as the gradient."""

    @staticmethod
    def forward(
        ctx: Any, kernel: Kernel, batch: Any, flags: Any, threads: int, *args: Argument
    ) -> Tensor:
        out, ctx.thresholds = kernel.value(args, batch, flags, threads, keep=True)
        ctx.call = (kernel, batch, flags, threads)
        ctx.numbers = [a if type(a) is float else None for a in args]
        ctx.save_for_backward(*(a for a in args if type(a) is not float))
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        kernel, batch, flags, threads = ctx.call
        rest = iter(ctx.saved_tensors)
        args = [next(rest) if a is None else a for a in ctx.numbers]
        needs = ctx.needs_input_grad[4:]
        if torch.is_grad_enabled():
            return None, None, None, None, *_differentiable_vjp(kernel, args, flags, g, needs)
        grads = kernel.vjp(args, batch, flags, threads, ctx.thresholds, g, needs)
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
    batch = arrays[0].shape[:-1]
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


def _captured(x: Tensor) -> bool:
    """Whether a graph is being captured, or x stands for a tensor of a graph."""
    return (
        torch.compiler.is_compiling()
        or _dispatch_modes() > 0
        or type(x) not in _PLAIN
        or not x.is_cpu
    )


def _transformed() -> bool:
    return _functorch_level() is not None or forward_ad._current_level >= 0


def short_cut(name: str, x: Tensor, numbers: Sequence[object], flags: Any) -> Tensor | None:
    """The result where there is nothing to arrange: contiguous rows, plain numbers.

    None where that is not so. The core checks the numbers.
    """
    if _captured(x) or _transformed() or x.dtype not in _NATIVE or not x.is_contiguous():
        return None
    plain = []
    for v in numbers:
        if type(v) is not float and type(v) is not int:
            return None
        plain.append(float(v))
    if x.requires_grad and torch.is_grad_enabled():
        return Fast.apply(KERNELS[name], x.shape[:-1], flags, 0, x, *plain)
    out = torch.empty_like(x)
    rows, to = x.detach() if x.requires_grad else x, out
    if x.ndim != 2:
        if x.numel() == 0:
            return None
        rows, to = rows.view(-1, x.shape[-1]), out.view(-1, x.shape[-1])
    getattr(_core, name)(rows.numpy(), *plain, to.numpy(), *flags, torch.get_num_threads())
    return out


def run(kernel_name: str, args: Sequence[Argument], flags: Any, threads: int) -> Tensor:
    """The result for arguments of one batch shape; floats stand for the same number everywhere."""
    kernel = KERNELS[kernel_name]
    tensors = [a for a in args if type(a) is not float]
    if any(_captured(t) for t in tensors):  # type: ignore[arg-type]
        return library.run(kernel, args, flags, threads)
    if _transformed():
        return compose(kernel, args, flags)
    batch = args[0].shape[:-1]  # type: ignore[union-attr]
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):  # type: ignore[union-attr]
        return Fast.apply(kernel, batch, flags, threads, *args)
    return kernel.value(args, batch, flags, threads)[0]
