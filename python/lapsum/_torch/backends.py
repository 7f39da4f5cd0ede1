"""Which implementation serves a device: the one place where this is chosen.

A backend is a module with KERNELS, by operation, and the closed set mask_and_z, kernel_sum and
inverse, as in kernels.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from . import cuda, portable
from . import kernels as core

NAMES = {core: "the compiled core", cuda: "the CUDA kernels", portable: "plain torch"}

_serving: dict[str, Any] = {"cpu": core, **({} if cuda.missing() else {"cuda": cuda})}


def backend_of(device_type: str) -> Any:
    """The module that implements the kernels on devices of a type."""
    return _serving.get(device_type, portable)


def backend_for(device: torch.device) -> Any:
    """The module that implements the kernels on a device."""
    return backend_of(device.type)


@contextmanager
def serving(device_type: str, backend: Any) -> Iterator[None]:
    """Lets another backend serve devices of a type for a while, as tests do."""
    before = _serving.get(device_type)
    _serving[device_type] = backend
    try:
        yield
    finally:
        if before is None:
            del _serving[device_type]
        else:
            _serving[device_type] = before
