"""soft_sort: by hand, infinities, and gradients in both directions."""

from __future__ import annotations

import numpy as np
import pytest
from tolerances import assert_within

import lapsum


def test_by_hand():
    # Two elements: LapSum(b) = 1/2 and 3/2 lie symmetric around the middle.
    x = np.array([1.0, 0.0])
    b = lapsum.soft_sort(x)
    assert_within("soft_sort", "float64", "value", b[0] + b[1], 1.0, x=x, alpha=1)
    y = lapsum.lap_sum(x, b, 1.0)
    assert_within("lap_sum", "float64", "value", y, [0.5, 1.5], n=2)
    assert lapsum.soft_sort(np.array([7.0]), 3.0)[0] == 7


def test_it_becomes_the_sorted_row():
    x = np.random.default_rng(0).normal(size=50)
    np.testing.assert_array_equal(lapsum.soft_sort(x, 1e-12), np.sort(x))
    np.testing.assert_array_equal(lapsum.soft_sort(x, 1e-12, descending=True), np.sort(x)[::-1])


def test_descending_is_ascending_turned_round():
    x = np.random.default_rng(1).normal(size=50)
    up, down = lapsum.soft_sort(x, 0.3), lapsum.soft_sort(x, 0.3, descending=True)
    assert_within("soft_sort", "float64", "value", down[::-1], up, x=x, alpha=0.3)


def test_infinities_come_out_as_infinities():
    x = np.array([np.inf, 0.5, -np.inf, 2.0, np.inf])
    got = lapsum.soft_sort(x, 0.5)
    assert got[[0, 3, 4]].tolist() == [-np.inf, np.inf, np.inf]
    np.testing.assert_array_equal(got[1:3], lapsum.soft_sort(x[[1, 3]], 0.5))
    gx, galpha = lapsum.soft_sort_vjp(x, 0.5, np.ones(5))
    assert (gx[[0, 2, 4]] == 0).all()
    assert np.isfinite(gx).all()
    assert np.isfinite(galpha)


@pytest.mark.parametrize("descending", [False, True])
def test_gradients_are_not_zero_in_either_direction(descending):
    x = np.array([0.0, 1.0, 3.0])
    gx, galpha = lapsum.soft_sort_vjp(x, 0.5, np.array([1.0, 0.0, 0.0]), descending=descending)
    assert gx.argmax() == (2 if descending else 0)
    assert_within("soft_sort", "float64", "grad_x", gx.sum(), 1.0, g=[1.0])
    assert galpha != 0
