"""suggest_alpha leaves undecided what was asked for; AlphaSchedule gets from start to end."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import lapsum
import lapsum.nn

SHARPNESS = [0.2, 0.5, 0.9, 0.99]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def in_transition(x, k, alpha, largest=True):
    p = lapsum.soft_topk(x, k, alpha, largest=largest)
    return 2 * np.minimum(p, 1 - p).sum(-1)


@pytest.mark.parametrize("s", SHARPNESS)
def test_two_values_by_hand(s):
    """The threshold is half way: e^(-gap / (2 alpha)) = 1 - s; for the order, e^(-gap / alpha)."""
    x = np.array([3.0, 7.0])
    assert lapsum.suggest_alpha(x, 1, sharpness=s) == pytest.approx(-2 / math.log1p(-s), rel=1e-9)
    assert lapsum.suggest_alpha(x, sharpness=s) == pytest.approx(-4 / math.log1p(-s), rel=1e-9)


@pytest.mark.parametrize("s", SHARPNESS)
@pytest.mark.parametrize("k", [1, 2.5, 10, 150, 199])
@pytest.mark.parametrize("largest", [True, False])
def test_the_number_in_transition_is_the_one_asked_for(s, k, largest):
    x = normal(4, 200)
    alpha = lapsum.suggest_alpha(x, k, sharpness=s, largest=largest)
    assert alpha.shape == (4,)
    want = (1 - s) * 2 * min(k, 200 - k)
    if k == 2.5 and s > 0.8:  # half an element is undecided at every alpha
        assert (in_transition(x, k, alpha, largest) > want).all()
    else:
        np.testing.assert_allclose(in_transition(x, k, alpha, largest), want, rtol=1e-8)


def test_the_share_of_the_mask_on_the_largest():
    x = np.sort(normal(3, 100))
    p = lapsum.soft_topk(x, 10, lapsum.suggest_alpha(x, 10, sharpness=0.9))
    np.testing.assert_allclose(p[:, -10:].sum(-1) / 10, 0.95, atol=0.005)


@pytest.mark.parametrize("s", SHARPNESS)
def test_the_share_of_undecided_pairs_is_the_one_asked_for(s):
    x = normal(2, 3, 50)
    alpha = lapsum.suggest_alpha(x, sharpness=s)
    distance = np.abs(x[..., None] - x[..., None, :])
    e = np.exp(-distance / alpha[..., None, None])
    np.testing.assert_allclose((e.sum((-1, -2)) - 50) / (50 * 49), 1 - s, rtol=1e-8)


def test_alpha_has_the_units_of_x_and_no_origin():
    x = normal(5, 30)
    for k in (None, 7):
        a = lapsum.suggest_alpha(x, k)
        np.testing.assert_allclose(lapsum.suggest_alpha(1e-3 * x + 5, k), 1e-3 * a, rtol=1e-8)


def test_axes_and_several_k():
    x = normal(4, 30, 2)
    got = lapsum.suggest_alpha(x, 5, dim=1)
    np.testing.assert_array_equal(got, lapsum.suggest_alpha(np.moveaxis(x, 1, -1), 5))
    np.testing.assert_array_equal(got, lapsum.suggest_alpha(x, 5, axis=1))
    several = lapsum.suggest_alpha(x[:, None, :, 0], np.array([1.0, 5.0, 20.0]))
    assert several.shape == (4, 3)
    np.testing.assert_array_equal(several[:, 1], lapsum.suggest_alpha(x[:, :, 0], 5))


def test_tensors_give_tensors_without_gradient():
    x = normal(4, 30)
    t = torch.tensor(x, requires_grad=True)
    for k in (None, 3):
        alpha = lapsum.suggest_alpha(t, k)
        assert isinstance(alpha, torch.Tensor)
        assert not alpha.requires_grad
        np.testing.assert_array_equal(alpha.numpy(), lapsum.suggest_alpha(x, k))
    assert lapsum.suggest_alpha(t.detach().bfloat16(), 3).dtype == torch.float64
    predicted = torch.full((4,), 3.0, requires_grad=True)
    torch.testing.assert_close(lapsum.suggest_alpha(t, predicted), alpha, rtol=0, atol=0)
    lapsum.soft_topk(t, 3, alpha).sum().backward()


def test_rows_out_of_the_ordinary():
    x = np.array([[2.0] * 4, [0, 1, 2, np.nan], [0, 1, 2, -np.inf], [0, 0, 0, 1]])
    for k in (None, 2):
        alpha = lapsum.suggest_alpha(x, k)
        assert alpha[0] == 1
        assert np.isnan(alpha[1])
        assert alpha[2] == pytest.approx(lapsum.suggest_alpha(x[2, :3], k), rel=1e-9)
        assert 0 < alpha[3] < np.inf  # ties: as sharp as it gets
    ahead = np.array([0.0, 1.0, 2.0, np.inf])
    want = lapsum.suggest_alpha(ahead[:3], 1)
    assert lapsum.suggest_alpha(ahead, 2) == pytest.approx(want, rel=1e-9)
    assert lapsum.suggest_alpha(np.zeros((0, 4)), 2).shape == (0,)
    assert np.isnan(lapsum.suggest_alpha(np.arange(4.0), np.array([0.0, 4.0, np.nan]))).all()


def test_what_is_refused():
    x = np.arange(4.0)
    for k in (0, 4, -1, math.nan):
        with pytest.raises(ValueError, match=r"suggest_alpha: k must be in \(0, n\), got k=.* n=4"):
            lapsum.suggest_alpha(x, k)
    for s in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match=r"sharpness must be in \(0, 1\), got sharpness="):
            lapsum.suggest_alpha(x, sharpness=s)
    with pytest.raises(ValueError, match="x must have at least one dimension"):
        lapsum.suggest_alpha(1.0)


# --- AlphaSchedule -------------------------------------------------------------------------------


def test_a_schedule_is_geometric_and_stays_at_its_end():
    schedule = lapsum.AlphaSchedule(2.0, 1e-4, steps=10)
    alphas = [schedule.alpha] + [schedule.step() for _ in range(12)]
    assert alphas[0] == 2.0
    assert alphas[10:] == [1e-4] * 3
    np.testing.assert_allclose(np.diff(np.log(alphas[:11])), np.log(1e-4 / 2.0) / 10)
    assert schedule.at(5) == pytest.approx(math.sqrt(2.0 * 1e-4))
    assert "done=12" in repr(schedule)


def test_modules_follow_and_trainable_ones_do_not():
    trained = lapsum.nn.SoftRank(alpha=0.5, trainable=True)
    model = torch.nn.Sequential(lapsum.nn.SoftTopK(k=2, alpha=7.0), torch.nn.Linear(2, 2), trained)
    loss = lapsum.nn.SpearmanLoss(alpha=7.0)
    schedule = lapsum.AlphaSchedule(1.0, 0.01, 2, model, loss)
    assert model[0].alpha.item() == pytest.approx(1.0)
    schedule.step()
    assert model[0].alpha.item() == pytest.approx(0.1)
    assert loss.alpha.item() == pytest.approx(0.1)
    assert trained.alpha.item() == pytest.approx(0.5)
    again = lapsum.AlphaSchedule(1.0, 0.01, 2, loss)
    assert loss.alpha.item() == pytest.approx(1.0)
    again.load_state_dict(schedule.state_dict())
    assert loss.alpha.item() == pytest.approx(0.1)


def test_a_schedule_refuses():
    with pytest.raises(ValueError, match="AlphaSchedule: start must be positive and finite, got"):
        lapsum.AlphaSchedule(0.0, 1.0, 3)
    with pytest.raises(ValueError, match="AlphaSchedule: end must be positive and finite, got"):
        lapsum.AlphaSchedule(1.0, math.inf, 3)
    with pytest.raises(ValueError, match="AlphaSchedule: steps must be at least 1, got steps=0"):
        lapsum.AlphaSchedule(1.0, 0.1, 0)
    with pytest.raises(ValueError, match="AlphaSchedule: modules must contain some"):
        lapsum.AlphaSchedule(1.0, 0.1, 3, torch.nn.Linear(2, 2))
