"""The library's CUDA kernels on tensors where they lie: torch's current stream, torch's memory.

For packages that were built with them; the module has functions that take addresses. Operations
with weights or lengths are put together in plain torch.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor

from . import kernels as core
from . import portable
from .kernels import room_for_gradients
from .portable import PortableKernel

_library: Any = (
    importlib.import_module("lapsum._cuda") if importlib.util.find_spec("lapsum._cuda") else None
)
_ALIGNMENT = 256


def missing() -> str:
    """What is missing for the kernels to serve CUDA tensors; empty if nothing is."""
    if _library is None:
        return "the package was built without CUDA kernels"
    return "" if torch.version.cuda else "torch was built without CUDA"


@contextmanager
def _current_stream(device: torch.device) -> Iterator[int]:
    with torch.cuda.device(device):
        yield torch.cuda.current_stream(device).cuda_stream


def _queue(name: str, part: str, sizes: Sequence[int], like: Tensor, given: Sequence[Any]) -> None:
    """Calls a function of the library; `given` keeps its tensors alive until it is queued."""
    function = getattr(_library, f"{name}{part}_{str(like.dtype).removeprefix('torch.')}")
    with _current_stream(like.device) as stream:
        size = getattr(_library, f"{name}_workspace")(*sizes)
        room = torch.empty(size + _ALIGNMENT, dtype=torch.uint8, device=like.device)
        workspace = -(-room.data_ptr() // _ALIGNMENT) * _ALIGNMENT
        memory = [(t.data_ptr(), *t.shape) if isinstance(t, Tensor) else t for t in given]
        function(*memory, (stream, workspace, size))


def _matrix(t: Any, rows: int) -> Any:
    """A tensor as (rows, width), contiguous; anything else as it is."""
    if not isinstance(t, Tensor):
        return t
    return t.detach().resolve_neg().reshape(rows, -1).contiguous()


@dataclass(frozen=True)
class CudaKernel(PortableKernel):
    """One operation of lapsum::cuda."""

    def _elsewhere(self, args: Sequence[Any]) -> bool:
        """Whether plain torch does it."""
        return self._composed(args) or not args[0].numel()

    def _queue(self, part: str, args: Sequence[Any], more: Sequence[Any]) -> None:
        x, rows = args[0], prod(args[0].shape[:-1])
        given = [_matrix(a, rows) for a in args]
        sizes = [rows, x.shape[-1]]
        if self.operation == "soft_permute":
            columns = args[1].shape[-1]
            given.insert(2, columns)
            sizes.append(columns)
        elif self.levels or self.arrays == 2:
            sizes.append(given[1].shape[1] if isinstance(given[1], Tensor) else 1)
        _queue(self.operation, part, sizes, x, [*given, *more])

    def value(
        self, args: Sequence[Any], flags: Sequence[Any], threads: int, keep: bool = False
    ) -> tuple[Tensor, Any]:
        if self._elsewhere(args):
            return super().value(args, flags, threads, keep)
        results = self._results(args)
        out = args[0].new_empty(self.result_shape(args))
        b = out.new_empty((results, 2), dtype=torch.float64) if self.mask and keep else None
        self._queue("", args, [_matrix(out, results), *([b] if self.mask else []), *flags])
        return out, b

    def vjp(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        saved: Any,
        g: Tensor,
        needs: Sequence[bool],
    ) -> list[Tensor | None]:
        if self._elsewhere(args):
            return super().vjp(args, flags, threads, saved, g, needs)
        rows = prod(args[0].shape[:-1])
        grads = room_for_gradients(args, needs)
        given = [_matrix(g, self._results(args)), *(_matrix(t, rows) for t in grads)]
        self._queue("_vjp", args, [*([saved] if self.mask else []), *given, *flags])
        return grads

    def jvp(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        tangents: Sequence[Tensor | None],
    ) -> Tensor:
        if self._elsewhere(args):
            return super().jvp(args, flags, threads, tangents)
        rows = prod(args[0].shape[:-1])
        out = args[0].new_empty(self.result_shape(args))
        given = [*(_matrix(t, rows) for t in tangents), _matrix(out, self._results(args))]
        self._queue("_jvp", args, [*([None] if self.mask else []), *given, *flags])
        return out


KERNELS = {name: CudaKernel.like(kernel) for name, kernel in core.KERNELS.items()}


def mask_and_z(
    x: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor, descending: bool, log: bool
) -> tuple[Tensor, Tensor]:
    if w is not None or not x.numel():
        return portable.mask_and_z(x, w, k, alpha, descending, log)
    kernel = KERNELS["log_soft_topk" if log else "soft_topk"]
    out, b = kernel.value((x, k, alpha), (descending,), 0, keep=True)
    return out, portable.distances(x, b, alpha, descending)


def kernel_sum(r: Tensor, w: Tensor, x: Tensor, alpha: Tensor, shape: str, order: int) -> Tensor:
    if not r.numel() or not x.numel():
        return portable.kernel_sum(r, w, x, alpha, shape, order)
    rows, out = prod(r.shape[:-1]), x.new_empty(x.shape)
    *given, result = (_matrix(t, rows) for t in (r, w, x, alpha, out))
    sizes = rows, r.shape[-1], x.shape[-1]
    _queue("lap_kernel", "", sizes, r, [*given, (shape, order), result])
    return out


def inverse(r: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor) -> Tensor:
    if w is not None:
        return portable.inverse(r, w, k, alpha)
    return KERNELS["lap_sum_inverse"].value((r, k, alpha), (), 0)[0]
