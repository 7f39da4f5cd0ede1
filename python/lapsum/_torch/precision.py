"""Which type a device computes in, and how results are rounded to the type that was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

_without_double = {"mps"}


def wide(device: torch.device) -> torch.dtype:
    """float64, or float32 where there is nothing wider."""
    if device.type in _without_double or (device.type == "xpu" and not _xpu_has_double(device)):
        return torch.float32
    return torch.float64


def _xpu_has_double(device: torch.device) -> bool:
    return bool(getattr(torch.xpu.get_device_properties(device), "has_fp64", False))


@contextmanager
def without_double(device_type: str) -> Iterator[None]:
    """For tests: as if devices of this type had no float64."""
    before = device_type in _without_double
    _without_double.add(device_type)
    try:
        yield
    finally:
        if not before:
            _without_double.remove(device_type)


def large(t: Tensor) -> float:
    """What slopes and distances that grow without bound are cut at: products stay finite."""
    return torch.finfo(t.dtype).max / 1e8


def narrow(t: Tensor, dtype: torch.dtype) -> Tensor:
    """Rounds t to dtype; what is finite stays finite."""
    if t.dtype == dtype:
        return t
    largest = torch.finfo(dtype).max
    return torch.where(t.isinf(), t, t.clamp(-largest, largest)).to(dtype)


def capped(t: Tensor, dtype: torch.dtype, result: torch.dtype | None = None) -> Tensor:
    """As narrow, for derivatives that grow without bound: infinite becomes the largest number."""
    largest = torch.finfo(dtype).max
    return t.clamp(-largest, largest).to(result or dtype)
