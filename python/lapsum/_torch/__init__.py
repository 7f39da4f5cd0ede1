"""The PyTorch front end: operations as if they were part of torch, nothing compiled against it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TypeGuard

import torch
from torch import Tensor

from .arguments import (
    axis_of,
    broadcast,
    check_alpha,
    check_devices,
    check_level,
    compute_dtype,
    number,
    row,
    tensor,
    threads,
    values_tail,
)
from .hard import straight_through
from .operation import run
from .padding import Padding, length_tensor, mask_tensor, padding, present
from .plain_rows import short_cut
from .precision import wide
from .weights import soft_only, weight_tensor


class Operation:
    """An operation on tensors whose last axes are the row; `level` names k or q.

    `by_element` says whether the last axis of the result goes by elements.
    """

    def __init__(
        self,
        name: str,
        arrays: Sequence[str] = ("x",),
        level: str | None = None,
        by_element: bool = False,
    ) -> None:
        self.name = name
        self.arrays = list(arrays)
        self.level = level
        self.by_element = by_element

    def apply(
        self,
        arrays: Sequence[Tensor],
        tails: Sequence[int],
        numbers: Sequence[object],
        flags: Sequence[bool],
        num_threads: int | None,
        hard: bool = False,
        absent: Padding | None = None,
        weighted: bool = False,
    ) -> Tensor:
        op, device = self.name, arrays[0].device
        check_devices(op, dict(zip([*self.arrays, "weights"], arrays, strict=False)))
        parsed: dict[str, Any] = {}
        if self.level:
            parsed[self.level] = number(op, self.level, numbers[0], device)
            n = arrays[0].shape[-1]
            limit, of = (float(n), "n") if self.level == "k" else (1.0, "1")
            if weighted and self.level == "k":
                limit, of = sys.float_info.max, "the sum of weights"
            check_level(op, self.level, parsed[self.level], limit, of)
        parsed["alpha"] = number(op, "alpha", numbers[-1], device)
        check_alpha(op, parsed["alpha"])
        if absent is not None:
            parsed["lengths"] = absent.lengths
        count = threads(op, num_threads)
        dtype = arrays[0].dtype if len(arrays) == 1 else compute_dtype(arrays)
        result = arrays[0].dtype
        for a in arrays[1:]:
            result = torch.promote_types(result, a.dtype)
        named = {
            name: (a if a.dtype == dtype else a.to(dtype), tail)
            for name, a, tail in zip([*self.arrays, "weights"], arrays, tails, strict=False)
        }
        args = broadcast(op, named, parsed, None if hard else self.level)
        out = run(f"weighted_{op}" if weighted else op, args, flags, count)
        if hard:
            out = straight_through(op, args, flags, out)
        return out if out.dtype == result else out.to(result)

    def vjp(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.name}_vjp: is for NumPy arrays; torch tensors have autograd")

    def jvp(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.name}_jvp: is for NumPy arrays; torch tensors have torch.func.jvp")


class AlongAxis(Operation):
    """Along any one axis of x, `dim` or `axis`, which the result keeps or has not."""

    def __init__(
        self,
        name: str,
        level: str | None = None,
        keeps_axis: bool = True,
        by_element: bool = False,
    ) -> None:
        super().__init__(name, level=level, by_element=by_element)
        self.keeps_axis = keeps_axis

    def value(
        self,
        x: object,
        *numbers: object,
        dim: int,
        axis: int | None,
        flags: Sequence[bool] = (),
        num_threads: int | None = None,
        hard: bool = False,
        weights: object = None,
        mask: object = None,
        lengths: object = None,
    ) -> Tensor:
        plain = weights is None and mask is None and lengths is None
        if dim == -1 and axis is None and num_threads is None and not hard and plain:
            short = short_cut(self.name, x, numbers, flags) if isinstance(x, Tensor) else None
            if short is not None:
                return short
        t = row(self.name, "x", x)
        at = axis_of(self.name, dim, axis, t.ndim)
        soft_only(self.name, weights, hard)
        arrays, absent = self._arrays(t, at, weights, mask, lengths)
        tails = [1] * len(arrays)
        weighted = weights is not None
        out = self.apply(arrays, tails, numbers, flags, num_threads, hard, absent, weighted)
        if absent and self.by_element:
            out = absent.unpack(out)
        return out.movedim(-1, at) if self.keeps_axis and at != -1 else out

    def _arrays(
        self, x: Tensor, at: int, weights: object, mask: object, lengths: object
    ) -> tuple[list[Tensor], Padding | None]:
        """The row and its weights, if any, along the last axis, present elements first."""
        arrays = [x]
        if weights is not None:
            arrays.append(weight_tensor(self.name, weights, x))
        if mask is not None:
            mask = mask_tensor(self.name, mask, x)
            mask = mask if at == -1 else mask.movedim(at, -1)
        if at != -1:
            arrays = [a.movedim(at, -1) for a in arrays]
        absent = padding(self.name, arrays[0], mask, lengths)
        return [absent.pack(a) for a in arrays] if absent else arrays, absent

    def complement_level(
        self,
        x: object,
        k: object,
        alpha: object,
        largest: bool,
        dim: int,
        axis: int | None,
        weights: object,
        mask: object,
        lengths: object,
    ) -> Tensor:
        """The level of the elements left out: n - k, and at least those that are never chosen."""
        op = self.name
        t = row(op, "x", x)
        at = axis_of(op, dim, axis, t.ndim)
        ones = 1.0 if weights is None else weights
        (rows, counts), absent = self._arrays(t, at, ones, mask, lengths)
        if absent:
            counts = torch.where(present(rows.shape[-1], absent.lengths), counts, 0.0)
        counts = counts.to(wide(t.device))
        softness = torch.as_tensor(number(op, "alpha", alpha, t.device), device=t.device)
        never = torch.where((softness < 0) != largest, -torch.inf, torch.inf)
        left_out = torch.where(rows == never.unsqueeze(-1), counts, 0.0).sum(-1)
        level = torch.as_tensor(number(op, "k", k, t.device), device=t.device)
        return torch.maximum(counts.sum(-1) - level, left_out)


class LastAxis(Operation):
    """Along the last axis: soft_permutation, and lap_sum at points."""

    def value(
        self,
        *args: object,
        flags: Sequence[bool] = (),
        num_threads: int | None = None,
        hard: bool = False,
        mask: object = None,
        lengths: object = None,
    ) -> Tensor:
        count = len(self.arrays)
        first = row(self.name, self.arrays[0], args[0])
        others = [
            tensor(self.name, name, first.new_full((), a) if _plain(a) else a)
            for name, a in zip(self.arrays[1:], args[1:count], strict=True)
        ]
        single = any(t.ndim == 0 for t in others)
        others = [t.unsqueeze(-1) if t.ndim == 0 else t for t in others]
        absent = padding(self.name, first, mask, lengths)
        arrays = [absent.pack(first) if absent else first, *others]
        out = self.apply(arrays, [1] * count, args[count:], flags, num_threads, hard, absent)
        if absent and self.by_element:
            out = absent.unpack(out, tail=2)
        return out.squeeze(-1) if single else out


def _plain(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Permute(Operation):
    """values are (..., n), or (..., n, d) with one axis more than x."""

    def value(
        self,
        x: object,
        values: object,
        alpha: object,
        *,
        flags: Sequence[bool] = (),
        num_threads: int | None = None,
        mask: object = None,
        lengths: object = None,
    ) -> Tensor:
        t, v = row(self.name, "x", x), row(self.name, "values", values)
        tail = values_tail(self.name, tuple(t.shape), tuple(v.shape))
        columns = v if tail == 2 else v.unsqueeze(-1)
        if num_threads is None and mask is None and lengths is None:
            short = short_cut(self.name, t, [alpha], flags, columns)
            if short is not None:
                return short if tail == 2 else short.squeeze(-1)
        absent = padding(self.name, t, mask, lengths)
        transpose, *_ = flags
        if absent:
            t = absent.pack(t)
            columns = columns if transpose else absent.pack(columns, -2, 2)
        out = self.apply([t, columns], [1, 2], [alpha], flags, num_threads, absent=absent)
        if absent and transpose:
            out = absent.unpack(out, -2, 2)
        return out if tail == 2 else out.squeeze(-1)


class AtLevels(Operation):
    """lap_sum_inverse: levels along the last axis of k, for the rows of the same batch."""

    def value(
        self,
        r: object,
        k: object,
        alpha: object,
        *,
        num_threads: int | None = None,
        mask: object = None,
        lengths: object = None,
    ) -> Tensor:
        t = row(self.name, "r", r)
        if mask is not None:
            mask = mask_tensor(self.name, mask, t)
        if lengths is not None:
            lengths = length_tensor(self.name, lengths, t.device)
        levels, softness = (
            number(self.name, name, value, t.device) for name, value in (("k", k), ("alpha", alpha))
        )
        if isinstance(levels, Tensor) and levels.ndim:
            t = t.unsqueeze(-2)
            mask = None if mask is None else mask.unsqueeze(-2)
            if isinstance(lengths, Tensor) and lengths.ndim:
                lengths = lengths.unsqueeze(-1)
            if isinstance(softness, Tensor) and softness.ndim:
                softness = softness.unsqueeze(-1)
        absent = padding(self.name, t, mask, lengths)
        rows = absent.pack(t) if absent else t
        return self.apply([rows], [1], [levels, softness], (), num_threads, absent=absent)


OPERATIONS: dict[str, Any] = {
    "soft_rank": AlongAxis("soft_rank", by_element=True),
    "soft_sort": AlongAxis("soft_sort"),
    "soft_topk": AlongAxis("soft_topk", level="k", by_element=True),
    "log_soft_topk": AlongAxis("log_soft_topk", level="k", by_element=True),
    "soft_kth_value": AlongAxis("soft_kth_value", level="k", keeps_axis=False),
    "soft_quantile": AlongAxis("soft_quantile", level="q", keeps_axis=False),
    "soft_permutation": LastAxis("soft_permutation", by_element=True),
    "soft_permute": Permute("soft_permute", ("x", "values")),
    "lap_sum": LastAxis("lap_sum", ("r", "x")),
    "lap_sum_inverse": AtLevels("lap_sum_inverse", ("r",), level="k"),
}
