"""The recipes as kernels: from arguments of any batch shape to rows in a wide type, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from lapsum._torch import kernels as core
from lapsum._torch.kernels import Argument, Kernel
from lapsum._torch.precision import capped, narrow, wide

from . import (
    composed,
    lap_sum,
    lap_sum_inverse,
    log_soft_topk,
    mask,
    soft_kth_value,
    soft_permutation,
    soft_permute,
    soft_quantile,
    soft_rank,
    soft_sort,
    soft_topk,
)
from . import kernel_sum as kernel_sums
from .sorted_row import sort_row

_RECIPES: dict[str, ModuleType] = {
    "lap_sum": lap_sum,
    "lap_sum_inverse": lap_sum_inverse,
    "log_soft_topk": log_soft_topk,
    "soft_kth_value": soft_kth_value,
    "soft_permutation": soft_permutation,
    "soft_permute": soft_permute,
    "soft_quantile": soft_quantile,
    "soft_rank": soft_rank,
    "soft_sort": soft_sort,
    "soft_topk": soft_topk,
}


@dataclass(frozen=True)
class PortableKernel(Kernel):
    """One operation; how many threads work on it is torch's own affair."""

    @property
    def by_address(self) -> dict[torch.dtype, tuple[Callable[..., None], Callable[..., None]]]:
        return {}

    def argsort_from(self, x: Tensor) -> int | None:
        return None

    def _wide(self, args: Sequence[Argument]) -> list[Tensor]:
        """Arrays (rows, ...), levels (rows, m) and alpha (rows, 1)."""
        x = args[0]
        assert isinstance(x, Tensor)
        batch, dtype = x.shape[:-1], wide(x.device)
        rows = prod(batch)

        def whole(a: Argument, *own: int) -> Tensor:
            if isinstance(a, Tensor):
                return a.detach().to(dtype).reshape(rows, *own)
            return x.new_full((rows, *own), a, dtype=dtype)

        arrays = [
            whole(a, *a.shape[len(batch) :]) for a in args[: self.arrays] if isinstance(a, Tensor)
        ]
        levels = [
            whole(k, prod(k.shape[len(batch) :]) if isinstance(k, Tensor) else 1)
            for k in args[self.arrays : self.numbers - 1]
        ]
        return [*arrays, *levels, whole(args[self.numbers - 1], 1)]

    def _composed(self, args: Sequence[Any]) -> bool:
        """Whether the operation is put together from the closed set: with weights or lengths."""
        return self.weighted or self.lengths(args) is not None

    def value(
        self, args: Sequence[Any], flags: Sequence[Any], threads: int, keep: bool = False
    ) -> tuple[Tensor, Any]:
        x, shape, b = args[0], self.result_shape(args), None
        if self._composed(args):
            b = x.new_zeros(self._results(args), 2, dtype=wide(x.device))
            out = composed.value(self, args, flags)
        elif x.shape[-1] == 0:
            out = x.new_full(shape, 0.0 if self.name == "lap_sum" else torch.nan)
            b = x.new_zeros(self._results(args), 2, dtype=wide(x.device))
        elif self.mask:
            out, b = _RECIPES[self.name].value(*self._wide(args), *flags)
            b = b.flatten(0, 1)
        else:
            out = _RECIPES[self.name].value(*self._wide(args), *flags)
        return narrow(out, x.dtype).reshape(shape).contiguous(), b if keep and self.mask else None

    def jvp(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        tangents: Sequence[Tensor | None],
    ) -> Tensor:
        x, shape = args[0], self.result_shape(args)
        if x.shape[-1] == 0:
            return x.new_zeros(shape)
        if self._composed(args):
            return composed.jvp(self, args, flags, tangents)
        given = self._wide(args)
        along = [
            None if t is None else t.detach().to(a.dtype).reshape(a.shape)
            for t, a in zip(tangents, given, strict=True)
        ]
        out = _RECIPES[self.name].jvp(*given, *flags, tangents=along)
        return capped(out, x.dtype).reshape(shape).contiguous()

    def vjp(
        self,
        args: Sequence[Any],
        flags: Sequence[Any],
        threads: int,
        saved: Any,
        g: Tensor,
        needs: Sequence[bool],
    ) -> list[Tensor | None]:
        x = args[0]
        if x.shape[-1] == 0:
            return [
                a.new_zeros(a.shape) if need else None for a, need in zip(args, needs, strict=True)
            ]
        if self._composed(args):
            return composed.vjp(self, args, flags, g, needs)
        given = self._wide(args)
        extra: dict[str, Any] = {"needs": needs}
        own = [*g.shape[len(self.batch(args)) :]]
        if self.levels:
            own = [given[self.arrays].shape[1], *own]
        extra["g"] = g.detach().to(given[0].dtype).reshape(given[0].shape[0], *own)
        if self.mask:
            extra["b"] = None if saved is None else saved.reshape(*given[1].shape, 2)
        grads = _RECIPES[self.name].vjp(*given, *flags, **extra)
        for i, (t, a, need) in enumerate(zip(grads, args, needs, strict=True)):
            if t is None or not need:
                grads[i] = None
                continue
            is_array = i < self.arrays
            t = narrow(t, a.dtype) if is_array else capped(t, x.dtype, a.dtype)
            grads[i] = t.reshape(a.shape).contiguous()
        return grads


KERNELS = {name: PortableKernel.like(kernel) for name, kernel in core.KERNELS.items()}


def mask_and_z(
    x: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor, descending: bool, log: bool
) -> tuple[Tensor, Tensor]:
    """The mask p or log p, and z = (b - r) / |alpha|, which is NaN or infinite where b is."""
    if x.shape[-1] == 0:
        return x.new_zeros(x.shape), x.new_zeros(x.shape)
    rows = prod(x.shape[:-1])
    flat = x.detach().reshape(rows, x.shape[-1])
    level, softness = (t.detach().reshape(rows, 1) for t in (k, alpha))
    weights = None if w is None else w.detach().reshape(flat.shape)
    curve = (log_soft_topk if log else soft_topk).CURVE
    out, b = mask.value(curve, flat, level, softness, descending, weights)
    return out.reshape(x.shape), distances(x, b, alpha, descending)


def distances(x: Tensor, b: Tensor, alpha: Tensor, descending: bool) -> Tensor:
    """The z of one threshold per row, b (rows, 2) or (rows, 1, 2)."""
    rows = prod(x.shape[:-1])
    flat, softness = x.detach().reshape(rows, -1), alpha.detach().reshape(rows, 1)
    _, z = mask.distances(flat, b.reshape(rows, 1, 2), softness, descending)
    return z.reshape(x.shape)


def kernel_sum(r: Tensor, w: Tensor, x: Tensor, alpha: Tensor, shape: str, order: int) -> Tensor:
    rows, n, m = prod(r.shape[:-1]), r.shape[-1], x.shape[-1]
    if n == 0:
        return torch.zeros_like(x)
    row = sort_row(r.reshape(rows, n), alpha.reshape(rows, 1))
    at = row.sign * x.reshape(rows, m)
    y = kernel_sums.kernel_sum(row, w.reshape(rows, 1, n), at, shape, order).squeeze(1)
    return row.or_nan(torch.where(at.isnan(), torch.nan, y)).reshape(x.shape)


def inverse(r: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor) -> Tensor:
    rows, n = prod(r.shape[:-1]), r.shape[-1]
    if n == 0:
        return k.new_full(k.shape, torch.nan)
    weights = None if w is None else w.reshape(rows, n)
    levels = k.reshape(rows, k.shape[-1])
    b = lap_sum_inverse.value(r.reshape(rows, n), levels, alpha.reshape(rows, 1), weights=weights)
    return b.reshape(k.shape)
