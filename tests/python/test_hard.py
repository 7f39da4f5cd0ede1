"""hard=True: the exact hard result, k rounded per row, ties by index, the soft gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lapsum
import lapsum.nn

X = np.array([[0.5, 3.0, -1.0, 3.0, 0.5], [1.0, 2.0, 3.0, 4.0, 5.0]])
DIRECTIONS = pytest.mark.parametrize("reverse", [False, True])


def both(name, *args, **flags):
    """The result by either front end."""
    got = getattr(lapsum, name)(X, *args, hard=True, **flags)
    tensor = getattr(lapsum, name)(torch.tensor(X), *args, hard=True, **flags)
    np.testing.assert_array_equal(got, tensor.numpy())
    return got


@DIRECTIONS
def test_rank_sort_and_permutation(reverse):
    r = -X if reverse else X
    order = np.argsort(r, -1, kind="stable")
    for alpha, descending in ((0.5, reverse), (-0.5, not reverse)):
        ranks = both("soft_rank", alpha, descending=descending)
        np.testing.assert_array_equal(np.take_along_axis(ranks, order, -1), [range(5)] * 2)
        np.testing.assert_array_equal(
            both("soft_sort", alpha, descending=descending), np.take_along_axis(X, order, -1)
        )
        matrix = both("soft_permutation", alpha, descending=descending)
        np.testing.assert_array_equal(matrix.argmax(-1), order)
        assert (matrix.sum(-1) == 1).all()


def test_topk_rounds_k_per_row_and_takes_ties_by_index():
    k = np.array([1.2, 2.7])
    got = both("soft_topk", k, 0.5)
    np.testing.assert_array_equal(got, [[0, 1, 0, 0, 0], [0, 0, 1, 1, 1]])
    smallest = both("soft_topk", 3, 0.5, largest=False)
    np.testing.assert_array_equal(smallest, [[1, 0, 1, 0, 1], [1, 1, 1, 0, 0]])
    masked = lapsum.soft_topk(np.array([1.0, -np.inf, 2.0]), 3, 0.5, hard=True)
    assert masked.tolist() == [1, 0, 1]
    broken = lapsum.soft_topk(np.array([1.0, np.nan, 2.0]), 2, 0.5, hard=True)
    assert np.isnan(broken).all()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("soft_topk", (2, 0.5)),
        ("soft_rank", (0.5,)),
        ("soft_sort", (0.5,)),
        ("soft_permutation", (0.5,)),
    ],
)
def test_the_gradient_is_that_of_the_soft_result(name, args):
    x = torch.tensor(X, requires_grad=True)
    function = getattr(lapsum, name)
    hard, soft = function(x, *args, hard=True), function(x, *args)
    g = torch.cos(torch.arange(soft.numel(), dtype=torch.float64)).view_as(soft)
    got, want = (torch.autograd.grad(y, x, g)[0] for y in (hard, soft))
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    compiled = torch.compile(
        lambda t: function(t, *args, hard=True), fullgraph=True, backend="aot_eager"
    )
    torch.testing.assert_close(compiled(x), hard, rtol=0, atol=0)
    with pytest.raises(ValueError, match=f"{name}: alpha must be finite"):
        function(X, *args[:-1], 0.0, hard=True)


@pytest.mark.parametrize("layer", [lapsum.nn.SoftTopK, lapsum.nn.SoftSort, lapsum.nn.SoftRank])
def test_modules_train_their_alpha_and_keep_it_positive(layer):
    k = {"k": 2} if layer is lapsum.nn.SoftTopK else {}
    module = layer(alpha=0.5, trainable=True, **k)
    x = torch.tensor(X)
    optimizer = torch.optim.SGD(module.parameters(), lr=10.0)
    for _ in range(5):
        optimizer.zero_grad()
        (module(x) ** 2).sum().backward()
        assert module.log_alpha.grad.isfinite()
        optimizer.step()
    assert module.alpha > 0
    copy = layer(alpha=1.0, **k)
    copy.load_state_dict(module.state_dict())
    torch.testing.assert_close(copy(x), module(x), rtol=0, atol=0)
    assert list(layer(alpha=0.5, **k).parameters()) == []
    assert "fixed" in repr(copy)
    for tensor in (torch.ones(3), torch.tensor(1.0, requires_grad=True)):
        with pytest.raises(TypeError, match="alpha must be a number, got a tensor; trainable"):
            layer(alpha=tensor, **k)
    with pytest.raises(ValueError, match="alpha must be positive and finite, got alpha=-1"):
        layer(alpha=-1.0, **k)


def test_a_module_takes_k_per_call():
    module = lapsum.nn.SoftTopK(alpha=0.5, hard=True)
    x = torch.tensor(X)
    got = module(x, torch.tensor([1.0, 2.0]))
    assert got.sum(-1).tolist() == [1, 2]
    with pytest.raises(ValueError, match="SoftTopK: k must be given"):
        module(x)
