"""lap_sum, its inverse and soft_quantile: points and levels in any order, limits, infinities."""

from __future__ import annotations

import numpy as np
import pytest
from tolerances import assert_within

import lapsum


def test_by_hand():
    r = np.array([0.0])
    got = lapsum.lap_sum(r, np.array([-1.0, 0.0, 1.0]), 1.0)
    half = np.exp(-1) / 2
    assert_within("lap_sum", "float64", "value", got, [half, 0.5, 1 - half], n=1)


def test_the_inverse_inverts_for_both_signs_of_alpha():
    rng = np.random.default_rng(0)
    r = rng.normal(size=(3, 40))
    k = rng.uniform(0.1, 39.9, size=(3, 25))
    for alpha in (0.2, -0.2):
        b = lapsum.lap_sum_inverse(r, k, alpha)
        assert b.shape == k.shape
        assert_within("lap_sum", "float64", "value", lapsum.lap_sum(r, b, alpha), k, n=40)


def test_points_and_levels_may_come_in_any_order():
    r = np.random.default_rng(0).normal(size=30)
    order = np.random.default_rng(1).permutation(9)
    x, k = np.linspace(-3, 3, 9), np.linspace(0.5, 29.5, 9)
    np.testing.assert_array_equal(
        lapsum.lap_sum(r, x[order], 0.3), lapsum.lap_sum(r, x, 0.3)[order]
    )
    np.testing.assert_array_equal(
        lapsum.lap_sum_inverse(r, k[order], 0.3), lapsum.lap_sum_inverse(r, k, 0.3)[order]
    )
    k[4] = np.nan
    b = lapsum.lap_sum_inverse(r, k[order], 0.3)
    assert np.isnan(b).tolist() == np.isnan(k[order]).tolist()


def test_infinite_elements_and_points_take_their_limits():
    r = np.array([-np.inf, 0.0, np.inf, np.inf])
    y = lapsum.lap_sum(r, np.array([-np.inf, 0.0, np.inf, np.nan]), 1.0)
    assert y[:3].tolist() == [0.5, 1.5, 3.0]
    assert np.isnan(y[3])
    b = lapsum.lap_sum_inverse(r, np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]), 1.0)
    assert b.tolist() == [-np.inf, -np.inf, -np.inf, 0.0, np.inf, np.inf, np.inf]


@pytest.mark.parametrize("alpha", [0.5, -0.5])
def test_levels_at_and_beyond_the_limits(alpha):
    r = np.array([1.0, 2.0])
    b = lapsum.lap_sum_inverse(r, np.array([-1.0, 0.0, 2.0, 3.0]), alpha)
    assert (np.sign(alpha) * b).tolist() == [-np.inf, -np.inf, np.inf, np.inf]
    gr, gk, galpha = lapsum.lap_sum_inverse_vjp(r, np.array([-1.0, 0.0, 2.0]), alpha, np.ones(3))
    assert not gr.any()
    assert not gk.any()
    assert galpha == 0
    with pytest.raises(
        ValueError, match=r"lap_sum_inverse: k must be in \[0, n\], got k=3 with n=2"
    ):
        lapsum.lap_sum_inverse(r, 3, alpha)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_stay_finite_on_a_plateau(dtype):
    r = np.array([0.0, 1e6], dtype)
    gr, gk, galpha = lapsum.lap_sum_inverse_vjp(r, np.ones(1, dtype), 1e-4, np.ones(1, dtype))
    assert gr.tolist() == [0.5, 0.5]
    assert 1e37 < gk[0] < np.inf
    assert np.isfinite(galpha)


def test_a_single_point_or_level_drops_its_axis():
    r = np.random.default_rng(0).normal(size=(4, 6))
    assert lapsum.lap_sum(r, 0.5, 1.0).shape == (4,)
    assert lapsum.lap_sum_inverse(r, 2.5, 1.0).shape == (4,)
    gr, gx, _ = lapsum.lap_sum_vjp(r, 0.5, 1.0, np.ones(4))
    assert gr.shape == (4, 6)
    assert gx.shape == ()


def test_the_median_of_an_odd_row_is_its_middle():
    x = np.array([7.0, 1.0, 4.0, 2.0, 100.0])
    got = lapsum.soft_quantile(x, 0.5, 1e-3)
    assert got == 4.0
    np.testing.assert_array_equal(
        lapsum.soft_quantile(x, [0.0, 0.1, 1.0], 1e-3), [-np.inf, 1.0, np.inf]
    )
    with pytest.raises(ValueError, match=r"soft_quantile: q must be in \[0, 1\], got q=1.5$"):
        lapsum.soft_quantile(x, 1.5)


def test_quantiles_broadcast_with_the_batch():
    x = np.random.default_rng(0).normal(size=(3, 8))
    assert lapsum.soft_quantile(x, np.array([0.1, 0.5, 0.9])).shape == (3,)
    assert lapsum.soft_quantile(x[:, None], np.array([0.1, 0.9])).shape == (3, 2)
    assert lapsum.soft_quantile(x, 0.5, dim=0).shape == (8,)


@pytest.mark.parametrize(("shape", "order"), [("even", 4), ("odd", -1), ("cdf", 1)])
def test_a_kernel_order_out_of_its_domain(shape, order):
    with pytest.raises(ValueError, match="lap_kernel: order must be in"):
        lapsum.lap_kernel(np.zeros(3), np.ones(3), np.zeros(2), 1.0, shape=shape, order=order)
    with pytest.raises(TypeError, match=r"lap_kernel: order must be an integer, got 1.0"):
        lapsum.lap_kernel(np.zeros(3), np.ones(3), np.zeros(2), 1.0, order=1.0)
    with pytest.raises(TypeError, match="lap_kernel: shape must be a string, got None"):
        lapsum.lap_kernel(np.zeros(3), np.ones(3), np.zeros(2), 1.0, shape=None)
    with pytest.raises(ValueError, match="lap_kernel: shape must be 'cdf', 'even' or 'odd'"):
        lapsum.lap_kernel(np.zeros(3), np.ones(3), np.zeros(2), 1.0, shape="round")


def test_an_odd_kernel_counts_ties_zero():
    r, w = np.array([0.0, 0.0, 1.0]), np.array([5.0, 7.0, 1.0])
    got = lapsum.lap_kernel(r, w, np.array([0.0]), 1.0, shape="odd")
    assert_within("lap_kernel", "float64", "value", got, [-np.exp(-1)], w=w)


def test_the_gradient_of_a_kernel_sum_in_its_weights():
    rng = np.random.default_rng(0)
    r, x, g = rng.normal(size=5), rng.normal(size=4), rng.normal(size=4)
    for shape in ("cdf", "even", "odd"):
        got = lapsum.lap_kernel(x, g, r, -0.7, shape=shape)
        want = [g @ lapsum.lap_kernel(r, e, x, 0.7, shape=shape) for e in np.eye(5)]
        assert_within("lap_kernel", "float64", "value", got, want, w=g)


def test_a_tiny_level_reaches_far_into_the_tail():
    r = np.array([0.0, 1.0])
    b = lapsum.lap_sum_inverse(r, np.array([1e-300]), 0.1)
    want = 0.1 * np.log(2e-300 / (1 + np.exp(-10)))
    assert_within("lap_sum_inverse", "float64", "value", b, [want], x=r, alpha=0.1)


def test_the_slope_in_k_on_a_plateau_beyond_the_square_root_of_underflow():
    _, gk, _ = lapsum.lap_sum_inverse_vjp(np.array([0.0, 800.0]), [1.0], 1.0, np.ones(1))
    assert_within(
        "lap_sum_inverse", "float64", "grad_k", gk, [np.exp(400.0)], z=401.0, Jg=np.exp(400.0)
    )
