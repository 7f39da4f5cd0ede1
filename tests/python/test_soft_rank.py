"""soft_rank: by hand, ties, infinities."""

from __future__ import annotations

import numpy as np
import pytest
from tolerances import assert_within

import lapsum


def test_by_hand():
    half = np.exp(-1) / 2
    got = lapsum.soft_rank(np.array([1.0, 0.0]))
    assert_within("soft_rank", "float64", "value", got, [1 - half, half], n=2)
    assert lapsum.soft_rank(np.array([7.0]))[0] == 0


def test_ties_share_their_mean_rank():
    got = lapsum.soft_rank(np.array([4.0, 1.0, 4.0, 4.0]), 1e-6)
    assert got.tolist() == [2, 0, 2, 2]


@pytest.mark.parametrize("descending", [False, True])
def test_infinities_are_tied_at_the_ends(descending):
    x = np.array([np.inf, 0.5, -np.inf, 2.0, np.inf])
    rank = lapsum.soft_rank(x, 0.5, descending=descending)
    finite = lapsum.soft_rank(x[[1, 3]], 0.5, descending=descending)
    if descending:
        assert rank[[0, 4, 2]].tolist() == [0.5, 0.5, 4]
        np.testing.assert_array_equal(rank[[1, 3]], 2 + finite)
    else:
        assert rank[[0, 4, 2]].tolist() == [3.5, 3.5, 0]
        np.testing.assert_array_equal(rank[[1, 3]], 1 + finite)
    gx, galpha = lapsum.soft_rank_vjp(x, 0.5, np.arange(5.0), descending=descending)
    assert (gx[[0, 2, 4]] == 0).all()
    assert np.isfinite(gx).all()
    assert np.isfinite(galpha)


def test_descending_counts_from_the_other_end():
    x = np.random.default_rng(0).normal(size=20)
    both = lapsum.soft_rank(x) + lapsum.soft_rank(x, descending=True)
    assert_within("soft_rank", "float64", "value", both, np.full(20, 19.0), n=40)


@pytest.mark.parametrize("n", [1000, 16_384, 200_000])
def test_losses_below_an_ulp_do_not_round_away_together(n):
    # Gaps alike and tiny against alpha: rank[j] = (n - 1) / 2 + sum_l (x_j - x_l) / (2 alpha).
    x, alpha = np.arange(n, dtype=np.float64), 2e16
    want = (n - 1) / 2 + n * (x - (n - 1) / 2) / (2 * alpha)
    assert_within("soft_rank", "float64", "value", lapsum.soft_rank(x, alpha), want, n=n)
