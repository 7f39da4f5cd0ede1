"""Operations with weights or lengths: by their definitions in the closed set (composite.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lapsum._torch.kernels import Kernel


def value(kernel: Kernel, args: Sequence[Any], flags: Any) -> Tensor:
    from lapsum._torch.composite import compose  # it stands above: its parts are kernels of here

    return compose(kernel, args, flags)


def _recorded(
    kernel: Kernel, args: Sequence[Any], flags: Any, needs: Sequence[bool]
) -> tuple[Tensor, list[Tensor]]:
    """The result with a graph to the arguments in need, and these."""
    given = [a.detach() if isinstance(a, Tensor) else a for a in args]
    leaves = [a.requires_grad_() for a, need in zip(given, needs, strict=True) if need]
    return value(kernel, given, flags), leaves


def vjp(
    kernel: Kernel, args: Sequence[Any], flags: Any, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    """Gradients of the arguments in need."""
    with torch.enable_grad():
        out, leaves = _recorded(kernel, args, flags, needs)
    grads = iter(torch.autograd.grad(out, leaves, g.detach(), materialize_grads=True))
    return [next(grads) if need else None for need in needs]


def jvp(
    kernel: Kernel, args: Sequence[Any], flags: Any, tangents: Sequence[Tensor | None]
) -> Tensor:
    """Reverse mode twice: its gradient in g is the derivative along the tangents."""
    with torch.enable_grad():
        out, leaves = _recorded(kernel, args, flags, [t is not None for t in tangents])
        g = torch.zeros_like(out, requires_grad=True)
        pulled = torch.autograd.grad(out, leaves, g, create_graph=True, materialize_grads=True)
    along = [t for t in tangents if t is not None]
    (derivative,) = torch.autograd.grad(pulled, g, along, materialize_grads=True)
    return derivative
