"""CUDA tensors on a GPU: `make test-gpu` runs this with a package that has the kernels.

What the kernels compute is tested without one, in test_torch_cuda.py; here it is that they are
reached, on the right device and stream, and agree with the core.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from operations import OPERATIONS
from tolerances import assert_within

import lapsum
from lapsum._torch import backends, cuda

DEVICE = "cuda"
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no GPU here; `make test-gpu` wants one"
)
every = pytest.mark.parametrize("op", OPERATIONS, ids=str)


def outcomes(op, x, device):
    """The value and the gradient in x, back on the CPU."""
    tensors = [
        torch.tensor(a, device=device).to(x.dtype) if isinstance(a, np.ndarray) else a
        for a in op.arguments(x.double().numpy(), 0.7)[1:]
    ]
    leaf = x.to(device, copy=True).requires_grad_()
    y = getattr(lapsum, op.name)(leaf, *tensors)
    g = torch.cos(torch.arange(y.numel(), device=device)).view_as(y).to(y.dtype)
    (gradient,) = torch.autograd.grad(y, leaf, g)
    return y.detach().cpu(), gradient.cpu()


def rows(count, n, dtype=torch.float64):
    draw = np.random.default_rng(n)
    return torch.tensor(draw.normal(size=(count, n))).to(dtype)


def test_the_kernels_serve_cuda_tensors():
    assert backends.backend_for(torch.device(DEVICE)) is cuda


@every
@pytest.mark.parametrize(("count", "n"), [(3, 9), (2, 700), (2, 20_000)])
def test_results_agree_with_the_core(op, count, n):
    x = rows(count, n if op.name != "soft_permutation" else min(n, 700))
    for got, want in zip(outcomes(op, x, DEVICE), outcomes(op, x, "cpu"), strict=True):
        assert_within("composed", "float64", "agreement", got.numpy(), want.numpy())


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_results_in_other_types(op, dtype):
    x = rows(4, 50, dtype)
    for got, want in zip(outcomes(op, x, DEVICE), outcomes(op, x, "cpu"), strict=True):
        assert got.dtype == dtype
        torch.testing.assert_close(got, want)


def test_the_current_stream_is_used():
    x, stream = rows(64, 5000).to(DEVICE), torch.cuda.Stream()
    want = lapsum.soft_topk(x, 100, 0.1)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        late = torch.zeros_like(x)
        torch.cuda._sleep(50_000_000)  # what does not wait for the stream sees zeros
        late.copy_(x)
        got = lapsum.soft_topk(late, 100, 0.1)
    stream.synchronize()
    assert torch.equal(got, want)


def test_a_graph_is_captured_and_replayed():
    x = rows(8, 300).to(DEVICE)
    lapsum.soft_rank(x, 0.5)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = lapsum.soft_rank(x, 0.5) + lapsum.soft_topk(x, 7, 0.5)
    x.neg_()
    graph.replay()
    assert torch.equal(y, lapsum.soft_rank(x, 0.5) + lapsum.soft_topk(x, 7, 0.5))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there are no two GPUs here")
def test_a_tensor_on_another_device_than_the_current_one():
    x = rows(2, 50)
    y = lapsum.soft_sort(x.to("cuda:1"), 0.5)
    assert y.device == torch.device("cuda:1")
    assert torch.equal(y.cpu(), lapsum.soft_sort(x.to("cuda:0"), 0.5).cpu())
