"""Elements that are absent: a mask or lengths, as present elements first and how many they are."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Padding:
    """Which elements of the rows of one call are present. `lengths` broadcasts with the batch."""

    def __init__(self, lengths: Tensor, back: Tensor | None = None) -> None:
        self.lengths = lengths
        self._back = back
        self._order = None
        if back is not None:
            positions = torch.arange(back.shape[-1], device=back.device).expand(back.shape)
            self._order = torch.zeros_like(back).scatter(-1, back, positions)

    def pack(self, x: Tensor, axis: int = -1, tail: int = 1) -> Tensor:
        """Present elements first, in their order, along one of the `tail` last axes."""
        return _along(x, self._order, self._back, axis, tail)

    def unpack(self, x: Tensor, axis: int = -1, tail: int = 1) -> Tensor:
        """The inverse of `pack`."""
        return _along(x, self._back, self._order, axis, tail)


def present(n: int, lengths: Tensor) -> Tensor:
    """Where the present elements of packed rows are."""
    return torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)


class _Arranged(torch.autograd.Function):
    """x[index] along an axis. The gradient is gathered back: no sums, so no bit is lost."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, index: Tensor, back: Tensor, axis: int) -> Tensor:
        return torch.take_along_dim(x, index, axis)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, index, back, ctx.axis = inputs
        ctx.save_for_backward(index, back)
        ctx.save_for_forward(index, back)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        index, back = ctx.saved_tensors
        return _Arranged.apply(g, back, index, ctx.axis), None, None, None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, *_: Any) -> Tensor:
        index, _back = ctx.saved_tensors
        return torch.take_along_dim(dx, index, ctx.axis)


def _along(x: Tensor, index: Tensor | None, back: Tensor | None, axis: int, tail: int) -> Tensor:
    if index is None or back is None:
        return x
    own = [1] * (tail + axis) + [index.shape[-1]] + [1] * (-1 - axis)
    batch = torch.broadcast_shapes(x.shape[: x.ndim - tail], index.shape[:-1])
    x = x.expand(*batch, *x.shape[x.ndim - tail :])
    index, back = (i.reshape(*i.shape[:-1], *own).expand(x.shape) for i in (index, back))
    if torch.compiler.is_compiling():  # a graph does not hold functions with a rule for vmap
        return torch.take_along_dim(x, index, axis)
    return _Arranged.apply(x, index, back, axis)


def padding(op: str, x: Tensor, mask: object, lengths: object) -> Padding | None:
    """The padding of rows along the last axis of x; None where all is present."""
    if mask is not None and lengths is not None:
        raise TypeError(f"{op}: mask and lengths exclude each other, got both")
    if mask is not None:
        where = mask_tensor(op, mask, x)
        before = where.cumsum(-1)
        count = before[..., -1:] if x.shape[-1] else before.sum(-1, keepdim=True)
        back = torch.where(where, before - 1, count + (~where).cumsum(-1) - 1)
        return Padding(count.squeeze(-1), back)
    if lengths is not None:
        return Padding(length_tensor(op, lengths, x.device))
    return None


def mask_tensor(op: str, mask: object, x: Tensor) -> Tensor:
    """A mask with one entry for every element of x."""
    where = torch.as_tensor(mask, device=x.device)
    if where.dtype != torch.bool:
        raise TypeError(f"{op}: mask must be boolean, got {where.dtype}")
    try:
        return where.expand(x.shape)
    except RuntimeError:
        raise ValueError(
            f"{op}: mask must broadcast to the shape of the row argument {tuple(x.shape)}, "
            f"got {tuple(where.shape)}"
        ) from None


def length_tensor(op: str, lengths: object, device: torch.device) -> Tensor:
    counts = torch.as_tensor(lengths, device=device)
    if counts.is_floating_point() or counts.is_complex() or counts.dtype == torch.bool:
        raise TypeError(f"{op}: lengths must be an integer or an array of them, got {counts.dtype}")
    return counts.to(torch.int64)
