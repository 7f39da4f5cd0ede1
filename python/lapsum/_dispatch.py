"""Which front end serves an array: decided by its type, importing no framework to find out."""

from __future__ import annotations

import sys
from typing import Any

from lapsum import _numpy


def _torch() -> Any:
    from lapsum import _torch

    return _torch


def operation(name: str, *arrays: object) -> Any:
    """The operation `name` of the front end that `arrays` belong to."""
    torch = sys.modules.get("torch")
    for array in arrays:
        if torch is not None and isinstance(array, torch.Tensor):
            return (sys.modules.get("lapsum._torch") or _torch()).OPERATIONS[name]
        if type(array).__module__.partition(".")[0] in ("jax", "jaxlib"):
            raise TypeError(
                f"{name}: jax arrays are not supported in this version; "
                "pass a NumPy array, for example np.asarray(x)"
            )
    return _numpy.OPERATIONS[name]
