"""soft_permutation and soft_permute: doubly stochastic, and the same operator with and without."""

from __future__ import annotations

import numpy as np
import pytest
from tolerances import assert_within

import lapsum

DIRECTIONS = pytest.mark.parametrize("descending", [False, True])


def test_by_hand():
    half = np.exp(-0.5) / 2
    got = lapsum.soft_permutation(np.array([1.0, 0.0]))
    want = [[half, 1 - half], [1 - half, half]]
    assert_within("soft_permutation", "float64", "value", got, want)
    assert lapsum.soft_permutation(np.array([7.0])).tolist() == [[1.0]]


@DIRECTIONS
def test_it_becomes_the_permutation_that_sorts(descending):
    x = np.array([0.5, 3.0, -1.0, 8.0])
    order = np.argsort(-x if descending else x)
    matrix = lapsum.soft_permutation(x, 1e-3, descending=descending)
    np.testing.assert_array_equal(matrix, np.eye(4)[order])
    values = np.array([10.0, 20.0, 30.0, 40.0])
    got = lapsum.soft_permute(x, values, 1e-3, descending=descending)
    np.testing.assert_array_equal(got, values[order])


@DIRECTIONS
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("columns", [(), (1,), (3,)])
def test_permute_is_the_matrix_product(descending, transpose, columns):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=30), [0.5] * 4, [-np.inf, np.inf, np.inf]])
    values = rng.normal(size=(x.size, *columns))
    for alpha in (1e-3, 0.1, 1.0, 50.0):
        matrix = lapsum.soft_permutation(x, alpha, descending=descending)
        assert_within("soft_permutation", "float64", "sum", matrix.sum(0), np.ones(x.size), n=37)
        assert_within("soft_permutation", "float64", "sum", matrix.sum(1), np.ones(x.size), n=37)
        want = (matrix.T if transpose else matrix) @ values
        options = {"descending": descending, "transpose": transpose}
        got = lapsum.soft_permute(x, values, alpha, **options)
        assert_within("soft_permute", "float64", "value", got, want, v=values, n=37)


@DIRECTIONS
def test_infinite_elements_share_the_positions_at_their_end(descending):
    x = np.array([np.inf, 0.0, -np.inf, np.inf, 1.0])
    matrix = lapsum.soft_permutation(x, 0.5, descending=descending)
    upper = [0, 1] if descending else [3, 4]
    lower = 4 if descending else 0
    np.testing.assert_array_equal(matrix[upper], [[0.5, 0, 0, 0.5, 0]] * 2)
    np.testing.assert_array_equal(matrix[lower], [0, 0, 1, 0, 0])
    gx, galpha = lapsum.soft_permutation_vjp(
        x, 0.5, np.arange(25.0).reshape(5, 5), descending=descending
    )
    assert (gx[[0, 2, 3]] == 0).all()
    assert np.isfinite(gx).all()
    assert np.isfinite(galpha)


def test_values_broadcast_over_batches_and_columns():
    rng = np.random.default_rng(0)
    x, values = rng.normal(size=(3, 1, 5)), rng.normal(size=(1, 2, 5, 4))
    got = lapsum.soft_permute(x, values, 0.5)
    assert got.shape == (3, 2, 5, 4)
    want = lapsum.soft_permutation(x, 0.5) @ values
    assert_within("soft_permute", "float64", "value", got, want, v=values, n=5)
    gx, gvalues, galpha = lapsum.soft_permute_vjp(x, values, 0.5, np.ones(got.shape))
    assert gx.shape == x.shape
    assert gvalues.shape == values.shape
    assert np.ndim(galpha) == 0


@pytest.mark.parametrize("shape", [(4,), (5, 2, 2), (3,)])
def test_values_of_another_shape(shape):
    with pytest.raises(ValueError, match=r"soft_permute: values must have shape \(\.\.\., 5\)"):
        lapsum.soft_permute(np.zeros(5), np.zeros(shape))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_makes_its_column_nan(bad):
    values = np.ones((40_000, 2))
    values[0, 1] = bad
    for transpose in (False, True):
        got = lapsum.soft_permute(np.arange(40_000.0) * 10, values, transpose=transpose)
        assert np.isnan(got[:, 1]).all()
        assert np.isfinite(got[:, 0]).all()
