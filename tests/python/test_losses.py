"""The losses: against their definitions, beyond underflow, and as torch users expect."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import lapsum
import lapsum.nn
from lapsum import reference
from lapsum.losses import (
    knn_loss,
    permutation_cross_entropy,
    soft_topk_bce,
    spearman_loss,
    topk_cross_entropy,
)

COMPILED = {"fullgraph": True, "backend": "aot_eager"}


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def ranks(*shape, seed=1):
    values = np.random.default_rng(seed).normal(size=shape)
    return torch.tensor(values.argsort(-1).argsort(-1))


RANKS = ranks(4, 6)
CLASSES = torch.tensor([0, 1, 2, 0, 1, 2])
CANDIDATES = (16 * normal(6, 6, seed=3)).round() / 16  # exact in every type
# Each loss as a function of the input that is trained (4, 6), alpha and options.
LOSSES = {
    "topk_cross_entropy": lambda x, a=0.7, **o: topk_cross_entropy(
        x, torch.tensor([5, 0, 2, 2]), (0.5, 0, 0.5), a, **o
    ),
    "permutation_cross_entropy": lambda x, a=0.7, **o: permutation_cross_entropy(x, RANKS, a, **o),
    "spearman_loss": lambda x, a=0.7, **o: spearman_loss(x, RANKS, a, **o),
    "knn_loss": lambda x, a=0.7, **o: knn_loss(
        x, CANDIDATES.to(x.dtype), torch.tensor([0, 1, 2, 0]), CLASSES, 2, a, **o
    ),
    "soft_topk_bce": lambda x, a=0.7, **o: soft_topk_bce(x, RANKS < 2, 2, a, **o),
}
MODULES = {
    "topk_cross_entropy": lambda **o: lapsum.nn.TopKCrossEntropyLoss((0.5, 0, 0.5), **o),
    "permutation_cross_entropy": lambda **o: lapsum.nn.PermutationCrossEntropyLoss(**o),
    "spearman_loss": lambda **o: lapsum.nn.SpearmanLoss(**o),
    "knn_loss": lambda **o: lapsum.nn.KNNLoss(2, **o),
    "soft_topk_bce": lambda **o: lapsum.nn.SoftTopKBCELoss(2, **o),
}
every = pytest.mark.parametrize("name", LOSSES)


# --- what all promise ----------------------------------------------------------------------------


@every
def test_gradients_of_input_and_alpha(name):
    loss = LOSSES[name]
    x, alpha = normal(4, 6).requires_grad_(), torch.tensor(0.7, dtype=torch.float64)
    for reduction in ("none", "mean", "sum"):
        assert torch.autograd.gradcheck(
            lambda x, a, r=reduction: loss(x, a, reduction=r), (x, alpha.requires_grad_())
        )
    assert torch.autograd.gradgradcheck(loss, (x,), rtol=1e-3, atol=1e-4)


@every
def test_an_alpha_for_each_row(name):
    x = normal(4, 6)
    alpha = torch.tensor([0.3, 0.7, 1.0, 2.0], dtype=torch.float64)
    got = LOSSES[name](x, alpha, reduction="none")
    for i, a in enumerate(alpha.tolist()):
        want = LOSSES[name](x, a, reduction="none")[i]
        torch.testing.assert_close(got[i], want, rtol=1e-12, atol=1e-12)


@every
def test_reductions(name):
    x = normal(4, 6)
    each = LOSSES[name](x, reduction="none")
    assert each.shape == ((4, 6) if name == "soft_topk_bce" else (4,))
    torch.testing.assert_close(LOSSES[name](x), each.mean())
    torch.testing.assert_close(LOSSES[name](x, reduction="sum"), each.sum())
    with pytest.raises(ValueError, match=f'{name}: reduction must be one of .*, got "avg"'):
        LOSSES[name](x, reduction="avg")


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_and_returned_in_float32(name, dtype):
    x = normal(4, 6, dtype=dtype).requires_grad_()
    loss = LOSSES[name](x)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, LOSSES[name](x.float()), rtol=0, atol=0)
    loss.backward()
    assert x.grad.dtype == dtype
    assert x.grad.isfinite().all()


@every
def test_autocast_does_not_interfere(name):
    x = normal(4, 6, dtype=torch.float32)
    want = LOSSES[name](x)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(LOSSES[name](x), want, rtol=0, atol=0)


@every
def test_function_transforms(name):
    x = normal(3, 4, 6)
    loss = LOSSES[name]
    each = torch.func.vmap(torch.func.grad(loss))(x)
    for i in range(3):
        leaf = x[i].clone().requires_grad_()
        loss(leaf).backward()
        torch.testing.assert_close(each[i], leaf.grad, rtol=1e-9, atol=1e-11)


@every
def test_float32_agrees_with_float64(name):
    x = normal(4, 6)
    got = LOSSES[name](x.float())
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.double(), LOSSES[name](x.float().double()), rtol=1e-6, atol=1e-6)


@every
def test_far_apart_and_a_tiny_alpha_stay_finite(name):
    """Every probability underflows, and ties are there too."""
    x = torch.tensor([[0.0, 1e4, 1e4, 2e4, 3e4, 3e4]]).repeat(4, 1).requires_grad_()
    loss = LOSSES[name](x, 1e-2, reduction="none")
    assert loss.isfinite().all()
    loss.sum().backward()
    assert x.grad.isfinite().all()
    assert x.grad.abs().max() > 0


@every
def test_compiles_into_one_graph(name):
    x = normal(4, 6).requires_grad_()
    loss = torch.compile(LOSSES[name], **COMPILED)(x)
    torch.testing.assert_close(loss, LOSSES[name](x))
    (got,) = torch.autograd.grad(loss, x)
    (want,) = torch.autograd.grad(LOSSES[name](x), x)
    torch.testing.assert_close(got, want)


@every
def test_arguments_are_refused_by_name(name):
    loss = LOSSES[name]
    with pytest.raises(ValueError, match=f"{name}: alpha must be finite and not 0, got alpha=0"):
        loss(normal(4, 6), 0.0)
    with pytest.raises(TypeError, match=f"{name}: .* must be float16, .* got torch.int64"):
        loss(ranks(4, 6))


@every
def test_modules_call_the_functions(name):
    module = MODULES[name](alpha=0.7, trainable=True)
    args = {
        "topk_cross_entropy": (torch.tensor([5, 0, 2, 2]),),
        "permutation_cross_entropy": (RANKS,),
        "spearman_loss": (RANKS,),
        "knn_loss": (CANDIDATES, torch.tensor([0, 1, 2, 0]), CLASSES),
        "soft_topk_bce": (RANKS < 2,),
    }[name]
    loss = module(normal(4, 6), *args)
    torch.testing.assert_close(loss, LOSSES[name](normal(4, 6)))
    loss.backward()
    assert module.log_alpha.grad.abs() > 0
    assert "alpha=0.7 (trainable), reduction=mean" in repr(module)
    kind = type(module).__name__
    with pytest.raises(ValueError, match=f"{kind}: reduction must be"):
        MODULES[name](reduction="avg")
    with pytest.raises(ValueError, match=f"{kind}: alpha must be positive"):
        MODULES[name](alpha=-1.0)


def test_the_alpha_of_a_module_can_be_set():
    module = lapsum.nn.SpearmanLoss(alpha=1.0)
    module.alpha = 0.25
    assert module.alpha.item() == pytest.approx(0.25, rel=1e-15)
    assert list(module.state_dict()) == ["log_alpha"]
    with pytest.raises(ValueError, match="SpearmanLoss: alpha must be positive"):
        module.alpha = 0.0


# --- topk_cross_entropy --------------------------------------------------------------------------


@pytest.mark.parametrize("p_k", [(1.0,), (0, 0, 0, 0, 1.0), (0.2,) * 5, (0.5, 0, 0, 0, 0.5)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("alpha", [0.4, -0.4])
def test_topk_cross_entropy_is_its_definition(p_k, smoothing, alpha):
    x, y = normal(3, 4, 10), torch.arange(12).reshape(3, 4) % 10
    masks = [p * lapsum.soft_topk(x, j, alpha) for j, p in enumerate(p_k, 1)]
    q = torch.nn.functional.one_hot(y, 10).double() * (1 - smoothing) + smoothing / 10
    want = -(q * sum(masks).log()).sum(-1)
    options = {"label_smoothing": smoothing, "reduction": "none"}
    got = topk_cross_entropy(x, y, p_k, alpha, **options)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


def test_topk_cross_entropy_by_hand():
    """Two logits at distance 2: p of the larger is 1 - e^-1 / 2 with the threshold between."""
    x = torch.tensor([0.0, 2.0], dtype=torch.float64)
    got = topk_cross_entropy(x, torch.tensor(1), (1.0,))
    assert got.item() == pytest.approx(-math.log(1 - math.exp(-1) / 2), rel=1e-14)
    got = topk_cross_entropy(x, torch.tensor(0), (1.0,))
    assert got.item() == pytest.approx(1 + math.log(2), rel=1e-14)


def test_as_many_weights_as_classes():
    """The top n of n are all there: p = 1, and no gradient."""
    x = normal(2, 3).requires_grad_()
    loss = topk_cross_entropy(x, torch.tensor([0, 1]), (0, 0, 1))
    assert loss == 0
    loss.backward()
    assert (x.grad == 0).all()


def test_smoothing_has_gradients_too():
    x, y = normal(2, 5).requires_grad_(), torch.tensor([0, 4])
    alpha = torch.tensor([0.5, 0.9], dtype=torch.float64, requires_grad=True)
    options = {"label_smoothing": 0.2}
    assert torch.autograd.gradcheck(
        lambda x, a: topk_cross_entropy(x, y, (0.5, 0.5), a, **options), (x, alpha)
    )


def test_weights_are_divided_by_their_sum_and_never_give_a_negative_loss():
    x, y = normal(50, 8, dtype=torch.float32), torch.zeros(50, dtype=torch.int64)
    a = topk_cross_entropy(x, y, (1, 0, 3))
    assert a == topk_cross_entropy(x, y, (0.25, 0, 0.75))
    sure = torch.zeros(1, 8)
    sure[0, 0] = 1e3
    assert 0 <= topk_cross_entropy(sure, y[:1], alpha=0.01) < 1e-6


def test_a_large_topk_loss_is_exact():
    """The right logit is 1e4 below the threshold: log p = -distance / alpha - log 2."""
    x = torch.tensor([0.0, 1e4, 3e4], requires_grad=True)
    loss = topk_cross_entropy(x, torch.tensor(0), (1.0,), 1e-2)
    assert loss.item() == pytest.approx(2e4 / 1e-2 + math.log(2), rel=1e-7)
    loss.backward()
    torch.testing.assert_close(x.grad, torch.tensor([-100.0, 50.0, 50.0]))


def test_topk_cross_entropy_refuses():
    x, y = normal(2, 4), torch.tensor([0, 1])
    for bad in [(), (0, 0), (0.5, -0.1), (math.nan,), (math.inf,)]:
        with pytest.raises(ValueError, match="p_k must be non-negative with a positive sum, got"):
            topk_cross_entropy(x, y, bad)
    with pytest.raises(ValueError, match="p_k must have at most n entries, got 5 with n=4"):
        topk_cross_entropy(x, y)
    with pytest.raises(ValueError, match=r"label_smoothing must be in \[0, 1\], got label_sm"):
        topk_cross_entropy(x, y, (1,), label_smoothing=1.5)
    with pytest.raises(ValueError, match=r"target must have the shape \(2,\), got \(3,\)"):
        topk_cross_entropy(x, torch.tensor([0, 1, 2]), (1,))
    with pytest.raises(TypeError, match="target must be a tensor of integers"):
        topk_cross_entropy(x, x[:, 0], (1,))


# --- permutation_cross_entropy -------------------------------------------------------------------


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("alpha", [0.3, 2.0, -0.7])
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_permutation_cross_entropy_is_that_of_the_matrix(n, alpha, descending):
    x, target = normal(5, n), ranks(5, n)
    x[0] = x[0].round()  # ties
    matrix = lapsum.soft_permutation(x, alpha, descending=descending)
    want = -matrix.gather(-2, target.unsqueeze(-2)).squeeze(-2).log().mean(-1)
    options = {"descending": descending, "reduction": "none"}
    got = permutation_cross_entropy(x, target, alpha, **options)
    torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-12)


def test_permutation_cross_entropy_far_from_underflow_by_hand():
    """0, 10, 20 at alpha 0.01: thresholds 5 and 15, all sides e^-500 or less."""
    x = torch.tensor([0.0, 10.0, 20.0], dtype=torch.float64, requires_grad=True)
    loss = permutation_cross_entropy(x, torch.tensor([2, 1, 0]), 0.01)
    # 0 is 15 below its position, 20 is 15 above it, and 10 stands where it should.
    assert loss.item() == pytest.approx(2 / 3 * (1500 + math.log(2)), rel=1e-13)
    loss.backward()
    # The thresholds are (x_1 + x_2) / 2 and (x_0 + x_1) / 2: d/dx_0 = (-1 - 1/2) / (3 alpha).
    want = torch.tensor([-50.0, 0.0, 50.0], dtype=torch.float64)
    torch.testing.assert_close(x.grad, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alpha", [1e-1, 1e-2, 1e-3])
def test_permutation_cross_entropy_where_doubles_underflow(alpha):
    """Long doubles reach e^-11000: the matrix of the oracle still has all entries."""
    x, target = normal(3, 7, dtype=torch.float32), ranks(3, 7)
    got = permutation_cross_entropy(x.double(), target, alpha, reduction="none")
    for row, order, loss in zip(x.numpy(), target.numpy(), got, strict=True):
        entries = reference.soft_permutation(row, alpha)[order, np.arange(7)]
        assert loss.item() == pytest.approx(float(-np.log(entries).mean()), rel=1e-12)
    leaf = x.double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda t: permutation_cross_entropy(t, target, alpha), (leaf,), eps=1e-4 * alpha
    )


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-12, 1e-18])
def test_ties_at_any_alpha_are_finite_and_fair(alpha):
    """N equal scores: every position has probability 1 / n; the gradient stays finite."""
    x = torch.full((8,), 3.7, dtype=torch.float64, requires_grad=True)
    loss = permutation_cross_entropy(x, torch.arange(8), alpha)
    loss.backward()
    assert x.grad.isfinite().all()
    assert x.grad[0] > 0 > x.grad[-1]
    assert loss.isfinite()
    if alpha >= 1e-12:
        assert loss.item() == pytest.approx(math.log(8), rel=1e-2)


def test_a_long_permutation_needs_no_matrix():
    n = 100_000
    x = normal(n, dtype=torch.float32).requires_grad_()
    target = x.detach().argsort().argsort()
    right = permutation_cross_entropy(x, target, 1e-7)
    wrong = permutation_cross_entropy(x, target.flip(0), 1e-7)
    assert right < wrong
    wrong.backward()
    assert x.grad.isfinite().all()


def test_descent_on_permutation_cross_entropy_finds_the_order():
    target = torch.tensor([3, 0, 4, 1, 2])
    x = torch.zeros(5, requires_grad=True)
    optimiser = torch.optim.SGD([x], lr=0.5)
    for _ in range(100):
        optimiser.zero_grad()
        permutation_cross_entropy(x, target, 0.5).backward()
        optimiser.step()
    assert x.detach().argsort().argsort().tolist() == target.tolist()


# --- spearman_loss -------------------------------------------------------------------------------


def test_spearman_loss_by_hand():
    """Ranks 0..4 against 0, 1, 2.5, 4, 2.5: covariance 8, variances 10 and 9.5."""
    pred, target = torch.arange(5.0), torch.tensor([5, 6, 7, 8, 7])
    got = spearman_loss(pred, target, 1e-3)
    assert got.item() == pytest.approx(1 - 8 / math.sqrt(95), rel=1e-6)
    assert spearman_loss(pred, -pred, 1e-3).item() == pytest.approx(2)
    assert spearman_loss(pred, pred**3, 1e-3).item() == pytest.approx(0, abs=1e-6)


def test_spearman_loss_along_an_axis():
    pred, target = normal(3, 5, 4), normal(3, 5, 4, seed=1)
    got = spearman_loss(pred, target, 0.3, dim=1, reduction="none")
    want = spearman_loss(pred.mT, target.mT, 0.3, reduction="none")
    assert got.shape == (3, 4)
    torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_spearman_loss_without_a_correlation_is_one():
    equal = torch.zeros(4, requires_grad=True)
    loss = spearman_loss(equal, torch.arange(4), 0.5)
    assert loss.item() == 1
    loss.backward()
    assert (equal.grad.diff() < 0).all()  # descent orders them as the target
    for alpha in (0.5, 1e12):
        x = torch.arange(4.0, requires_grad=True)
        spearman_loss(x, torch.ones(4), alpha).backward()
        assert (x.grad == 0).all()
    assert spearman_loss(torch.arange(4.0), torch.tensor([0.0, math.nan, 1, 2])).isnan()


def test_spearman_loss_keeps_its_digits_at_a_large_alpha():
    x = normal(20)
    got = spearman_loss(x, x, 1e9)
    linear = torch.corrcoef(torch.stack([x, x.argsort().argsort().double()]))[0, 1]
    assert got.item() == pytest.approx(1 - linear.item(), rel=1e-4)


# --- knn_loss ------------------------------------------------------------------------------------


def test_knn_loss_is_its_definition():
    q, c = normal(2, 4, 3), normal(2, 7, 3, seed=1)
    ql, cl = torch.arange(8).reshape(2, 4) % 2, torch.arange(14).reshape(2, 7) % 2
    p = lapsum.soft_topk(-torch.cdist(q, c).square(), 3, 0.8)
    share = torch.where(ql.unsqueeze(-1) == cl.unsqueeze(-2), p, 0.0).sum(-1) / 3
    got = knn_loss(q, c, ql, cl, 3, 0.8, reduction="none")
    torch.testing.assert_close(got, -share.log(), rtol=1e-10, atol=1e-12)


def test_knn_loss_far_from_the_origin_keeps_its_digits():
    q, c = normal(4, 3), normal(7, 3, seed=1)
    args = torch.tensor([0, 1, 0, 1]), torch.arange(7) % 2, 3, 0.8
    got = knn_loss(q + 1e6, c + 1e6, *args, reduction="none")
    torch.testing.assert_close(got, knn_loss(q, c, *args, reduction="none"), rtol=1e-8, atol=1e-8)


def test_a_query_at_a_candidate_has_a_gradient():
    c = torch.tensor([[0.0], [1.0], [3.0]])
    q = c[:1].clone().requires_grad_()
    knn_loss(q, c, torch.tensor([1]), torch.tensor([0, 1, 1]), 1, 0.5).backward()
    assert q.grad.isfinite().all()
    assert q.grad.item() < 0


def test_a_query_without_candidates_of_its_label_does_not_count():
    q = normal(3, 2).requires_grad_()
    c, cl = normal(5, 2, seed=1), torch.tensor([0, 0, 1, 1, 1])
    each = knn_loss(q, c, torch.tensor([0, 9, 1]), cl, 2, reduction="none")
    assert each[1] == 0
    mean = knn_loss(q, c, torch.tensor([0, 9, 1]), cl, 2)
    torch.testing.assert_close(mean, (each[0] + each[2]) / 2)
    mean.backward()
    assert (q.grad[1] == 0).all()
    assert q.grad.isfinite().all()
    assert knn_loss(q, c, torch.tensor([9, 9, 9]), cl, 2) == 0


def test_knn_loss_refuses():
    q, c, ql, cl = normal(3, 2), normal(5, 2), torch.arange(3), torch.arange(5)
    with pytest.raises(ValueError, match=r"queries and candidates must be .*, got \(3, 2\) and"):
        knn_loss(q, normal(5, 3), ql, cl, 2)
    with pytest.raises(ValueError, match=r"candidate_labels must have the shape \(5,\), got"):
        knn_loss(q, c, ql, ql, 2)
    with pytest.raises(ValueError, match=r"knn_loss: k must be in \[0, n\], got k=6 with n=5"):
        knn_loss(q, c, ql, cl, 6)
    with pytest.raises(ValueError, match="knn_loss: k must be positive, got k=0"):
        knn_loss(q, c, ql, cl, 0)


# --- soft_topk_bce -------------------------------------------------------------------------------


def test_soft_topk_bce_is_its_definition():
    x, r = normal(3, 8), (ranks(3, 8) < 3).double()
    p = lapsum.soft_topk(x, 3, 0.5)
    want = torch.nn.functional.binary_cross_entropy(p, r, reduction="none")
    for relevance in (r, r.bool(), r.long()):
        got = soft_topk_bce(x, relevance, 3, 0.5, reduction="none")
        torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
    half = torch.full_like(x, 0.5)
    want = torch.nn.functional.binary_cross_entropy(p, half)
    torch.testing.assert_close(soft_topk_bce(x, half, 3, 0.5), want)


def test_soft_topk_bce_by_hand_beyond_underflow():
    """Threshold 5; 0 should be chosen and 10 not: each costs 5 / alpha + log 2."""
    x = torch.tensor([0.0, 10.0], requires_grad=True)
    loss = soft_topk_bce(x, torch.tensor([1, 0]), 1, 1e-3)
    assert loss.item() == pytest.approx(5000 + math.log(2), rel=1e-6)
    loss.backward()
    torch.testing.assert_close(x.grad, torch.tensor([-500.0, 500.0]))


def test_padding_costs_nothing():
    x = torch.tensor([1.0, 3.0, 2.0])
    padded = torch.tensor([1.0, 3.0, 2.0, -math.inf], requires_grad=True)
    r = torch.tensor([0, 1, 0])
    each = soft_topk_bce(padded, torch.tensor([0, 1, 0, 0]), 1, 0.5, reduction="none")
    torch.testing.assert_close(each[:3], soft_topk_bce(x, r, 1, 0.5, reduction="none"))
    assert each[3] == 0
    each.sum().backward()
    assert padded.grad.isfinite().all()
    assert padded.grad[3] == 0


def test_soft_topk_bce_with_a_predicted_k():
    x, r = normal(3, 8), ranks(3, 8) < 3
    k = torch.tensor([2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda k: soft_topk_bce(x, r, k, 0.5), (k,))
    with pytest.raises(ValueError, match=r"soft_topk_bce: k must be in \[0, n\], got k=9 with n=8"):
        soft_topk_bce(x, r, 9)
    with pytest.raises(ValueError, match=r"relevance must have the shape \(3, 8\), got \(8,\)"):
        soft_topk_bce(x, r[0], 3)
    with pytest.raises(TypeError, match="relevance must be a boolean or real tensor, got"):
        soft_topk_bce(x, [1, 0], 3)
