"""The closed set: three differentiable functions whose derivatives are made of themselves.

Every operation is a short expression in them (see composite.py), so that derivatives of any order
and mode, and vmap, follow from what is here. Tensors are float64 on the CPU, of one batch shape.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import kernels


class _Closed(torch.autograd.Function):
    """Batches along leading axes are native, so vmap is a leading axis."""

    @staticmethod
    def _batched(info: Any, dims: tuple[Any, ...], args: tuple[Any, ...]) -> list[Any]:
        out = []
        for dim, arg in zip(dims, args, strict=True):
            if isinstance(arg, Tensor):
                arg = (
                    arg.expand(info.batch_size, *arg.shape) if dim is None else arg.movedim(dim, 0)
                )
            out.append(arg)
        return out


class Mask(_Closed):
    """The pair (p or log p, z) of soft top-k, z = (b - r) / |alpha|: x (..., n), k, alpha (...).

    With q = softmax(-|z|), D = sum e^-|z| and the slope of the mask in z:
    dz = sign / alpha (<q, dx> - dx) + 2 / D dk + (<q, z> - z) / alpha dalpha.
    """

    @staticmethod
    def forward(x: Tensor, k: Tensor, alpha: Tensor, descending: bool, log: bool) -> Any:
        return kernels.mask_and_z(x, k, alpha, descending, log)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, _, alpha, ctx.descending, ctx.log = inputs
        _, z = output
        ctx.save_for_backward(z, alpha)
        ctx.save_for_forward(z, alpha)

    @staticmethod
    def _parts(ctx: Any) -> tuple[Tensor, ...]:
        z, alpha = ctx.saved_tensors
        open_ = torch.isfinite(z).any(-1, keepdim=True)  # a threshold that is not infinite
        near = z.abs().amin(-1, keepdim=True).nan_to_num(posinf=0.0)
        e = torch.where(torch.isfinite(z), torch.exp(near - z.abs()), 0.0)
        total = e.sum(-1, keepdim=True)
        total = torch.where(open_, total, 1.0)
        scale = torch.exp(-near)
        finite_z = torch.where(torch.isfinite(z), z, 0.0)
        if ctx.log:
            half = 0.5 * torch.exp(-z.abs())
            slope = torch.where(z > 0, half / (1 - half), 1.0)
            slope = torch.where(torch.isfinite(z), slope, 0.0)
            per_level = slope * (2 / scale).clamp(max=1e300) / total
        else:
            slope = 0.5 * scale * e
            per_level = e / total
        nan = torch.where(torch.isnan(z), z, 0.0)
        return finite_z, e / total + nan, slope + nan, per_level + nan, (2 / (scale * total)), alpha

    @staticmethod
    def backward(ctx: Any, g: Tensor, gz: Tensor) -> Any:
        z, q, slope, per_level, rate, alpha = Mask._parts(ctx)
        a = alpha.unsqueeze(-1)
        gz = torch.where(q > 0, gz, gz * 0)
        pull = slope * g + gz
        total = pull.sum(-1, keepdim=True)
        sign = -1.0 if ctx.descending else 1.0
        gx = sign / a * (q * total - pull)
        gk = (per_level * g).sum(-1) + (gz.sum(-1) * rate.squeeze(-1).clamp(max=1e300))
        galpha = (pull * ((q * z).sum(-1, keepdim=True) - z)).sum(-1) / alpha
        return gx, gk, galpha, None, None

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, dk: Tensor, dalpha: Tensor, *_: Any) -> Any:
        z, q, slope, per_level, rate, alpha = Mask._parts(ctx)
        a = alpha.unsqueeze(-1)
        sign = -1.0 if ctx.descending else 1.0
        pull = torch.zeros_like(z)
        if dx is not None:
            pull = pull + sign / a * dx
        if dalpha is not None:
            pull = pull + z / a * dalpha.unsqueeze(-1)
        dz = (q * pull).sum(-1, keepdim=True) - pull
        dout = slope * dz
        if dk is not None:
            dout = dout + per_level * dk.unsqueeze(-1)
            dz = dz + rate.clamp(max=1e300) * dk.unsqueeze(-1)
        return dout, dz

    @staticmethod
    def vmap(info: Any, dims: Any, x: Any, k: Any, alpha: Any, descending: Any, log: Any) -> Any:
        x, k, alpha = _Closed._batched(info, dims[:3], (x, k, alpha))
        return Mask.apply(x, k, alpha, descending, log), (0, 0)


Term = tuple[float, str, int]  # coefficient, shape, order


def _slope(shape: str, order: int) -> list[Term]:
    """phi'(z) of a kernel as a sum of kernels."""
    if shape == "cdf":
        return [(0.5, "even", 0)]
    other = "odd" if shape == "even" else "even"
    lower = [(float(order), other, order - 1)] if order else []
    return [*lower, (-1.0, other, order)]


def _moment(shape: str, order: int) -> list[Term]:
    """The product z phi'(z) of a kernel as a sum of kernels."""
    if shape == "cdf":
        return [(0.5, "odd", 1)]
    lower = [(float(order), shape, order)] if order else []
    return [*lower, (-1.0, shape, order + 1)]


def _total(terms: list[Term], r: Tensor, w: Tensor, x: Tensor, alpha: Tensor) -> Tensor:
    return sum(c * KernelSum.apply(r, w, x, alpha, s, p) for c, s, p in terms)


def _turned(terms: list[Term]) -> list[Term]:
    """The terms as functions of -z."""
    return [(-c if s == "odd" else c, s, p) for c, s, p in terms]


class KernelSum(_Closed):
    """y[t] = sum_i w[i] phi((x[t] - r[i]) / alpha): r, w (..., n), x (..., m), alpha (...)."""

    @staticmethod
    def forward(r: Tensor, w: Tensor, x: Tensor, alpha: Tensor, shape: str, order: int) -> Tensor:
        return kernels.kernel_sum(r, w, x, alpha, shape, order)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *tensors, ctx.shape, ctx.order = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        r, w, x, alpha = ctx.saved_tensors
        slope, moment = _slope(ctx.shape, ctx.order), _moment(ctx.shape, ctx.order)
        a = alpha.unsqueeze(-1)
        gr = gw = gx = galpha = None
        if ctx.needs_input_grad[0]:
            gr = -w / a * _total(_turned(slope), x, g, r, alpha)
        if ctx.needs_input_grad[1]:
            gw = _total(_turned([(1.0, ctx.shape, ctx.order)]), x, g, r, alpha)
            if ctx.shape == "cdf":
                gw = g.sum(-1, keepdim=True) - gw
        if ctx.needs_input_grad[2]:
            gx = g / a * _total(slope, r, w, x, alpha)
        if ctx.needs_input_grad[3]:
            galpha = -(g * _total(moment, r, w, x, alpha)).sum(-1) / alpha
        return gr, gw, gx, galpha, None, None

    @staticmethod
    def jvp(ctx: Any, dr: Any, dw: Any, dx: Any, dalpha: Any, *_: Any) -> Tensor:
        r, w, x, alpha = ctx.saved_tensors
        slope, moment = _slope(ctx.shape, ctx.order), _moment(ctx.shape, ctx.order)
        a = alpha.unsqueeze(-1)
        dy = torch.zeros_like(x)
        if dr is not None:
            dy = dy - _total(slope, r, w * dr, x, alpha) / a
        if dw is not None:
            dy = dy + KernelSum.apply(r, dw, x, alpha, ctx.shape, ctx.order)
        if dx is not None:
            dy = dy + dx / a * _total(slope, r, w, x, alpha)
        if dalpha is not None:
            dy = dy - (dalpha / alpha).unsqueeze(-1) * _total(moment, r, w, x, alpha)
        return dy

    @staticmethod
    def vmap(info: Any, dims: Any, *args: Any) -> Any:
        tensors = _Closed._batched(info, dims[:4], args[:4])
        return KernelSum.apply(*tensors, *args[4:]), 0


class Inverse(_Closed):
    """The b with lap_sum(r, b) = k, from r (..., n), k (..., m), alpha (...).

    db = <q, dr> + 2 |alpha| / D dk + <q, z> dalpha, q being the kernel at b over its sum D.
    """

    @staticmethod
    def forward(r: Tensor, k: Tensor, alpha: Tensor) -> Tensor:
        return kernels.inverse(r, k, alpha)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        r, _, alpha = inputs
        ctx.save_for_backward(r, alpha, output)
        ctx.save_for_forward(r, alpha, output)

    @staticmethod
    def _parts(ctx: Any) -> tuple[Tensor, ...]:
        r, alpha, b = ctx.saved_tensors
        ones = torch.ones_like(r)
        total = KernelSum.apply(r, ones, b, alpha, "even", 0)
        seen = torch.isfinite(b) & (total > 0)
        inverse = torch.where(seen, 1 / torch.where(seen, total, 1.0), 0.0)
        return r, alpha, b, ones, inverse

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        r, alpha, b, ones, inverse = Inverse._parts(ctx)
        u = g * inverse
        gr = KernelSum.apply(b, u, r, alpha, "even", 0)
        gk = 2 * alpha.unsqueeze(-1) * u
        galpha = (u * KernelSum.apply(r, ones, b, alpha, "odd", 1)).sum(-1)
        return gr, gk, galpha

    @staticmethod
    def jvp(ctx: Any, dr: Any, dk: Any, dalpha: Any) -> Tensor:
        r, alpha, b, ones, inverse = Inverse._parts(ctx)
        db = torch.zeros_like(b)
        if dr is not None:
            db = db + KernelSum.apply(r, dr, b, alpha, "even", 0)
        if dk is not None:
            db = db + 2 * alpha.unsqueeze(-1) * dk
        if dalpha is not None:
            moment = KernelSum.apply(r, ones, b, alpha, "odd", 1)
            db = db + dalpha.unsqueeze(-1) * moment
        return db * inverse

    @staticmethod
    def vmap(info: Any, dims: Any, *args: Any) -> Any:
        return Inverse.apply(*_Closed._batched(info, dims, args)), 0
