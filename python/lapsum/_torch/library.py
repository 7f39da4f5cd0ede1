"""Operators that a graph can hold: opaque, with shapes for fake tensors and the kernels' vjp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .backends import backend_for
from .kernels import KERNELS, Argument, Kernel, room_for_argsort
from .precision import wide


def _nothing_kept(like: Tensor) -> Tensor:
    return like.new_empty((0, 2), dtype=wide(like.device))


def _bools(flags: str) -> list[bool]:
    """Flags travel as a string of 0 and 1: gradients of lists of booleans confuse autograd."""
    return [f == "1" for f in flags]


@torch.library.custom_op("lapsum::value", mutates_args=())
def value(
    name: str, args: Sequence[Tensor], flags: str, threads: int, argsort: bool
) -> tuple[Tensor, Tensor]:
    """The result and what it keeps: a mask's thresholds, or the order of rows if asked for."""
    kernel = backend_for(args[0].device).KERNELS[name]
    out, kept = kernel.value(args, _bools(flags), threads, keep=kernel.mask or argsort)
    if kept is None:
        return out, _nothing_kept(args[0])
    return out, kept if isinstance(kept, Tensor) else torch.from_numpy(kept)


@value.register_fake
def _(
    name: str, args: Sequence[Tensor], flags: str, threads: int, argsort: bool
) -> tuple[Tensor, Tensor]:
    kernel = KERNELS[name]
    out = args[0].new_empty(kernel.result_shape(args))
    if not kernel.mask:
        return out, room_for_argsort(args[0]) if argsort else _nothing_kept(args[0])
    saved = (kernel.batch(args).numel(), 2)
    return out, args[0].new_empty(saved, dtype=wide(args[0].device))


@torch.library.custom_op("lapsum::vjp", mutates_args=())
def vjp(
    name: str, args: Sequence[Tensor], flags: str, threads: int, saved: Tensor, g: Tensor
) -> list[Tensor]:
    """The gradients of all arguments but lengths."""
    kernel = backend_for(args[0].device).KERNELS[name]
    needs = [a.is_floating_point() for a in args]
    kept = saved if kernel.mask or saved.numel() else None
    grads = kernel.vjp(args, _bools(flags), threads, kept, g, needs)
    return [t for t in grads if t is not None]


@vjp.register_fake
def _(
    name: str, args: Sequence[Tensor], flags: str, threads: int, saved: Tensor, g: Tensor
) -> list[Tensor]:
    return [a.new_empty(a.shape) for a in args if a.is_floating_point()]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.name, args, ctx.flags, ctx.threads, _ = inputs
    ctx.save_for_backward(*args, output[1])


def _backward(ctx: Any, g: Tensor, _: Tensor) -> Any:
    *args, saved = ctx.saved_tensors
    grads: list[Tensor | None] = [*vjp(ctx.name, args, ctx.flags, ctx.threads, saved, g)]
    return None, grads + [None] * (len(args) - len(grads)), None, None, None


value.register_autograd(_backward, setup_context=_setup_context)


def _keeps_argsort(kernel: Kernel, tensors: Sequence[Tensor]) -> bool:
    """Whether a backward pass is spared a sort; lengths of a graph that may vary are not asked."""
    least = kernel.argsort_from(tensors[0])
    recorded = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    if least is None or not recorded or torch.jit.is_tracing():  # type: ignore[attr-defined]
        return False
    # Brings sympy along, which is there whenever a graph is captured.
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return statically_known_true(tensors[0].shape[-1] >= least)


def run(kernel: Kernel, args: Sequence[Argument], flags: Sequence[bool], threads: int) -> Tensor:
    x = args[0]
    assert isinstance(x, Tensor)
    batch = x.shape[:-1]
    tensors = [
        a if isinstance(a, Tensor) else x.new_full(batch, a, dtype=wide(x.device)) for a in args
    ]
    text = "".join("01"[f] for f in flags)
    return value(kernel.name, tensors, text, threads, _keeps_argsort(kernel, tensors))[0]
