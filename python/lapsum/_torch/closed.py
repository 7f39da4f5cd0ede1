"""The closed set: three differentiable functions whose derivatives are made of themselves.

Every operation is a short expression in them (see composite.py), so that derivatives of any order
and mode, and vmap, follow from what is here. Tensors are of one batch shape and of the wide type of
their device (precision.py).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .backends import backend_for
from .precision import large


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

    Weights w (..., n) may be None, for ones. With D = sum w e^-|z|, q = w e^-|z| / D and the slope
    of the mask in z:
    dz = sign / alpha (<q, dx> - dx) + 2 / D (dk - <F(z), dw>) + (<q, z> - z) / alpha dalpha.
    """

    @staticmethod
    def forward(
        x: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor, descending: bool, log: bool
    ) -> Any:
        return backend_for(x.device).mask_and_z(x, w, k, alpha, descending, log)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, w, _, alpha, ctx.descending, ctx.log = inputs
        _, z = output
        ctx.save_for_backward(z, w, alpha)
        ctx.save_for_forward(z, w, alpha)

    @staticmethod
    def _parts(ctx: Any) -> tuple[Tensor, ...]:
        z, w, alpha = ctx.saved_tensors
        counts = torch.isfinite(z) if w is None else torch.isfinite(z) & (w > 0)
        open_ = counts.any(-1, keepdim=True)  # a threshold that is not infinite
        near = torch.where(counts, z.abs(), torch.inf).amin(-1, keepdim=True)
        near = torch.where(open_, near, 0.0)
        e = torch.where(torch.isfinite(z), torch.exp(near - z.abs()), 0.0)
        share = e if w is None else torch.where(counts, e, 0.0) * w
        total = share.sum(-1, keepdim=True)
        total = torch.where(open_, total, 1.0)
        scale = torch.exp(-near)
        finite_z = torch.where(torch.isfinite(z), z, 0.0)
        if ctx.log:
            half = 0.5 * torch.exp(-z.abs())
            slope = torch.where(z > 0, half / (1 - half), 1.0)
            slope = torch.where(torch.isfinite(z), slope, 0.0)
            per_level = slope * (2 / scale).clamp(max=large(z)) / total
        else:
            slope = 0.5 * (scale * e if w is None else torch.exp(-finite_z.abs()) * (e > 0))
            per_level = e / total
        nan = torch.where(torch.isnan(z), z, 0.0)
        rate = torch.where(open_, 2 / (scale * total), 0.0).clamp(max=large(z))
        return finite_z, share / total + nan, slope + nan, per_level + nan, rate, alpha

    @staticmethod
    def _cdf(ctx: Any) -> Tensor:
        """F(z)."""
        z = ctx.saved_tensors[0]
        half = 0.5 * torch.exp(-z.abs())
        return torch.where(z < 0, half, 1 - half)

    @staticmethod
    def backward(ctx: Any, g: Tensor, gz: Tensor) -> Any:
        z, q, slope, per_level, rate, alpha = Mask._parts(ctx)
        a = alpha.unsqueeze(-1)
        gz = torch.where(torch.isfinite(ctx.saved_tensors[0]), gz, gz * 0)
        pull = slope * g + gz
        total = pull.sum(-1, keepdim=True)
        sign = -1.0 if ctx.descending else 1.0
        gx = sign / a * (q * total - pull)
        gk = (per_level * g).sum(-1) + gz.sum(-1) * rate.squeeze(-1)
        gw = -gk.unsqueeze(-1) * Mask._cdf(ctx) if ctx.needs_input_grad[1] else None
        galpha = (pull * ((q * z).sum(-1, keepdim=True) - z)).sum(-1) / alpha
        return gx, gw, gk, galpha, None, None

    @staticmethod
    def jvp(ctx: Any, dx: Any, dw: Any, dk: Any, dalpha: Any, *_: Any) -> Any:
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
        rise = None if dk is None else dk.unsqueeze(-1)
        if dw is not None:
            taken = (Mask._cdf(ctx) * dw).sum(-1, keepdim=True)
            rise = -taken if rise is None else rise - taken
        if rise is not None:
            dout = dout + per_level * rise
            dz = dz + rate * rise
        return dout, dz

    @staticmethod
    def vmap(info: Any, dims: Any, *args: Any) -> Any:
        tensors = _Closed._batched(info, dims[:4], args[:4])
        return Mask.apply(*tensors, *args[4:]), (0, 0)


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
        return backend_for(x.device).kernel_sum(r, w, x, alpha, shape, order)

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
    """The b where sum_i w[i] F((b - r[i]) / alpha) = k: r, w (..., n), k (..., m), alpha (...).

    Weights w may be None, for ones.
    db = <q, dr> + 2 alpha / D (dk - <F, dw>) + <q, z> dalpha, q being w times the kernel at b over
    its sum D.
    """

    @staticmethod
    def forward(r: Tensor, w: Tensor | None, k: Tensor, alpha: Tensor) -> Tensor:
        out: Tensor = backend_for(r.device).inverse(r, w, k, alpha)
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        r, w, _, alpha = inputs
        ctx.save_for_backward(r, w, alpha, output)
        ctx.save_for_forward(r, w, alpha, output)

    @staticmethod
    def _parts(ctx: Any) -> tuple[Tensor, ...]:
        r, w, alpha, b = ctx.saved_tensors
        w = torch.ones_like(r) if w is None else w
        total = KernelSum.apply(r, w, b, alpha, "even", 0)
        # On a plateau so wide nothing depends on b, and powers of one over the total overflow.
        least = torch.finfo(b.dtype).tiny ** 0.25
        seen = torch.isfinite(b) & (total > least)
        inverse = torch.where(seen, 1 / torch.where(seen, total, 1.0), 0.0)
        return r, w, alpha, b, inverse

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        r, w, alpha, b, inverse = Inverse._parts(ctx)
        u = g * inverse
        gr = w * KernelSum.apply(b, u, r, alpha, "even", 0)
        gk = 2 * alpha.unsqueeze(-1) * u
        gw = None
        if ctx.needs_input_grad[1]:
            gw = KernelSum.apply(b, gk, r, alpha, "cdf", 0) - gk.sum(-1, keepdim=True)
        galpha = (u * KernelSum.apply(r, w, b, alpha, "odd", 1)).sum(-1)
        return gr, gw, gk, galpha

    @staticmethod
    def jvp(ctx: Any, dr: Any, dw: Any, dk: Any, dalpha: Any) -> Tensor:
        r, w, alpha, b, inverse = Inverse._parts(ctx)
        rate = 2 * alpha.unsqueeze(-1)
        db = torch.zeros_like(b)
        if dr is not None:
            db = db + KernelSum.apply(r, w * dr, b, alpha, "even", 0)
        if dw is not None:
            db = db - rate * KernelSum.apply(r, dw, b, alpha, "cdf", 0)
        if dk is not None:
            db = db + rate * dk
        if dalpha is not None:
            moment = KernelSum.apply(r, w, b, alpha, "odd", 1)
            db = db + dalpha.unsqueeze(-1) * moment
        return db * inverse

    @staticmethod
    def vmap(info: Any, dims: Any, *args: Any) -> Any:
        return Inverse.apply(*_Closed._batched(info, dims, args)), 0
