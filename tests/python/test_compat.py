"""lapsum.compat, called as the packages it stands in for are in their own READMEs and scripts."""

from __future__ import annotations

import pytest
import torch

import lapsum
from lapsum.compat import gmum, torchsort


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- torchsort -----------------------------------------------------------------------------------


def test_torchsort_as_in_its_readme():
    x = torch.tensor([[8, 0, 5, 3, 2, 1, 6, 7, 9]])
    assert torchsort.soft_rank(x).shape == x.shape
    hard = torch.tensor([[8.0, 1, 5, 4, 3, 2, 6, 7, 9]])
    torch.testing.assert_close(torchsort.soft_rank(x, regularization_strength=0.05), hard)
    sorted_ = torchsort.soft_sort(x, regularization_strength=0.01)
    torch.testing.assert_close(sorted_, x.float().sort().values, rtol=0, atol=1e-5)
    y = torch.tensor([[8.0, 0, 5, 3, 2, 1, 6, 7, 9]], requires_grad=True)
    (g,) = torch.autograd.grad(torchsort.soft_sort(y)[0, 0], y)
    assert g.sum().item() == pytest.approx(1)  # as there: a shift of x is a shift of the result
    assert g.argmax().item() == 1


def test_torchsort_spearman_as_in_its_readme():
    def spearmanr(pred, target, **kw):
        pred = torchsort.soft_rank(pred, **kw)
        target = torchsort.soft_rank(target, **kw)
        pred = pred - pred.mean()
        pred = pred / pred.norm()
        target = target - target.mean()
        target = target / target.norm()
        return (pred * target).sum()

    pred = torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]], requires_grad=True)
    target = torch.tensor([[5.0, 6.0, 7.0, 8.0, 7.0]])
    assert spearmanr(pred, target, regularization_strength=1e-2).item() == pytest.approx(
        0.8208, abs=1e-4
    )
    spearman = spearmanr(pred, target, regularization="kl", regularization_strength=1.0)
    (g,) = torch.autograd.grad(spearman, pred)
    assert g[0, -1] < 0 < g[0, -2]  # the last prediction is too high, the one before too low


def test_torchsort_ranks_begin_with_one_and_two_close_values_part_as_there():
    """torchsort: ranks 1.5 -+ d / (2 strength) for a gap d below the strength."""
    x = torch.tensor([[0.0, 0.01]], dtype=torch.float64)
    for strength in (0.5, 2.0):
        ranks = torchsort.soft_rank(x, "l2", strength)
        assert ranks.sum().item() == pytest.approx(3)
        assert ranks.diff().item() == pytest.approx(0.01 / strength, rel=0.02)


def test_torchsort_refuses():
    with pytest.raises(ValueError, match=r"soft_rank: values must have two dimensions, got \(3,\)"):
        torchsort.soft_rank(torch.zeros(3))
    with pytest.raises(ValueError, match='soft_sort: regularization must be "l2" or "kl", got "l"'):
        torchsort.soft_sort(torch.zeros(2, 3), "l")


# --- the authors' package ------------------------------------------------------------------------


def test_gmum_modules_are_where_theirs_are():
    from lapsum.compat.gmum.permute import cross_entropy
    from lapsum.compat.gmum.rank import soft_rank
    from lapsum.compat.gmum.sort import soft_sort
    from lapsum.compat.gmum.topk import log_soft_topk, soft_topk

    found = {cross_entropy, soft_rank, soft_sort, soft_topk, log_soft_topk}
    assert found == {getattr(gmum, name) for name in gmum.__all__}


@pytest.mark.parametrize("largest", [True, False])
def test_gmum_topk_as_in_their_test(largest):
    """K has one entry per row, alpha is a tensor with gradient whose sign does not count."""
    r = normal(3, 20).requires_grad_()
    k = torch.tensor([[2.5], [7.0], [19.0]], dtype=torch.float64, requires_grad=True)
    for sign in (1.0, -1.0):
        alpha = torch.tensor(sign * 0.3, dtype=torch.float64, requires_grad=True)
        p = gmum.soft_topk(r, k, alpha, dim=1, largest=largest)
        torch.testing.assert_close(p.sum(dim=1, keepdim=True), k)
        log_p = gmum.log_soft_topk(r, k, alpha, 1, largest)
        torch.testing.assert_close(log_p.exp(), p)
        p.backward(normal(3, 20, seed=1))
        assert r.grad.shape == r.shape
        assert k.grad.shape == k.shape
        assert alpha.grad.shape == ()
        assert alpha.item() == sign * 0.3  # not written to
        want = lapsum.soft_topk(r, k[:, 0], 0.3, largest=largest)
        torch.testing.assert_close(p, want)


def test_gmum_topk_along_other_axes_and_with_several_k():
    x, k = normal(2, 5, 3), torch.full((2, 1, 3), 2.0, dtype=torch.float64)
    p = gmum.soft_topk(x, k, 0.5)
    torch.testing.assert_close(p, lapsum.soft_topk(x, 2.0, 0.5, dim=1))
    torch.testing.assert_close(gmum.soft_topk(x, k[:, 0], -0.5), p)
    several = gmum.soft_topk(x[:, :, 0], torch.tensor([[1.0, 2.0, 3.0]] * 2), 0.5)
    assert several.shape == (2, 3, 5)
    torch.testing.assert_close(several[:, 1], lapsum.soft_topk(x[:, :, 0], 2, 0.5))
    with pytest.raises(ValueError, match="soft_topk: k must have 1 entry along dim=1, got"):
        gmum.soft_topk(x, x, 0.5)


def test_gmum_rank_and_sort_are_descending_by_default():
    x = normal(4, 9).requires_grad_()
    torch.testing.assert_close(gmum.soft_rank(x), lapsum.soft_rank(x, 1.0, descending=True))
    torch.testing.assert_close(gmum.soft_sort(x), lapsum.soft_sort(x, 1.0, descending=True))
    torch.testing.assert_close(gmum.soft_rank(x, 0.3), lapsum.soft_rank(x, 0.3))
    torch.testing.assert_close(gmum.soft_sort(x, 0.3, 0), lapsum.soft_sort(x, 0.3, dim=0))
    (g,) = torch.autograd.grad(gmum.soft_sort(x, -0.3).square().sum(), x)
    assert (g != 0).all()


def test_gmum_cross_entropy_as_in_their_script():
    """Targets have the type of the digits they were made from; the loss sums over the row."""
    x, digits = normal(4, 5).requires_grad_(), normal(4, 5, seed=1)
    target = digits.argsort(-1).argsort(-1)
    matrix = lapsum.soft_permutation(x, 0.5)
    want = -matrix.gather(-2, target.unsqueeze(-2)).squeeze(-2).log().sum(-1)
    alpha = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    got = gmum.cross_entropy(x, target, alpha, reduction="none")
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(gmum.cross_entropy(x, target.double(), alpha), want.mean())
    torch.testing.assert_close(gmum.cross_entropy(x, target, 0.5, "sum"), want.sum())
    (one,) = torch.autograd.grad(gmum.cross_entropy(x, target, alpha), x)
    (two,) = torch.autograd.grad(2 * gmum.cross_entropy(x, target, alpha), x)
    torch.testing.assert_close(two, 2 * one)
