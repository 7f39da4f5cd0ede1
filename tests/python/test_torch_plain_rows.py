"""The short way of soft_permute, with nothing to arrange, against the way of all other calls."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import lapsum  # noqa: E402

ALPHA = 0.3


def arranged(x, values, **options):
    """A tensor of alphas is something to arrange."""
    alphas = torch.full(x.shape[:-1], ALPHA, dtype=torch.float64)
    return lapsum.soft_permute(x, values, alphas, **options)


def draw(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


shapes = pytest.mark.parametrize(
    ("batch", "tail"), [((), ()), ((), (1,)), ((), (3,)), ((4,), ()), ((2, 3), (5,))]
)
flags = pytest.mark.parametrize("options", [{}, {"transpose": True}, {"descending": True}])


@shapes
@flags
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_ways_have_the_same_bits(batch, tail, options, dtype):
    x, values = draw(*batch, 17, dtype=dtype), draw(*batch, 17, *tail, dtype=dtype, seed=1)
    g = draw(*values.shape, dtype=dtype, seed=2)
    leaves = x.requires_grad_(), values.requires_grad_()
    short = lapsum.soft_permute(*leaves, ALPHA, **options)
    long = arranged(*leaves, **options)
    assert short.dtype == dtype
    assert torch.equal(short, long)
    for a, b in zip(
        torch.autograd.grad(short, leaves, g), torch.autograd.grad(long, leaves, g), strict=True
    ):
        assert torch.equal(a, b)
    given = (t.detach().numpy() for t in leaves)
    np.testing.assert_array_equal(
        lapsum.soft_permute(*given, ALPHA, **options), short.detach().numpy()
    )


@pytest.mark.parametrize("needed", [0, 1])
def test_only_the_gradient_in_need_is_computed(needed):
    leaves = [draw(2, 9), draw(2, 9, 3, seed=1)]
    leaves[needed].requires_grad_()
    (got,) = torch.autograd.grad(lapsum.soft_permute(*leaves, ALPHA).sin().sum(), leaves[needed])
    (want,) = torch.autograd.grad(arranged(*leaves).sin().sum(), leaves[needed])
    assert torch.equal(got, want)
    assert leaves[1 - needed].grad is None


@shapes
def test_it_is_differentiated_twice(batch, tail):
    leaves = draw(*batch, 4).requires_grad_(), draw(*batch, 4, *tail, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, v: lapsum.soft_permute(x, v, ALPHA), leaves)
    assert torch.autograd.gradgradcheck(lambda x, v: lapsum.soft_permute(x, v, ALPHA), leaves)


def test_an_incoming_gradient_of_any_layout():
    x, values = draw(3, 8).requires_grad_(), draw(3, 8, 2, seed=1).requires_grad_()
    y = lapsum.soft_permute(x, values, ALPHA)
    g = draw(2, 8, 3, seed=2).permute(2, 1, 0)
    assert not g.is_contiguous()
    got = torch.autograd.grad(y, (x, values), g, retain_graph=True)
    want = torch.autograd.grad(y, (x, values), g.contiguous())
    assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))


@pytest.mark.parametrize(
    "change",
    [
        lambda x, v: (x[:, ::2], v[:, ::2]),
        lambda x, v: (x, v[:1]),
        lambda x, v: (x[:1], v),
        lambda x, v: (x.float(), v),
        lambda x, v: (x, v.half()),
        lambda x, v: (x[:0], v[:0]),
        lambda x, v: (x, v[..., :0]),
        lambda x, v: (torch._neg_view(x), torch._neg_view(v)),
    ],
    ids=["strides", "values", "x", "types", "half", "no rows", "no columns", "negated views"],
)
def test_what_must_be_arranged_goes_the_other_way(change):
    x, values = change(draw(2, 6), draw(2, 6, 3, seed=1))
    torch.testing.assert_close(
        lapsum.soft_permute(x, values, ALPHA), arranged(x, values), rtol=0, atol=0
    )


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf")])
def test_a_bad_alpha_is_named(bad):
    with pytest.raises(ValueError, match="soft_permute: alpha must"):
        lapsum.soft_permute(draw(5), draw(5), bad)


def test_inputs_are_not_changed():
    x, values = draw(7), draw(7, seed=1)
    before = x.clone(), values.clone()
    lapsum.soft_permute(x, values, ALPHA)
    assert torch.equal(x, before[0])
    assert torch.equal(values, before[1])
