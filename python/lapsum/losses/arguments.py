"""The arguments that losses share: scores, labels, alpha, k, and how a loss is reduced.

Alpha, k and the types of tensors are checked by the torch front end, in the name of the loss.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lapsum._torch.arguments import check_alpha, check_level, number, row

REDUCTIONS = ("none", "mean", "sum")


def wide_row(op: str, name: str, value: object, dtype: torch.dtype = torch.float32) -> Tensor:
    """A real tensor with at least one axis, in `dtype` or wider."""
    x = row(op, name, value)
    return x.to(torch.promote_types(x.dtype, dtype))


def labels(op: str, name: str, value: object, shape: Sequence[int]) -> Tensor:
    """An integer tensor of this shape."""
    if not isinstance(value, Tensor) or value.dtype.is_floating_point or value.is_complex():
        got = value.dtype if isinstance(value, Tensor) else type(value)
        raise TypeError(f"{op}: {name} must be a tensor of integers, got {got}")
    same_shape(op, name, value, shape)
    return value.to(torch.int64)


def same_shape(op: str, name: str, value: Tensor, shape: Sequence[int]) -> None:
    if tuple(value.shape) != tuple(shape):
        want, got = tuple(shape), tuple(value.shape)
        raise ValueError(f"{op}: {name} must have the shape {want}, got {got}")


def softness(op: str, alpha: object, device: torch.device) -> float | Tensor:
    """A checked float, or a tensor of the wide type of the device."""
    a = number(op, "alpha", alpha, device)
    check_alpha(op, a)
    return a


def level(op: str, k: object, n: int, device: torch.device) -> float | Tensor:
    """A checked float in [0, n], or a tensor of the wide type of the device."""
    k = number(op, "k", k, device)
    check_level(op, "k", k, n, "n")
    return k


def check_reduction(op: str, reduction: str) -> None:
    if reduction not in REDUCTIONS:
        names = ", ".join(f'"{name}"' for name in REDUCTIONS)
        raise ValueError(f'{op}: reduction must be one of {names}, got "{reduction}"')


def reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()
