"""Operations under autograd in any mode and order, as function transforms and forward mode need.

First derivatives come from the kernels: `Value` leads to `Pull` and `Push`. Their own derivatives
are those of the composite, which are exact to any order. Inputs of all three are (kernel, flags,
more), then tensors, floats and None; batches along leading axes are native, so vmap is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._functorch import eager_transforms
from torch.autograd import Function, forward_ad
from torch.utils._pytree import tree_map

from .composite import compose
from .kernels import Argument, Kernel

_vjp: Any = torch.func.vjp


class _Call(Function):
    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.call = inputs[:3]
        ctx.constants = [None if isinstance(a, Tensor) else (a,) for a in inputs[3:]]
        tensors = [a for a in inputs[3:] if isinstance(a, Tensor)]
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @classmethod
    def vmap(cls, info: Any, dims: tuple[Any, ...], *inputs: Any) -> Any:
        def batched(a: Any, dim: int | None) -> Any:
            if not isinstance(a, Tensor):
                return a
            return a.expand(info.batch_size, *a.shape) if dim is None else a.movedim(dim, 0)

        out = cls.apply(*map(batched, inputs, dims))
        return out, 0 if isinstance(out, Tensor) else (0,) * len(out)


def _filled(ctx: Any, tensors: Sequence[Any]) -> list[Any]:
    """The inputs after the first three: constants, and these in place of the tensors."""
    rest = iter(tensors)
    return [next(rest) if a is None else a[0] for a in ctx.constants]


class Value(_Call):
    """The result of an operation: (kernel, flags, threads), *arguments."""

    @staticmethod
    def forward(kernel: Kernel, flags: Any, threads: int, *args: Argument) -> Tensor:
        return kernel.value(args, flags, threads)[0]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        args, needs = _filled(ctx, ctx.saved_tensors), ctx.needs_input_grad[3:]
        kernel, flags, threads = ctx.call
        return None, None, None, *pulled(kernel, flags, threads, g, args, needs)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return Push.apply(*ctx.call, *_filled(ctx, ctx.saved_tensors), *tangents[3:])


def pulled(
    kernel: Kernel,
    flags: Any,
    threads: int,
    g: Tensor,
    args: Sequence[Argument],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of the arguments that need one; they can be differentiated further."""
    grads = iter(Pull.apply(kernel, flags, (threads, tuple(needs)), g, *args))
    return [next(grads) if need else None for need in needs]


class _Derivative(_Call):
    """A kernel's derivative; further ones are those of its `definition`, made of the composite."""

    definition: Callable[..., Any]

    @classmethod
    def backward(cls, ctx: Any, *g: Tensor) -> Any:
        inputs, needs = _filled(ctx, ctx.saved_tensors), ctx.needs_input_grad[3:]
        function, primals = _partial(lambda *a: cls.definition(*ctx.call, *a), inputs, needs)
        out, pull = _vjp(function, *primals)
        grads = iter(pull(g if isinstance(out, tuple) else g[0]))
        return None, None, None, *(next(grads) if need else None for need in needs)

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        return _along(
            lambda *a: cls.definition(*ctx.call, *a), _filled(ctx, ctx.saved_tensors), tangents[3:]
        )


class Pull(_Derivative):
    """Gradients of the arguments in need: (kernel, flags, (threads, needs)), g, *arguments."""

    @staticmethod
    def forward(kernel: Kernel, flags: Any, more: Any, g: Tensor, *args: Argument) -> Any:
        threads, needs = more
        grads = kernel.vjp(args, flags, threads, None, g, needs)
        return tuple(t for t in grads if t is not None)

    @staticmethod
    def definition(kernel: Kernel, flags: Any, more: Any, g: Tensor, *args: Argument) -> Any:
        function, primals = _partial(lambda *a: compose(kernel, a, flags), args, more[1])
        return _vjp(function, *primals)[1](g)


class Push(_Derivative):
    """The tangent of the result: (kernel, flags, threads), *arguments, *tangents or None."""

    @staticmethod
    def forward(kernel: Kernel, flags: Any, threads: int, *inputs: Any) -> Tensor:
        half = len(inputs) // 2
        return kernel.jvp(inputs[:half], flags, threads, inputs[half:])

    @staticmethod
    def definition(kernel: Kernel, flags: Any, threads: int, *inputs: Any) -> Any:
        half = len(inputs) // 2
        return _along(lambda *a: compose(kernel, a, flags), inputs[:half], inputs[half:])


def _partial(
    function: Callable[..., Any], inputs: Sequence[Any], free: Sequence[bool]
) -> tuple[Callable[..., Any], list[Tensor]]:
    """The function of those inputs that are free, and their values."""

    def partial(*values: Tensor) -> Any:
        rest = iter(values)
        return function(*(next(rest) if f else a for a, f in zip(inputs, free, strict=True)))

    return partial, [a for a, f in zip(inputs, free, strict=True) if f]


def _along(function: Callable[..., Any], inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The tangent of a function along those of its inputs that have one."""
    partial, primals = _partial(function, inputs, [t is not None for t in tangents])
    along = tuple(t for t in tangents if t is not None)
    if forward_ad._current_level < 0 or _is_transform():
        return torch.func.jvp(partial, tuple(primals), along)[1]
    # Plain levels of forward mode do not nest: reverse mode twice does the same.
    out, pull = _vjp(partial, *primals)
    return _vjp(pull, tree_map(torch.zeros_like, out))[1](along)[0]


def _is_transform() -> bool:
    """Whether the level of forward mode is one of torch.func.jvp, which does nest."""
    return eager_transforms.JVP_NESTING > 0
