"""The arguments of a call: types, devices, axes, domains, in the words of NumPy's front end."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lapsum._numpy.layout import (
    axis_of,
    kind_of,
    not_real,
    plain_number,
    thread_count,
    values_tail,
)

from .kernels import Argument
from .precision import wide

__all__ = [
    "axis_of",
    "broadcast",
    "check_alpha",
    "check_devices",
    "check_level",
    "compute_dtype",
    "number",
    "row",
    "tensor",
    "threads",
    "values_tail",
]

_REAL = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def tensor(op: str, name: str, value: object) -> Tensor:
    """A real tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{op}: {name} must be a torch tensor, as the others, got {type(value)}")
    if value.dtype not in _REAL:
        raise TypeError(
            f"{op}: {name} must be float16, bfloat16, float32 or float64, got {value.dtype}"
        )
    return value


def row(op: str, name: str, value: object) -> Tensor:
    """As `tensor`, with at least one axis."""
    x = tensor(op, name, value)
    if x.ndim == 0:
        raise ValueError(f"{op}: {name} must have at least one dimension, got a single number")
    return x


def check_devices(op: str, arrays: dict[str, Tensor]) -> None:
    """All arrays are where the first one is."""
    first, *others = arrays
    device = arrays[first].device
    for name in others:
        if arrays[name].device != device:
            raise _elsewhere(op, name, arrays[name], device)


def _elsewhere(op: str, name: str, t: Tensor, device: torch.device) -> ValueError:
    return ValueError(f"{op}: {name} must be on the device of the rows, {device}, got {t.device}")


def number(op: str, name: str, value: object, device: torch.device) -> Argument:
    """A k or an alpha for rows on a device: a float, or a tensor there of its wide type."""
    if type(value) is float:
        return value
    if type(value) is int:
        return plain_number(value)
    if isinstance(value, Tensor):
        if value.is_complex() or value.dtype == torch.bool:
            raise not_real(op, name, value.dtype)
        if value.device != device and value.ndim:
            raise _elsewhere(op, name, value, device)
        return value.to(device, wide(device))
    if isinstance(value, (numbers.Real, torch.SymFloat, torch.SymInt)) and not isinstance(
        value, (bool, np.bool_)
    ):
        return plain_number(value)
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "fiu":
        raise not_real(op, name, kind_of(value, array))
    return torch.from_numpy(array.astype(np.float64)).to(device, wide(device))


def check_alpha(op: str, alpha: Argument) -> None:
    if isinstance(alpha, float) and not 0 < abs(alpha) < math.inf:
        raise ValueError(f"{op}: alpha must be finite and not 0, got alpha={alpha:g}")


def check_level(op: str, name: str, level: Argument, limit: float, of: str) -> None:
    if isinstance(level, float) and not 0 <= level <= limit:
        size = f" with n={limit:g}" if of == "n" else ""
        raise ValueError(f"{op}: {name} must be in [0, {of}], got {name}={level:g}{size}")


def threads(op: str, num_threads: int | None) -> int:
    """0 stands for torch's own number."""
    return 0 if num_threads is None else thread_count(op, num_threads)


def broadcast(
    op: str,
    arrays: dict[str, tuple[Tensor, int]],
    numbers_: dict[str, Argument],
    level: str | None = None,
) -> list[Any]:
    """All arguments with one batch shape. Arrays come with how many last axes are their own.

    Last axes of the batch along which only the tensor `level` varies are kept by it alone: several
    levels of one row.
    """
    shapes = {n: tuple(a.shape[: a.ndim - tail]) for n, (a, tail) in arrays.items()}
    shapes.update({n: tuple(v.shape) for n, v in numbers_.items() if isinstance(v, Tensor)})
    first, *others = shapes.values()
    try:  # torch's function takes longer than a short row
        batch = first if all(s == first for s in others) else torch.broadcast_shapes(first, *others)
    except RuntimeError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"{op}: batch shapes do not broadcast: {listed}") from None
    levels = 0
    if level in shapes:
        rest = [(1,) * (len(batch) - len(s)) + s for n, s in shapes.items() if n != level]
        while levels < len(batch) and all(s[-1 - levels] == 1 for s in rest):
            levels += 1

    def arranged(name: str, v: Argument) -> Argument:
        if not isinstance(v, Tensor):
            return v
        shape, own = shapes[name], v.shape[len(shapes[name]) :]
        drop = 0 if name == level else levels
        if drop:
            v = v.reshape((*shape[: max(len(shape) - drop, 0)], *own))
        want = (*batch[: len(batch) - drop], *own)
        return v if v.shape == want else v.expand(want)

    everything = {**{name: a for name, (a, _) in arrays.items()}, **numbers_}
    return [arranged(name, v) for name, v in everything.items()]


def compute_dtype(arrays: Sequence[Tensor]) -> torch.dtype:
    wide = any(a.dtype == torch.float64 for a in arrays)
    return torch.float64 if wide else torch.float32
