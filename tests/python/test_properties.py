"""What holds for every row, searched for counterexamples: huge, tiny, tied and denormal values."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerances import allowed, assert_within

import lapsum

values = st.one_of(
    st.floats(-1e30, 1e30), st.floats(-3, 3), st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e-310])
)
rows = st.lists(values, min_size=1, max_size=40).map(np.array)
alphas = st.floats(1e-6, 1e6)
shares = st.floats(0, 1)


@settings(deadline=None)
@given(rows, alphas, shares)
def test_a_mask_lies_between_0_and_1_and_sums_to_k(x, alpha, share):
    k = share * x.size
    p = lapsum.soft_topk(x, k, alpha)
    assert ((p >= 0) & (p <= 1)).all()
    assert_within("soft_topk", "float64", "sum", p.sum(), k, k=x.size)


@settings(deadline=None)
@given(rows, alphas, shares)
def test_what_the_largest_leave_the_smallest_take(x, alpha, share):
    k = share * x.size
    largest = lapsum.soft_topk(x, k, alpha)
    smallest = lapsum.soft_topk(x, x.size - k, alpha, largest=False)
    ones = np.ones(x.size)
    assert_within("soft_topk", "float64", "sum", largest + smallest, ones, k=x.size)


@settings(deadline=None)
@given(rows, alphas, shares)
def test_masks_and_ranks_keep_the_order(x, alpha, share):
    order = np.argsort(x, kind="stable")
    p = lapsum.soft_topk(x, share * x.size, alpha)[order]
    assert (np.diff(p) >= 0).all()
    rank = lapsum.soft_rank(x, alpha)[order]
    off = allowed("soft_rank", "float64", "value", n=x.size)
    assert (np.diff(rank) >= -2 * off).all()
    b = lapsum.soft_sort(x, alpha)
    off = allowed("soft_sort", "float64", "value", y=b, x=x, alpha=alpha)
    assert (np.diff(b) >= -(off[1:] + off[:-1])).all()


@settings(deadline=None)
@given(rows, alphas)
def test_ranks_sum_to_their_constant(x, alpha):
    n = x.size
    total = lapsum.soft_rank(x, alpha).sum()
    assert_within("soft_rank", "float64", "sum", total, n * (n - 1) / 2, n=n)


@settings(deadline=None)
@given(rows, alphas)
def test_a_permutation_is_doubly_stochastic_and_permute_is_it(x, alpha):
    n = x.size
    matrix = lapsum.soft_permutation(x, alpha)
    assert (matrix >= 0).all()
    for axis in (0, 1):
        sums = matrix.sum(axis)
        assert_within("soft_permutation", "float64", "sum", sums, np.ones(n), n=n)
    v = np.linspace(-1, 1, n)
    got = lapsum.soft_permute(x, v, alpha)
    assert_within("soft_permute", "float64", "value", got, matrix @ v, n=n, v=v)


@settings(deadline=None)
@given(rows, alphas, shares)
def test_the_order_of_elements_does_not_matter(x, alpha, share):
    shuffle = np.random.default_rng(x.size).permutation(x.size)
    p = lapsum.soft_topk(x, share * x.size, alpha)
    shuffled = lapsum.soft_topk(x[shuffle], share * x.size, alpha)
    assert_within("soft_topk", "float64", "value", shuffled, p[shuffle])
    np.testing.assert_array_equal(lapsum.soft_sort(x[shuffle], alpha), lapsum.soft_sort(x, alpha))


@settings(deadline=None)
@given(rows, alphas, shares, st.booleans())
def test_everything_is_finite(x, alpha, share, largest):
    k = np.clip(share, 0.01, 0.99) * x.size
    g = np.cos(np.arange(x.size))
    for name in ("soft_topk", "log_soft_topk"):
        assert np.isfinite(getattr(lapsum, name)(x, k, alpha, largest=largest)).all()
        for gradient in getattr(lapsum, f"{name}_vjp")(x, k, alpha, g, largest=largest):
            assert np.isfinite(gradient).all()
    for name in ("soft_rank", "soft_sort"):
        assert np.isfinite(getattr(lapsum, name)(x, alpha, descending=largest)).all()
        for gradient in getattr(lapsum, f"{name}_vjp")(x, alpha, g, descending=largest):
            assert np.isfinite(gradient).all()
