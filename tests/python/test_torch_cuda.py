"""The CUDA kernels behind torch, without a GPU: the module is built on the executor (tests/cuda).

To it the memory of the CPU is that of a device, so CPU tensors stand for CUDA tensors here. What
the front end promises is tested by its own tests, collected again; results are compared with the
core, and with the table of tolerances.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os

import numpy as np
import pytest
import torch
from operations import OPERATIONS
from rows import row
from test_accuracy import ARGUMENTS
from test_torch import (  # noqa: F401
    batch,
    call,
    test_an_empty_batch,
    test_any_strides_and_batches,
    test_half_precision_is_float32_rounded_once,
    test_k_and_alpha_broadcast_with_the_batch,
    test_masks_and_saturation,
    test_nan_and_infinite_rows,
    test_no_grad_and_inference_mode,
    test_several_levels_of_a_row_are_rows_of_their_own,
)
from test_torch_derivatives import CASES, leaves, test_vmap_is_a_batch  # noqa: F401
from test_torch_devices import (
    arguments_of,
    compare_with_the_core,
    corner_rows,
    flags_of,
    torch_cases,
)
from test_torch_padding_devices import CASES as PADDED
from test_torch_padding_devices import outcomes
from tolerances import assert_within
from torch.autograd import gradgradcheck

import lapsum
from lapsum._torch import backends, cuda, kernels

MODULE = os.environ.get("LAPSUM_CUDA_MODULE")
pytestmark = pytest.mark.skipif(
    not MODULE, reason="LAPSUM_CUDA_MODULE does not name the module that `make test` builds"
)
every = pytest.mark.parametrize("op", OPERATIONS, ids=str)


@pytest.fixture(scope="module")
def executed():
    """lapsum._cuda on the executor."""
    spec = importlib.util.spec_from_file_location("_cuda", MODULE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _on_the_cpu(executed, monkeypatch):
    monkeypatch.setattr(cuda, "_library", executed)
    monkeypatch.setattr(cuda, "_current_stream", lambda device: contextlib.nullcontext(0))
    with backends.serving("cpu", cuda):
        yield


@pytest.mark.parametrize("family", ["normal", "ties", "clusters", "lognormal"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", ARGUMENTS)
def test_values_and_derivatives(op, dtype, family):
    for n, alpha in ((1, 1.0), (5, 1e2), (33, 1e-2)):
        for case in torch_cases(op, row(family, n, dtype), alpha, family):
            case.check_value()
            case.check_vjp()
            if dtype == "float64":
                case.check_jvp()


@pytest.mark.parametrize("n", [1, 5, 40])
@pytest.mark.parametrize("name", [k for k, kernel in cuda.KERNELS.items() if not kernel.weighted])
def test_corners_are_those_of_the_core(name, n):
    for seed in range(2):
        compare_with_the_core(cuda.KERNELS[name], n, seed)


def test_gradients_that_are_not_asked_for_are_not_made():
    x, alpha, rng = corner_rows(3, 7, 0)
    for kernel in cuda.KERNELS.values():
        if kernel.weighted:
            continue
        args = arguments_of(kernel, x.nan_to_num(), alpha, rng)
        out, saved = kernel.value(args, flags_of(kernel), 0, keep=True)
        for only in range(len(args)):
            needs = [i == only for i in range(len(args))]
            grads = kernel.vjp(args, flags_of(kernel), 0, saved, torch.ones_like(out), needs)
            assert [t is not None for t in grads] == needs


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_types_are_read_as_they_are(executed, dtype):
    """No wide copy of a single array is made: the kernel of the type itself is called."""
    called = []

    class Spy:
        def __getattr__(self, name):
            called.append(name)
            return getattr(executed, name)

    cuda._library = Spy()
    x = batch(2, 9).to(dtype).requires_grad_()
    lapsum.soft_topk(x, 3, 0.5).sum().backward()
    name = str(dtype).removeprefix("torch.")
    assert {c for c in called if "workspace" not in c} == {
        f"soft_topk_{name}",
        f"soft_topk_vjp_{name}",
    }


@pytest.mark.parametrize(("name", "weighted"), PADDED)
def test_masks_lengths_and_weights_agree_with_the_core(name, weighted):
    got = outcomes(name, weighted, float("nan"))
    with backends.serving("cpu", kernels):
        want = outcomes(name, weighted, 0.0)
    for a, b in zip(got, want, strict=True):
        assert_within("composed", "float64", "agreement", a, b)


@pytest.mark.parametrize("name", ["soft_topk", "soft_rank", "lap_sum_inverse"])
def test_gradgradcheck(name):
    function, tensors = next(c.values for c in CASES if c.id.split("-")[0] == name)
    assert gradgradcheck(function, leaves(tensors), check_fwd_over_rev=True)


def test_a_compiled_graph_calls_the_kernels():
    torch._dynamo.reset()

    def loss(x, k, alpha):
        return (lapsum.soft_topk(x, k, alpha) * lapsum.soft_rank(x, alpha)).sin().sum()

    args = [batch(3, 8), torch.tensor([1.0, 2.5, 4.0]).double(), torch.tensor(0.7).double()]
    args = [a.requires_grad_() for a in args]
    got, want = torch.compile(loss, fullgraph=True, backend="aot_eager")(*args), loss(*args)
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    for a, b in zip(torch.autograd.grad(got, args), torch.autograd.grad(want, args), strict=True):
        torch.testing.assert_close(a, b)


@every
def test_a_row_has_the_bits_it_has_alone(op):
    x = batch(4, 9)
    together = call(op, x)
    alone = torch.stack([call(op, x[i : i + 1])[0] for i in range(4)])
    np.testing.assert_array_equal(together.numpy(), alone.numpy())


def test_the_library_refuses_a_small_workspace(executed):
    x = torch.zeros(2, 3)
    memory = (x.data_ptr(), 2, 3)
    with pytest.raises(ValueError, match="workspace"):
        executed.soft_rank_float32(memory, 0.5, memory, False, (0, 0, 0))
