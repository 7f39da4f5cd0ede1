"""The gate before the clock: an answer of ours is timed only if it is right.

Rows of up to 128 are compared with lapsum.reference, and all with the definitions in float64 at
O(n) cost: a mask must be F((x - b) / alpha) for some b and sum to k, which is unique; ranks, sorted
and permuted values are computed anew at a few places. The bounds are coarse multiples of the
rounding of the dtype: accuracy itself is the tests' affair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from cases import Case, Inputs
from numpy.typing import NDArray
from torch import Tensor

Row = NDArray[np.float64]
SMALL = 128


class WrongAnswerError(Exception):
    """A subject that claims to be exact is not."""


@dataclass
class Answer:
    """One row of a case with what came out; g and the gradients are None after a forward pass."""

    x: Row
    values: Row | None
    alpha: float
    levels: tuple[float, ...]
    eps: float
    out: Row
    g: Row | None
    gx: Row | None
    gvalues: Row | None

    @property
    def n(self) -> int:
        return self.x.size

    def places(self, count: int) -> list[int]:
        return sorted({0, count // 3, count // 2, count - 1})


def verify(case: Case, given: Inputs, out: Tensor, g: Tensor | None) -> None:
    """Checks the first and the last row of `out`, and of the gradients if there is a g."""

    def of(t: Tensor | None, row: int) -> Row | None:
        return None if t is None or t.numel() == 0 else t.detach()[row].double().numpy()

    for row in sorted({0, case.rows - 1}):
        x, result = of(given.x, row), of(out, row)
        assert x is not None
        assert result is not None
        answer = Answer(
            x=x,
            values=of(given.values, row),
            alpha=case.alpha,
            levels=case.levels_of_row(row),
            eps=torch.finfo(out.dtype).eps,
            out=result,
            g=of(g, row),
            gx=None if g is None else of(given.x.grad, row),
            gvalues=None if g is None else of(given.values.grad, row),
        )
        CHECKS[case.operation](answer)
        if case.n <= SMALL and not isinstance(case.k, tuple):
            _check_reference(case.operation, answer)


def _expect(what: str, got: Any, want: Any, bound: Any) -> None:
    beyond = np.abs(np.asarray(got) - np.asarray(want)) - bound
    if not np.all(beyond <= 0):  # NaN is wrong too
        raise WrongAnswerError(f"{what} is beyond its bound by {np.max(beyond):.3g}")


def _check_reference(operation: str, a: Answer) -> None:
    from lapsum import reference

    level = {
        "soft_topk": a.levels,
        "log_soft_topk": a.levels,
        "soft_quantile": ([a.levels[0] / a.n],),
        "soft_permute": (a.values,),
    }.get(operation, ())
    want = np.asarray(getattr(reference, operation)(a.x, *level, a.alpha), float)
    want = want.reshape(a.out.shape)
    _expect(f"{operation} by definition", a.out, want, 16 * a.eps * (1 + np.abs(want)))
    # The reference takes n^3 for the derivatives of a permutation.
    if a.g is None or (operation.startswith("soft_perm") and a.n > 20):
        return
    jacobian = getattr(reference, f"{operation}_jacobian")(a.x, *level, a.alpha)[0]
    jacobian = np.asarray(jacobian, float).reshape(a.g.size, a.n)
    bound = 64 * a.eps * (np.abs(a.g.ravel()) @ np.abs(jacobian)).max()
    _expect(f"gradient of {operation} by definition", a.gx, a.g.ravel() @ jacobian, bound)


# --- definitions in float64 ----------------------------------------------------------------------


def _cdf(z: Row) -> Row:
    tail = np.exp(-np.abs(z)) / 2
    return np.where(z < 0, tail, 1 - tail)


def _check_mask(a: Answer, *, log: bool = False) -> None:
    """The mask of every level against its form; their gradients add up."""
    many = a.out.ndim == 2
    gradient = np.zeros_like(a.x)
    for t, k in enumerate(a.levels):
        p = a.out[t] if many else a.out
        z = _form(a, np.exp(p) if log else p, k)
        if z is None:  # a hard mask: nothing to compare a gradient with
            gradient[:] = np.nan
        elif a.g is not None:
            s = np.exp(-np.abs(z)) / (2 * a.alpha)
            slope = np.where(z < 0, 1 / a.alpha, s / _cdf(z)) if log else s
            u = slope * (a.g[t] if many else a.g)
            gradient += u - s / s.sum() * u.sum()
    if a.g is not None and np.isfinite(gradient).all():
        bound = 64 * a.eps * (np.abs(a.g).max() / a.alpha + np.abs(gradient).max())
        _expect("gradient of the mask", a.gx, gradient, bound)


def _form(a: Answer, p: Row, k: float) -> Row | None:
    """(x - b) / alpha of the mask p, with b taken from its entry nearest to 1/2."""
    _expect("sum of the mask", p.sum(), k, 2 * a.eps * k + 1e-13 * a.n)
    _expect("range of the mask", p, 0.5, 0.5)
    near = int(np.abs(p - 0.5).argmin())
    at = p[near]
    if at in (0, 1):
        chosen = p == 1
        if chosen.any() and not chosen.all() and a.x[chosen].min() < a.x[~chosen].max():
            raise WrongAnswerError("the mask does not choose the largest")
        return None
    z = (a.x - a.x[near]) / a.alpha + (np.log(2 * at) if at < 0.5 else -np.log(2 * (1 - at)))
    _expect("form of the mask", p, _cdf(z), 16 * a.eps)
    return z


def _check_log_mask(a: Answer) -> None:
    _check_mask(a, log=True)


def _check_rank(a: Answer) -> None:
    _expect("sum of the ranks", a.out.sum(), a.n * (a.n - 1) / 2, a.eps * a.n**2 + 1e-9)
    for i in a.places(a.n):
        z = (a.x[i] - a.x) / a.alpha
        want = _cdf(z).sum() - 0.5
        _expect("rank", a.out[i], want, 16 * a.eps * (1 + want) + 1e-13 * a.n)
        if a.g is not None and a.gx is not None:
            terms = (a.g[i] - a.g) * np.exp(-np.abs(z)) / (2 * a.alpha)
            bound = 64 * a.eps * (np.abs(terms).sum() + 1)
            _expect("gradient of the rank", a.gx[i], terms.sum(), bound)


def _check_sorted(a: Answer) -> None:
    if (np.diff(a.out) < 0).any():
        raise WrongAnswerError("the result is not in order")
    _check_levels(a, np.arange(a.n) + 0.5)


def _check_quantile(a: Answer) -> None:
    _check_levels(a, np.array(a.levels))


def _check_levels(a: Answer, levels: Row) -> None:
    """LapSum at the results is their level, as far as the rounding of the result allows."""
    out = a.out.reshape(-1)
    for t in a.places(levels.size):
        z = (out[t] - a.x) / a.alpha
        density = np.exp(-np.abs(z)).sum() / (2 * a.alpha)
        bound = 16 * a.eps * abs(out[t]) * density + 1e-12 * a.n
        _expect("LapSum at the result", _cdf(z).sum(), levels[t], bound)
    if a.g is not None and a.gx is not None:
        bound = 64 * a.eps * (np.abs(a.g).sum() + 1)
        _expect("sum of the gradient", a.gx.sum(), a.g.sum(), bound)


def _check_permuted(a: Answer) -> None:
    import lapsum

    assert a.values is not None
    size = np.abs(a.values).sum()
    _expect("sum of P v", a.out.sum(), a.values.sum(), 8 * a.eps * size + 1e-9)
    for i in a.places(a.n):
        edges = np.asarray(lapsum.lap_sum_inverse(a.x, np.array([i, i + 1.0]), a.alpha))
        low, high = (_cdf((b - a.x) / a.alpha) for b in edges)
        _expect("edges of P", [low.sum(), high.sum()], [i, i + 1], 1e-11 * a.n + 1e-9)
        weights = high - low
        bound = 64 * a.eps * (weights @ np.abs(a.values) + 1) + 1e-11 * a.n
        _expect("P v", a.out[i], weights @ a.values, bound)
    if a.g is not None and a.gx is not None and a.gvalues is not None:
        bound = 64 * a.eps * (np.abs(a.gx).sum() + 1)
        _expect("sum of the gradient in x", a.gx.sum(), 0, bound)
        bound = 64 * a.eps * (np.abs(a.g).sum() + 1)
        _expect("sum of the gradient in v", a.gvalues.sum(), a.g.sum(), bound)


def _check_permutation(a: Answer) -> None:
    _expect("sums of the rows of P", a.out.sum(1), 1, 16 * a.eps * np.sqrt(a.n))
    _expect("sums of the columns of P", a.out.sum(0), 1, 16 * a.eps * np.sqrt(a.n))


CHECKS = {
    "soft_topk": _check_mask,
    "log_soft_topk": _check_log_mask,
    "soft_rank": _check_rank,
    "soft_sort": _check_sorted,
    "soft_quantile": _check_quantile,
    "soft_permute": _check_permuted,
    "soft_permutation": _check_permutation,
}
