"""Slow definitions in extended precision: the oracle that the fast code is tested against.

Everything here is written from the sum of Laplace CDFs alone, for one row (1-D) at a time.
Inputs are taken exactly as given; results and derivatives are numpy.longdouble.
`weights` say how much each element counts in the sums; None is one each. Levels k then lie between
0 and the sum of the weights, and a Jacobian in the weights follows that in the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Real = np.longdouble
Number = float | np.longdouble
Array = NDArray[np.longdouble]
Jacobians = tuple[Array, ...]

_EPS = np.finfo(Real).eps
_LARGEST = np.finfo(Real).max
_LOG2 = np.log(Real(2))
_INF = Real(np.inf)


class Root(NamedTuple):
    """The solution b of sum_i w_i F((b - r_i) / alpha) = k, and what every derivative is made of.

    Infinite elements, and levels out of reach, have zero `q`, `s`, `lift` and `rate`.
    """

    z: Array  # (b - r) / alpha; at an infinity, the z of the share of each element there
    q: Array  # db/dr, the softmax of -|z| + log(w)
    s: Array  # the Laplace density e^-|z| / (2 |alpha|)
    lift: Array  # dp/dk = s rate, which is q / w
    rate: Real  # db/dk for a positive alpha, 1 / sum(w s)
    b: Real


# --- the Laplace distribution --------------------------------------------------------------------


def cdf(z: ArrayLike) -> Array:
    """F(z) = e^z / 2 for z <= 0 and 1 - e^-z / 2 above."""
    at = np.asarray(z, Real)
    tail = np.exp(-np.abs(at)) / 2
    return np.where(at < 0, tail, 1 - tail)


def log_cdf(z: ArrayLike) -> Array:
    """The logarithm of F(z), finite for every finite z."""
    at = np.asarray(z, Real)
    return np.where(at < 0, at - _LOG2, np.log1p(-np.exp(-np.abs(at)) / 2))


def cdf_difference(lower: Array, upper: Array) -> Array:
    """F(upper) - F(lower) for lower <= upper, without cancellation."""
    with np.errstate(invalid="ignore"):
        step = -np.expm1(np.where(lower == upper, 0, lower - upper))
    same_side = np.exp(-np.minimum(np.abs(lower), np.abs(upper))) * step / 2
    across = -(np.expm1(-np.abs(lower)) + np.expm1(-np.abs(upper))) / 2
    return np.where((lower < 0) & (upper > 0), across, same_side)


def _inverse_cdf(share: Real) -> Real:
    with np.errstate(divide="ignore"):
        return Real(np.log(2 * share) if share < 0.5 else -np.log(2 * (1 - share)))


def _standardize(x: Array | Real, r: Array, alpha: Real) -> Array:
    """(x - r) / alpha, where equal infinities are 0 apart."""
    with np.errstate(invalid="ignore"):
        return np.where(x == r, Real(0), (x - r) / alpha)


def _orient(r: ArrayLike, alpha: Number, reverse: bool = False) -> tuple[Array, Real, int]:
    """The same problem for a positive alpha and the smallest first: row, alpha, sign of the row.

    An alpha out of its domain makes the row NaN.
    """
    row, softness = np.asarray(r, Real), Real(alpha)
    if softness == 0 or not np.isfinite(softness):
        return np.full_like(row, np.nan), Real(1), 1
    sign = -1 if (softness < 0) != reverse else 1
    return sign * row, abs(softness), sign


def _weigh(row: Array, weights: ArrayLike | None) -> tuple[Array, Array]:
    """The row and its weights; a weight out of its domain makes the row NaN."""
    if weights is None:
        return row, np.ones_like(row)
    w = np.asarray(weights, Real)
    if not (w >= 0).all() or np.isinf(w).any():
        return np.full_like(row, np.nan), np.ones_like(row)
    return row, w


def _each(f: Callable[[Real], Real], points: ArrayLike) -> Array:
    points = np.asarray(points, Real)
    return np.array([f(point) for point in points.ravel()], Real).reshape(points.shape)


# --- the sum and its inverse ---------------------------------------------------------------------


def lap_sum(
    r: ArrayLike, x: ArrayLike, alpha: Number, *, weights: ArrayLike | None = None
) -> Array:
    """sum_i w_i F((x - r_i) / alpha) at every point of x; alpha is signed."""
    row, softness, sign = _orient(r, alpha)
    row, w = _weigh(row, weights)
    return _each(lambda point: (w * cdf(_standardize(sign * point, row, softness))).sum(), x)


def _excess(row: Array, w: Array, b: Real, k: Real, alpha: Real) -> Real:
    """LapSum at b minus k, with the whole part counted rather than summed."""
    z = (row - b) / alpha
    return Real((w[z < 0].sum() - k) + (w * np.copysign(np.exp(-np.abs(z)), z)).sum() / 2)


def _neighbours(row: Array, w: Array, k: Real, alpha: Real) -> tuple[Real, Real]:
    """The elements (or infinities) next to b on either side, by bisection."""
    edges = np.concatenate(([-_INF], np.unique(row), [_INF]))
    low, high = 0, edges.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if _excess(row, w, edges[middle], k, alpha) <= 0:
            low = middle
        else:
            high = middle
    return edges[low], edges[high]


def _log_sum_exp(v: Array) -> Real:
    top = v.max(initial=-_INF)
    return Real(top if np.isinf(top) else top + np.log(np.exp(v - top).sum()))


def _balance(log_left: Real, log_right: Real, d: Real) -> tuple[Real, Real]:
    """The logarithm of right + 2 max(-d, 0) over left + 2 max(d, 0), and its slope in b / alpha.

    Logarithms keep the root where both sums underflow.
    """
    with np.errstate(divide="ignore"):
        log_d = np.log(2 * abs(d))
    left = np.logaddexp(log_left, log_d) if d > 0 else log_left
    right = np.logaddexp(log_right, log_d) if d < 0 else log_right
    return right - left, np.exp(log_left - left) + np.exp(log_right - right)


def _offset(log_left: Real, log_right: Real, d: Real) -> Real:
    """Newton on the balance, which is monotone and of one curvature: it converges from anywhere.

    Quadratically at the end: a last step below 1e-10 leaves an error below 1e-20.
    """
    u = Real(0)
    for _ in range(200):
        value, slope = _balance(log_left - u, log_right + u, d)
        u -= value / slope
        if abs(value) <= max(Real(1e-10), 4 * _EPS * abs(u)):
            return u
    raise ArithmeticError(f"no convergence: {log_left=}, {log_right=}, {d=}")


def _solve(row: Array, weights: Array, k: Real, alpha: Real) -> Root:
    """The root for finite elements and 0 < k < sum(w), kept as an offset from its nearest element.

    Between neighbours k = count - left / 2 + right / 2, where count is the weight on the left, and
    left and right are the sums of w e^-|z| on either side of b. With d = k - count this is
    right - left = 2 d. Elements without weight only look on.
    """
    counting = weights > 0
    r, w = row[counting], weights[counting]
    low, high = _neighbours(r, w, k, alpha)
    is_left = r <= low
    d = k - w[is_left].sum()

    def log_sums(anchor: Real) -> tuple[Real, Real]:
        t = (r - anchor) / alpha
        return _log_sum_exp((np.log(w) + t)[is_left]), _log_sum_exp((np.log(w) - t)[~is_left])

    anchor = low if np.isfinite(low) else high
    log_left, log_right = log_sums(anchor)
    half = (high - low) / alpha / 2
    if np.isfinite(half) and _balance(log_left - half, log_right + half, d)[0] < 0:
        anchor = high
        log_left, log_right = log_sums(anchor)
    u = _offset(log_left, log_right, d)

    z = u - (row - anchor) / alpha
    log_total = _log_sum_exp(np.log(w) - np.abs(z[counting]))
    q = np.zeros_like(row)
    shares = _shares(log_left - u, log_right + u, d)
    q[counting] = _softmax(r, w, is_left, low, high, alpha, shares)
    with np.errstate(over="ignore"):
        rate = min(2 * alpha * np.exp(-log_total), _LARGEST)
        lift = np.minimum(np.exp(-np.abs(z) - log_total), _LARGEST)
        lift[counting] = q[counting] / w
    return Root(z, q, np.exp(-np.abs(z)) / (2 * alpha), lift, rate, anchor + u * alpha)


def _shares(log_left: Real, log_right: Real, d: Real) -> tuple[Real, Real]:
    """Left and right over their sum, from the smaller of the two and right - left = 2 d."""
    if d == 0:
        return Real(0.5), Real(0.5)
    smaller = np.exp(log_left if d > 0 else log_right)
    share = smaller / (2 * (smaller + abs(d)))
    return (share, 1 - share) if d > 0 else (1 - share, share)


def _softmax(
    row: Array,
    w: Array,
    is_left: NDArray[np.bool_],
    low: Real,
    high: Real,
    alpha: Real,
    shares: tuple[Real, Real],
) -> Array:
    """Weights q of the root, given the shares of both sides; each side from its own edge."""
    q: Array = w * np.exp(-np.abs(row - np.where(is_left, low, high)) / alpha)
    for side, share in zip((is_left, ~is_left), shares, strict=True):
        if side.any():
            q[side] *= share / q[side].sum()
    return q


def threshold(r: ArrayLike, k: Number, alpha: Number, *, weights: ArrayLike | None = None) -> Root:
    """The b at which LapSum reaches k, for any k, any signed alpha and infinite elements."""
    row, softness, sign = _orient(r, alpha)
    row, w = _weigh(row, weights)
    level, nothing = Real(k), np.zeros(row.size, Real)
    if np.isnan(level) or np.isnan(row).any():
        nan = nothing + np.nan
        return Root(nan, nan, nan, nan, Real(np.nan), Real(np.nan))

    inside, first, last = np.isfinite(row), row == -_INF, row == _INF
    before = w[first].sum()
    z, q, s, lift = nothing.copy(), nothing.copy(), nothing.copy(), nothing.copy()
    z[first] = _shared(level, before)
    z[last] = _shared(level - w[~last].sum(), w[last].sum())
    rest = level - before
    if 0 < rest < w[inside].sum():
        root = _solve(row[inside], w[inside], rest, softness)
        z[inside], q[inside], s[inside], lift[inside] = root.z, root.q, root.s, root.lift
        return Root(z, q, s, lift, root.rate, sign * root.b)
    chosen = level > 0 and (level >= w.sum() or rest > 0)
    z[inside] = b = _INF if chosen else -_INF
    return Root(z, q, s, lift, Real(0), sign * b)


def _shared(level: Real, weight: Real) -> Real:
    """The z of elements that have this weight together and share the level."""
    share = level / weight if weight > 0 else Real(level > 0)
    return _inverse_cdf(min(max(share, Real(0)), Real(1)))


def lap_sum_inverse(
    r: ArrayLike, k: ArrayLike, alpha: Number, *, weights: ArrayLike | None = None
) -> Array:
    """The b with lap_sum(r, b, alpha) = k, for every level in k; NaN where nothing counts."""
    if weights is not None and not np.any(weights):
        return np.full(np.shape(k), np.nan, Real)
    return _each(lambda level: threshold(r, level, alpha, weights=weights).b, k)


def soft_kth_value(
    x: ArrayLike,
    k: ArrayLike,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    largest: bool = True,
) -> Array:
    """lap_sum_inverse, of the reversed direction for the largest."""
    return lap_sum_inverse(x, k, -Real(alpha) if largest else alpha, weights=weights)


def _whole(x: ArrayLike, weights: ArrayLike | None) -> Real:
    """The level of the whole row: how much all of it counts."""
    return Real(np.size(x)) if weights is None else np.asarray(weights, Real).sum()


def soft_quantile(
    x: ArrayLike, q: ArrayLike, alpha: Number = 1.0, *, weights: ArrayLike | None = None
) -> Array:
    """lap_sum_inverse at the levels q n, or q times the sum of the weights."""
    return lap_sum_inverse(x, np.asarray(q, Real) * _whole(x, weights), alpha, weights=weights)


# --- the operations ------------------------------------------------------------------------------


def soft_rank(
    x: ArrayLike,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    descending: bool = False,
) -> Array:
    """rank_j = sum over l != j of w_l F((x_j - x_l) / alpha)."""
    row, softness, _ = _orient(x, alpha, descending)
    row, w = _weigh(row, weights)
    return lap_sum(row, row, softness, weights=w) - w / 2


def soft_sort(x: ArrayLike, alpha: Number = 1.0, *, descending: bool = False) -> Array:
    """The inverse at the levels 1/2, 3/2, ..., n - 1/2."""
    row, softness, sign = _orient(x, alpha, descending)
    return sign * lap_sum_inverse(row, np.arange(row.size) + 0.5, softness)


def _chosen(
    x: ArrayLike, k: Number, alpha: Number, weights: ArrayLike | None, largest: bool
) -> Root:
    """The threshold of a top-k, where elements at the far infinity are never chosen."""
    row, softness, _ = _orient(x, alpha, largest)
    root = threshold(row, k, softness, weights=weights)
    return root._replace(z=np.where((row == _INF) & ~np.isnan(root.z), -_INF, root.z))


def soft_topk(
    x: ArrayLike,
    k: Number,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    largest: bool = True,
) -> Array:
    """p_i = F((b - x_i) / alpha) with b such that w p sums to k."""
    return cdf(_chosen(x, k, alpha, weights, largest).z)


def log_soft_topk(
    x: ArrayLike,
    k: Number,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    largest: bool = True,
) -> Array:
    """The logarithm of p, finite where p underflows."""
    return log_cdf(_chosen(x, k, alpha, weights, largest).z)


def soft_permutation(x: ArrayLike, alpha: Number = 1.0, *, descending: bool = False) -> Array:
    """P[i, j] = F((b(i+1) - x_j) / alpha) - F((b(i) - x_j) / alpha): position i, element j."""
    row, softness, _ = _orient(x, alpha, descending)
    z = np.array([threshold(row, level, softness).z for level in range(row.size + 1)])
    return cdf_difference(z[:-1], z[1:])


def soft_permute(
    x: ArrayLike,
    values: ArrayLike,
    alpha: Number = 1.0,
    *,
    descending: bool = False,
    transpose: bool = False,
) -> Array:
    """P values or P^T values; values of shape (n,) or (n, d)."""
    matrix = soft_permutation(x, alpha, descending=descending)
    return (matrix.T if transpose else matrix) @ np.asarray(values, Real)


def lap_kernel(
    r: ArrayLike, w: ArrayLike, x: ArrayLike, alpha: Number, shape: str = "even", order: int = 0
) -> Array:
    """sum_i w_i phi((x - r_i) / alpha): phi is F, |z|^order e^-|z|, or that times sign(z)."""
    row, softness, sign = _orient(r, alpha)
    weights = np.asarray(w, Real)

    def phi(point: Real) -> Array:
        z = _standardize(sign * point, row, softness)
        if shape == "cdf":
            return cdf(z)
        unreached = np.isinf(row) | (np.isinf(point) & ~np.isnan(row))
        z = np.where(unreached, 0, z)
        height = np.abs(z) ** order * np.exp(-np.abs(z)) * (np.sign(z) if shape == "odd" else 1)
        return np.where(unreached, 0, height)

    return _each(lambda point: (weights * phi(point)).sum(), x)


# --- derivatives, by the implicit function theorem -----------------------------------------------
# Each returns one Jacobian per differentiable argument, of shape (*output, *argument). Weights, if
# given, are an argument after the row.


def _centred(root: Root) -> Array:
    """Root.z minus its average by q, where infinities count 0."""
    z = np.where(np.isfinite(root.z), root.z, 0)
    return z - root.q @ z


def _sharing(row: Array, w: Array, k: Number) -> tuple[NDArray[np.bool_], Real]:
    """Elements at -inf that share k among themselves, p = k / weight there, and their weight."""
    first: NDArray[np.bool_] = row == -_INF
    weight = Real(w[first].sum())
    return (first, weight) if 0 < k < weight else (np.zeros_like(first), Real(1))


def _moved(slope: ArrayLike, by: ArrayLike) -> Array:
    """The outer product of slopes that may have outgrown every number, cut to the largest one."""
    with np.errstate(over="ignore"):
        size = np.minimum(np.multiply.outer(np.abs(slope), np.abs(by)), _LARGEST)
    return size * np.multiply.outer(np.sign(slope), np.sign(by))


def _with_weights(jacobians: Jacobians, j_w: Array, weights: ArrayLike | None) -> Jacobians:
    return jacobians if weights is None else (jacobians[0], j_w, *jacobians[1:])


def lap_sum_jacobian(r: ArrayLike, x: ArrayLike, alpha: Number) -> Jacobians:
    """(J_r, J_x, J_alpha) of lap_sum at a vector of points."""
    row, softness, sign = _orient(r, alpha)
    points = sign * np.asarray(x, Real)[:, None]
    z = _standardize(points, row, softness)
    s = np.where(np.isinf(points) | np.isinf(row), 0, np.exp(-np.abs(z)) / (2 * softness))
    z = np.where(np.isinf(z), 0, z)
    return -sign * s, np.diag(sign * s.sum(1)), -sign * (s * z).sum(1)


def lap_sum_inverse_jacobian(
    r: ArrayLike, k: ArrayLike, alpha: Number, *, weights: ArrayLike | None = None
) -> Jacobians:
    """(J_r, [J_weights,] J_k, J_alpha) of lap_sum_inverse at a vector of levels."""
    row, softness, sign = _orient(r, alpha)
    roots = [threshold(row, level, softness, weights=weights) for level in np.asarray(k, Real)]
    j_r = np.array([root.q for root in roots])
    j_w = np.array([_moved(-sign * root.rate, cdf(root.z)) for root in roots])
    j_k = np.diag(np.array([sign * root.rate for root in roots]))
    j_alpha = np.array([root.q @ np.where(np.isfinite(root.z), root.z, 0) for root in roots])
    return _with_weights((j_r, j_k, j_alpha), j_w, weights)


def soft_kth_value_jacobian(
    x: ArrayLike,
    k: ArrayLike,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    largest: bool = True,
) -> Jacobians:
    """(J_x, [J_weights,] J_k, J_alpha) of soft_kth_value at a vector of levels."""
    sign = -1 if largest else 1
    *others, j_alpha = lap_sum_inverse_jacobian(x, k, sign * Real(alpha), weights=weights)
    return *others, sign * j_alpha


def soft_quantile_jacobian(
    x: ArrayLike, q: ArrayLike, alpha: Number = 1.0, *, weights: ArrayLike | None = None
) -> Jacobians:
    """(J_x, [J_weights,] J_q, J_alpha) of soft_quantile at a vector of quantiles."""
    share, whole = np.asarray(q, Real), _whole(x, weights)
    j_x, *_, j_k, j_alpha = lap_sum_inverse_jacobian(x, share * whole, alpha, weights=weights)
    row, softness, _ = _orient(x, alpha)
    z = [threshold(row, level, softness, weights=weights).z for level in share * whole]
    j_w = np.array(
        [_moved(rate, at - cdf(to)) for rate, at, to in zip(np.diag(j_k), share, z, strict=True)]
    )
    return _with_weights((j_x, _moved(whole, j_k), j_alpha), j_w, weights)


def soft_rank_jacobian(
    x: ArrayLike,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    descending: bool = False,
) -> Jacobians:
    """(J_x, [J_weights,] J_alpha) of soft_rank."""
    row, softness, sign = _orient(x, alpha, descending)
    row, w = _weigh(row, weights)
    z = _standardize(row[:, None], row, softness)
    s = np.where(np.isinf(row[:, None]) | np.isinf(row), 0, np.exp(-np.abs(z)) / (2 * softness))
    j_x = sign * (np.diag(s @ w) - s * w)
    j_w = cdf(z) - np.diag(np.full(row.size, Real(0.5)))
    j_alpha = -np.sign(Real(alpha)) * (s * np.where(np.isinf(z), 0, z)) @ w
    return _with_weights((j_x, j_alpha), j_w, weights)


def soft_sort_jacobian(x: ArrayLike, alpha: Number = 1.0, *, descending: bool = False) -> Jacobians:
    """(J_x, J_alpha) of soft_sort."""
    row, softness, sign = _orient(x, alpha, descending)
    j_x, _, j_alpha = lap_sum_inverse_jacobian(row, np.arange(row.size) + 0.5, softness)
    return j_x, sign * np.sign(Real(alpha)) * j_alpha


def soft_topk_jacobian(
    x: ArrayLike,
    k: Number,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    largest: bool = True,
) -> Jacobians:
    """(J_x, [J_weights,] J_k, J_alpha) of soft_topk."""
    row, _, sign = _orient(x, alpha, largest)
    row, w = _weigh(row, weights)
    root = _chosen(x, k, alpha, weights, largest)
    shares, weight = _sharing(row, w, k)
    j_x = sign * (np.outer(root.s, root.q) - np.diag(root.s))
    j_k = root.lift + shares / weight
    j_alpha = -np.sign(Real(alpha)) * root.s * _centred(root)
    return _with_weights((j_x, j_k, j_alpha), _moved(-j_k, cdf(root.z)), weights)


def log_soft_topk_jacobian(
    x: ArrayLike,
    k: Number,
    alpha: Number = 1.0,
    *,
    weights: ArrayLike | None = None,
    largest: bool = True,
) -> Jacobians:
    """(J_x, [J_weights,] J_k, J_alpha) of log_soft_topk."""
    row, softness, sign = _orient(x, alpha, largest)
    row, w = _weigh(row, weights)
    root = _chosen(x, k, alpha, weights, largest)
    tail = np.exp(-np.abs(root.z)) / 2
    h = np.where(root.z < 0, 1, tail / (1 - tail)) / softness
    h = np.where(np.isfinite(row) & (root.rate > 0), h, 0 * root.q)
    j_x = sign * (np.outer(h, root.q) - np.diag(h))
    j_k = _moved(root.rate, h)
    shares, _ = _sharing(row, w, k)
    if shares.any():
        j_k[shares] = 1 / Real(k)
    j_alpha = -np.sign(Real(alpha)) * h * _centred(root)
    return _with_weights((j_x, j_k, j_alpha), _moved(-j_k, cdf(root.z)), weights)


def soft_permutation_jacobian(
    x: ArrayLike, alpha: Number = 1.0, *, descending: bool = False
) -> Jacobians:
    """(J_x, J_alpha) of soft_permutation, of shapes (n, n, n) and (n, n)."""
    masks = [soft_topk_jacobian(x, k, alpha, largest=descending) for k in range(np.size(x) + 1)]
    return (
        np.diff(np.array([j_x for j_x, _, _ in masks]), axis=0),
        np.diff(np.array([j_alpha for _, _, j_alpha in masks]), axis=0),
    )


def soft_permute_jacobian(
    x: ArrayLike,
    values: ArrayLike,
    alpha: Number = 1.0,
    *,
    descending: bool = False,
    transpose: bool = False,
) -> Jacobians:
    """(J_x, J_values, J_alpha) of soft_permute for values of shape (n,)."""
    matrix = soft_permutation(x, alpha, descending=descending)
    j_x, j_alpha = soft_permutation_jacobian(x, alpha, descending=descending)
    if transpose:
        matrix, j_x, j_alpha = matrix.T, j_x.swapaxes(0, 1), j_alpha.T
    weights = np.asarray(values, Real)
    return np.tensordot(j_x, weights, axes=(1, 0)), matrix, j_alpha @ weights
