"""The oracle checks itself: by hand-derived cases, by its own definitions, by finite differences.

Nothing here touches the compiled library.
"""

from __future__ import annotations

import numpy as np
import pytest

from lapsum import reference

Real = np.longdouble
LOG2 = np.log(Real(2))


def close(got, want, tolerance=1e-17):
    np.testing.assert_allclose(
        np.asarray(got, Real), np.asarray(want, Real), rtol=tolerance, atol=tolerance
    )


def spread_row(n, seed):
    """A random row without near-ties, so that finite differences see no kink."""
    rng = np.random.default_rng([n, seed])
    return rng.permutation(np.cumsum(0.3 + rng.random(n))).astype(Real)


# --- by hand -------------------------------------------------------------------------------------


def test_cdf():
    close(reference.cdf([-LOG2, 0, LOG2, -np.inf, np.inf]), [0.25, 0.5, 0.75, 0, 1])
    close(reference.log_cdf([-1000, 0, LOG2]), [-1000 - LOG2, -LOG2, np.log(Real(0.75))])
    close(reference.log_cdf([Real(60)]), [-np.exp(-Real(60)) / 2], 0)


def test_one_element():
    close(reference.soft_topk([3.0], 0.5), [0.5])
    close(
        reference.lap_sum_inverse([3.0], [0.5, 0.25, 0.75], 2.0),
        3 + 2 * np.array([0, -1, 1]) * LOG2,
    )
    close(reference.soft_rank([3.0]), [0])
    close(reference.soft_sort([3.0]), [3])
    close(reference.soft_permutation([3.0]), [[1]])


def test_two_elements_share_the_middle():
    e = np.exp(-Real(1)) / 2
    close(reference.lap_sum_inverse([-1.0, 1.0], [1.0], 1.0), [0])
    close(reference.soft_topk([-1.0, 1.0], 1.0), [e, 1 - e])
    close(reference.soft_topk([-1.0, 1.0], 1.0, largest=False), [1 - e, e])
    close(reference.soft_permutation([-1.0, 1.0]), [[1 - e, e], [e, 1 - e]])
    close(reference.soft_rank([-1.0, 1.0]), [e**2 * 2, 1 - e**2 * 2])


def test_tail_level():
    """Below every element LapSum is an exponential: b = log(2 k / sum e^-r)."""
    row = np.array([0, 1, 2], Real)
    close(reference.lap_sum_inverse(row, [0.25], 1.0), [np.log(0.5 / np.exp(-row).sum())])


def test_equal_elements():
    close(reference.soft_topk(np.full(5, 2.0), 2.0, 0.01), np.full(5, Real(2) / 5))
    close(reference.soft_rank(np.full(5, 2.0), 0.01), np.full(5, 2))
    close(reference.soft_permutation(np.full(4, 2.0)), np.full((4, 4), 0.25))


@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_plateau(alpha):
    """An integer level in a wide gap: the flat sum still has one root, in the middle."""
    x = np.array([0.0, 10, 20, 30])
    root = reference.threshold(x, 2, alpha)
    close(root.b, 15)
    close(root.q[1:3], [0.5, 0.5])
    close(root.z * Real(alpha), [15, 5, -5, -15])
    log_p = reference.log_soft_topk(x, 2, alpha)
    close(log_p[:2], -np.array([15, 5]) / Real(alpha) - LOG2)
    if alpha == 0.05:
        close(reference.soft_topk(x, 2, alpha)[1], np.exp(-Real(5) / Real(alpha)) / 2, 1e-40)


def test_uneven_plateau():
    """Two tied elements against one: b moves by alpha log(2) / 2."""
    close(reference.lap_sum_inverse([0.0, 0, 100], [2.0], 0.5), [50 + LOG2 / 4])


def test_large_values_small_alpha():
    """The threshold is exact relative to its neighbours however large they are."""
    x = 1e6 + np.array([0.0, 1, 2]) * 2.0**-13
    alpha = 2.0**-13
    close(reference.threshold(x, 1.3, alpha).z, reference.threshold([0.0, 1, 2], 1.3, 1.0).z)
    z = reference.threshold([-3.0, 1.0, 1e6], 1.7, 1e-4).z
    close(reference.cdf(z).sum(), 1.7)
    close(z[1], -np.log(2 * (1 - (Real(1.7) - 1))), 1e-17)


def test_infinities():
    inf = np.inf
    close(reference.soft_topk([-inf, 1, -inf, 1], 1.0), [0, 0.5, 0, 0.5])
    close(reference.soft_topk([-inf, 1, -inf, 1], 3.0), [0, 1, 0, 1])
    close(reference.soft_topk([-inf, 1], 2.0), [0, 1])
    close(reference.soft_topk([inf, 1, inf], 1.5), [0.75, 0, 0.75])
    close(reference.soft_topk_jacobian([inf, 1, inf], 1.5)[1], [0.5, 0, 0.5])
    close(reference.log_soft_topk_jacobian([inf, 1, inf], 0.5)[1], [2, 0, 2])
    close(reference.soft_topk([inf, 1, 1], 2.0), [1, 0.5, 0.5])
    close(reference.soft_rank([-inf, 0, inf, -inf]), [0.5, 2, 3, 0.5])
    close(reference.soft_sort([inf, 5, -inf], descending=True), [inf, 5, -inf])
    close(reference.lap_sum([-inf, 0, inf], [-inf, 0, inf], 1.0), [0.5, 1.5, 2.5])
    close(reference.lap_sum_inverse([-inf, 0, inf], [0.5, 1.5, 2.5], 1.0), [-inf, 0, inf])
    close(
        reference.soft_permutation([inf, 0, -inf, inf]),
        [[0, 0, 1, 0], [0, 1, 0, 0], [0.5, 0, 0, 0.5], [0.5, 0, 0, 0.5]],
    )


def test_saturation_and_nan():
    x = [1.0, 2.0]
    for k, p, b in ((0, 0, -np.inf), (-1, 0, -np.inf), (2, 1, np.inf), (3, 1, np.inf)):
        close(reference.soft_topk(x, k), [p, p])
        close(reference.lap_sum_inverse(x, [k], 1.0), [b])
        close(reference.lap_sum_inverse(x, [k], -1.0), [-b])
        for jacobian in reference.soft_topk_jacobian(x, k) + reference.log_soft_topk_jacobian(x, k):
            assert not jacobian.any()
    for alpha in (0.0, np.nan, np.inf):
        assert np.isnan(reference.soft_topk(x, 1.0, alpha)).all()
        assert np.isnan(reference.soft_rank(x, alpha)).all()
    assert np.isnan(reference.soft_sort([1.0, np.nan])).all()
    assert np.isnan(reference.log_soft_topk(x, np.nan)).all()


def test_weights():
    """An element counts as often as its weight says, 0 times included, in every sum."""
    inf, weights = np.inf, [2.0, 0, 1]
    e = np.exp(-Real(1)) / 2
    close(reference.soft_topk([-1.0, 0.0, 1.0], 1.0, weights=[1, 0, 1]), [e, 0.5, 1 - e])
    close(reference.soft_rank([5.0, 5, 5], weights=weights), [0.5, 1.5, 1])
    close(
        reference.soft_quantile([0.0, 7, 100], [2 / Real(3)], 0.5, weights=weights), [50 + LOG2 / 4]
    )
    close(reference.soft_topk([inf, 1, inf], 1.5, weights=weights), [0.5, 0, 0.5])
    third = 1 / Real(3)
    close(reference.soft_topk_jacobian([inf, 1, inf], 1.5, weights=weights)[2], [third, 0, third])
    close(reference.soft_topk([inf, 1, 1], 0.25, weights=[0, 0.5, 0]), [1, 0.5, 0.5])
    for k, p in ((-1, 0), (0, 0), (1e-9, 1), (5, 1)):
        close(reference.soft_topk([1.0, 2, -inf], k, weights=np.zeros(3)), [p, p, 0])
    assert np.isnan(reference.lap_sum_inverse([1.0, 2], [0.0, 1.0], 1.0, weights=[0, 0])).all()
    for bad in (-1, np.nan, inf):
        assert np.isnan(reference.soft_topk([1.0, 2], 1.0, weights=[1, bad])).all()
        assert np.isnan(reference.soft_rank([1.0, 2], weights=[1, bad])).all()


# --- by definition -------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0, 100.0, -0.5])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 40])
def test_definitions(n, alpha):
    x = np.random.default_rng(n).normal(size=n).round(2)
    for k in (0.25, n / 2, n - 0.25):
        p = reference.soft_topk(x, k, alpha)
        close(p.sum(), k)
        close(np.exp(reference.log_soft_topk(x, k, alpha)), p)
        close(p, 1 - reference.soft_topk(x, n - k, alpha, largest=False))
        root = reference.threshold(x, k, alpha)
        close(root.q.sum(), 1)
        close(root.q, root.s / root.s.sum() if root.s.sum() else root.q)
        close(reference.lap_sum(x, root.b, alpha), k, 1e-15)
    close(reference.soft_rank(x, alpha).sum(), n * (n - 1) / 2)
    matrix = reference.soft_permutation(x, alpha)
    close(matrix.sum(0), np.ones(n))
    close(matrix.sum(1), np.ones(n))
    close(reference.soft_permute(x, np.eye(n), alpha, transpose=True), matrix.T)
    assert (np.diff(reference.soft_sort(x, abs(alpha))) >= 0).all()


@pytest.mark.parametrize("alpha", [1e-4, 0.3, 100.0, -0.5])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_whole_weights_repeat_elements(n, alpha):
    rng = np.random.default_rng(n)
    x, times = rng.normal(size=n).round(1), rng.integers(0, 4, n)
    times[0] = 2
    many, total = np.repeat(x, times), times.sum()
    for k in (0.25, total // 2, total - 0.25):
        p = reference.soft_topk(x, k, alpha, weights=times)
        close(p @ times, k)
        close(np.repeat(p, times), reference.soft_topk(many, k, alpha))
        for name in ("lap_sum_inverse", "soft_kth_value"):
            op = getattr(reference, name)
            close(op(x, [k], alpha, weights=times), op(many, [k], alpha), 1e-16)
    q = np.array([0.1, 0.5])
    close(
        reference.soft_quantile(x, q, alpha, weights=times),
        reference.soft_quantile(many, q, alpha),
        1e-16,
    )
    rank = reference.soft_rank(x, alpha, weights=times) + (times - 1) / Real(2)
    close(np.repeat(rank, times), reference.soft_rank(many, alpha))


@pytest.mark.parametrize("descending", [False, True])
def test_direction(descending):
    """A negative alpha reverses the direction, and so does negating the row."""
    x, k = spread_row(6, 0), 2.3
    flags = {"descending": descending}, {"descending": not descending}
    close(reference.soft_rank(x, -0.7, **flags[0]), reference.soft_rank(x, 0.7, **flags[1]))
    close(reference.soft_sort(x, 0.7, **flags[0])[::-1], reference.soft_sort(x, 0.7, **flags[1]))
    close(
        reference.soft_permutation(x, 0.7, **flags[0])[::-1],
        reference.soft_permutation(x, -0.7, **flags[0]),
    )
    close(
        reference.soft_topk(x, k, 0.7, largest=descending),
        reference.soft_topk(-x, k, 0.7, largest=not descending),
    )
    close(reference.lap_sum_inverse(x, [k], -0.7), reference.lap_sum_inverse(x, [6 - k], 0.7))


def test_kernels_are_derivatives():
    """lap_kernel spans what lap_sum and its derivatives are made of."""
    r, x, alpha = spread_row(7, 1), np.array([0.1, 2.2, 9.0]), 0.6
    _, j_x, j_alpha = reference.lap_sum_jacobian(r, x, alpha)
    ones = np.ones(7)
    close(reference.lap_kernel(r, ones, x, alpha, "cdf"), reference.lap_sum(r, x, alpha))
    even = reference.lap_kernel(r, ones, x, alpha, "even", 0)
    close(even / (2 * Real(alpha)), np.diag(j_x))
    close(-reference.lap_kernel(r, ones, x, alpha, "odd", 1) / (2 * Real(alpha)), j_alpha)
    close(
        reference.lap_kernel(r, ones, x, -alpha, "odd", 2),
        -reference.lap_kernel(r, ones, x, alpha, "odd", 2),
    )
    assert reference.lap_kernel([1.0], [1.0], [1.0], 1.0, "odd", 0) == 0


# --- derivatives ---------------------------------------------------------------------------------


def finite_difference(f, args, index, step):
    """Five-point central differences of f in one argument, laid out as a Jacobian."""
    base = np.asarray(args[index], Real)

    def shifted(position, amount):
        moved = base.copy()
        moved[position] += amount * step
        return f(*args[:index], moved, *args[index + 1 :])

    columns = [
        (8 * (shifted(i, 1) - shifted(i, -1)) - (shifted(i, 2) - shifted(i, -2))) / (12 * step)
        for i in np.ndindex(base.shape)
    ]
    return np.stack(columns, -1).reshape(*columns[0].shape, *base.shape)


def weights_second(f):
    """The same function with the weights as its second argument."""
    return lambda x, w, *rest, **flags: f(x, *rest, weights=w, **flags)


def check_jacobian(name, args, steps, *, weighted=False, **flags):
    function, jacobian = getattr(reference, name), getattr(reference, f"{name}_jacobian")
    if weighted:
        function, jacobian = weights_second(function), weights_second(jacobian)
    for index, got in enumerate(jacobian(*args, **flags)):
        want = finite_difference(lambda *a: function(*a, **flags), args, index, Real(steps[index]))
        assert got.shape == want.shape
        scale = max(np.abs(want).max(), 1 / abs(args[-1]))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * scale, err_msg=f"{name} {index}")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 0.7, 5.0, -1.0])
@pytest.mark.parametrize("n", range(1, 10))
def test_jacobians(n, alpha, reverse):
    x = spread_row(n, 11)
    alpha = Real(alpha)
    soft = 2e-4 * abs(alpha)
    rng = np.random.default_rng(n)
    order = {"descending": reverse}
    check_jacobian("soft_rank", (x, alpha), (soft, soft), **order)
    check_jacobian("soft_sort", (x, alpha), (soft, soft), **order)
    for k in (0.23, n * 0.61, n - 0.37):
        for name in ("soft_topk", "log_soft_topk"):
            check_jacobian(name, (x, Real(k), alpha), (soft, 2e-5, soft), largest=reverse)
    levels = np.array([n * 0.61, 0.23, n - 0.37], Real)
    check_jacobian("lap_sum_inverse", (x, levels, alpha), (soft, 2e-5, soft))
    check_jacobian("soft_kth_value", (x, levels, alpha), (soft, 2e-5, soft), largest=reverse)
    check_jacobian("soft_quantile", (x, levels / n, alpha), (soft, 2e-5 / n, soft))
    check_jacobian("lap_sum", (x, np.array([-0.3, 1.234, 5.1], Real), alpha), (soft, soft, soft))
    if n <= 5:
        values = rng.normal(size=n).astype(Real)
        check_jacobian("soft_permutation", (x, alpha), (soft, soft), **order)
        for transpose in (False, True):
            check_jacobian(
                "soft_permute", (x, values, alpha), (soft, 1, soft), transpose=transpose, **order
            )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 0.7, 5.0, -1.0])
@pytest.mark.parametrize("n", range(1, 8))
def test_jacobians_in_weights(n, alpha, reverse):
    x, rng, alpha = spread_row(n, 13), np.random.default_rng(n), Real(alpha)
    w = rng.uniform(0.5, 2, n).astype(Real)
    if n > 3:
        w[1] = 1e-3  # differences must not reach a negative weight
    soft, whole = 2e-4 * abs(alpha), w.sum()

    def check(name, *rest, steps, **flags):
        check_jacobian(
            name, (x, w, *rest, alpha), (soft, 1e-5, *steps, soft), weighted=True, **flags
        )

    check("soft_rank", steps=(), descending=reverse)
    for k in (0.13 * whole, 0.61 * whole, 0.93 * whole):
        for name in ("soft_topk", "log_soft_topk"):
            check(name, k, steps=(2e-5,), largest=reverse)
    shares = np.array([0.61, 0.13, 0.93], Real)
    check("lap_sum_inverse", shares * whole, steps=(2e-5,))
    check("soft_kth_value", shares * whole, steps=(2e-5,), largest=reverse)
    check("soft_quantile", shares, steps=(2e-5 / whole,))


def test_jacobian_on_a_plateau():
    """db/dk overflows to the largest number, q stays the average of both neighbours."""
    x = [0.0, 10, 20, 30]
    j_r, j_k, j_alpha = reference.lap_sum_inverse_jacobian(x, [2.0], 1e-4)
    close(j_r, [[0, 0.5, 0.5, 0]])
    close(j_alpha, [0], 1e-13)
    assert j_k[0, 0] == np.finfo(Real).max
    _, j_k, _ = reference.lap_sum_inverse_jacobian(x, [2.0], 0.0625)
    close(j_k[0, 0] / np.exp(Real(80)), 0.0625)
