"""Operators that a graph can hold: opaque, with shapes for fake tensors and the kernels' vjp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .backends import backend_for
from .kernels import KERNELS, Argument, Kernel
from .precision import wide


def _no_thresholds(like: Tensor) -> Tensor:
    return like.new_empty((0, 2), dtype=wide(like.device))


def _bools(flags: str) -> list[bool]:
    """Flags travel as a string of 0 and 1: gradients of lists of booleans confuse autograd."""
    return [f == "1" for f in flags]


@torch.library.custom_op("lapsum::value", mutates_args=())
def value(name: str, args: Sequence[Tensor], flags: str, threads: int) -> tuple[Tensor, Tensor]:
    """The result and, for a mask, its thresholds."""
    kernel = backend_for(args[0].device).KERNELS[name]
    out, saved = kernel.value(args, _bools(flags), threads, keep=True)
    if saved is None:
        return out, _no_thresholds(args[0])
    return out, saved if isinstance(saved, Tensor) else torch.from_numpy(saved)


@value.register_fake
def _(name: str, args: Sequence[Tensor], flags: str, threads: int) -> tuple[Tensor, Tensor]:
    kernel = KERNELS[name]
    out = args[0].new_empty(kernel.result_shape(args))
    if not kernel.mask:
        return out, _no_thresholds(args[0])
    saved = (kernel.batch(args).numel(), 2)
    return out, args[0].new_empty(saved, dtype=wide(args[0].device))


@torch.library.custom_op("lapsum::vjp", mutates_args=())
def vjp(
    name: str, args: Sequence[Tensor], flags: str, threads: int, saved: Tensor, g: Tensor
) -> list[Tensor]:
    """The gradients of all arguments but lengths."""
    kernel = backend_for(args[0].device).KERNELS[name]
    needs = [a.is_floating_point() for a in args]
    grads = kernel.vjp(args, _bools(flags), threads, saved if kernel.mask else None, g, needs)
    return [t for t in grads if t is not None]


@vjp.register_fake
def _(
    name: str, args: Sequence[Tensor], flags: str, threads: int, saved: Tensor, g: Tensor
) -> list[Tensor]:
    return [a.new_empty(a.shape) for a in args if a.is_floating_point()]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.name, args, ctx.flags, ctx.threads = inputs
    ctx.save_for_backward(*args, output[1])


def _backward(ctx: Any, g: Tensor, _: Tensor) -> Any:
    *args, saved = ctx.saved_tensors
    grads: list[Tensor | None] = [*vjp(ctx.name, args, ctx.flags, ctx.threads, saved, g)]
    return None, grads + [None] * (len(args) - len(grads)), None, None


value.register_autograd(_backward, setup_context=_setup_context)


def run(kernel: Kernel, args: Sequence[Argument], flags: Sequence[bool], threads: int) -> Tensor:
    x = args[0]
    assert isinstance(x, Tensor)
    batch = x.shape[:-1]
    tensors = [
        a if isinstance(a, Tensor) else x.new_full(batch, a, dtype=wide(x.device)) for a in args
    ]
    return value(kernel.name, tensors, "".join("01"[f] for f in flags), threads)[0]
