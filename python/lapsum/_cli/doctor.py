"""Is this installation sound? Versions, threads, front ends and devices, and a self-check.

The self-check compares values and gradients with lapsum.reference. It looks for a broken build, so
its bounds are coarse; what accuracy is promised, the tests know.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lapsum
from lapsum import _core, reference

_BOUNDS = {"float32": 1e-5, "float64": 1e-10}  # relative to the largest entry, and to 1
_LENGTHS = (5, 48)  # a short row and a longer one


def run() -> int:
    """Prints the report; 0 if all is well, else 1."""
    print(f"lapsum {lapsum.__version__} in {Path(lapsum.__file__).parent}")
    print(f"  python    {platform.python_version()}, NumPy {np.__version__}, {platform.platform()}")
    print(f"  vectors   {_core.simd_target()}")
    print(f"  threads   {_threads()}")
    print("front ends")
    print("  numpy     works")
    problems = _report_torch() + _report_jax()
    begin = time.perf_counter()
    print("self-check against the slow definitions (largest error of float32, float64)")
    problems += sum(_report(*check) for check in _checks())
    print(f"  took {time.perf_counter() - begin:.1f} s")
    print("all is well" if not problems else f"{problems} problem(s) found")
    return 1 if problems else 0


# --- the surroundings ----------------------------------------------------------------------------


def _threads() -> str:
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    wanted = os.environ.get("OMP_NUM_THREADS")
    return f"{cores} cores" + (f", OMP_NUM_THREADS={wanted}" if wanted else "")


def _report_torch() -> int:
    if importlib.util.find_spec("torch") is None:
        print("  torch     not installed")
        return 0
    import torch

    from lapsum._torch import backends, cuda, precision

    print(f"  torch     {torch.__version__}, {torch.get_num_threads()} threads")
    problems = 0
    for name in _torch_devices():
        device = torch.device(name)
        by = backends.NAMES[backends.backend_for(device)]
        inside = str(precision.wide(device)).removeprefix("torch.")
        try:
            x = torch.arange(4.0, device=device, requires_grad=True)
            p: Any = lapsum.soft_topk(x, 2, 0.5)
            p[0].backward()
            print(f"    {name} works: {by}, {inside} inside")
        except Exception as error:  # whatever it is, the report has to say it
            print(f"    {name} FAILS: {by}: {error}")
            problems += 1
    for name, label in (("cuda", "CUDA devices"), ("meta", "other devices")):
        if name not in _torch_devices():
            by = backends.NAMES[backends.backend_for(torch.device(name))]
            reason = f": {cuda.missing()}" if name == "cuda" and cuda.missing() else ""
            print(f"    {label} would be served by {by}{reason}")
    return problems


def _torch_devices() -> list[str]:
    """The types of devices that torch has here."""
    import torch

    own = torch._C._get_privateuse1_backend_name()
    names = ("cuda", "mps", "xpu", "mtia", own)
    modules: dict[str, Any] = {n: getattr(torch, n) for n in names if hasattr(torch, n)}
    return ["cpu", *(n for n, module in modules.items() if module.is_available())]


def _report_jax() -> int:
    installed = importlib.util.find_spec("jax") is not None
    if not installed:
        print("  jax       not installed")
        return 0
    jax: Any = importlib.import_module("jax")
    try:
        lapsum.soft_rank(jax.numpy.arange(4.0), 0.5)
        print(f"  jax       {jax.__version__}: works")
    except TypeError:
        print(f"  jax       {jax.__version__}: not supported in this version")
    return 0


# --- the self-check ------------------------------------------------------------------------------

Check = tuple[str, list[tuple[str, float, float]]]  # name, (dtype, error of value, of gradients)


def _report(name: str, errors: list[tuple[str, float, float]]) -> int:
    worst = [max(value, gradient) for _, value, gradient in errors]
    fine = [e <= _BOUNDS[dtype] for e, (dtype, _, _) in zip(worst, errors, strict=True)]
    print(f"  {name:26} {'  '.join(f'{e:7.0e}' for e in worst)}   {'ok' if all(fine) else 'WRONG'}")
    return 0 if all(fine) else 1


def _checks() -> Iterator[Check]:
    for name in _calls(_row(2)):
        yield name, [(d, *_numpy_errors(name, d)) for d in _BOUNDS]
    if importlib.util.find_spec("torch") is not None:
        names = ("soft_rank", "soft_sort", "soft_topk", "log_soft_topk", "soft_permutation")
        for device in _torch_devices():
            where = "torch" if device == "cpu" else device
            for name in names:
                yield f"{name} ({where})", _torch_check(name, device)


def _row(n: int) -> Any:
    return np.random.default_rng(n).normal(size=n).astype(np.float32).astype(np.float64)


def _calls(x: Any) -> dict[str, tuple[Any, ...]]:
    """The arguments of each operation for a row."""
    n = x.size
    half = n / 2 - 0.25
    return {
        "soft_rank": (x, 0.5),
        "soft_sort": (x, 0.5),
        "soft_topk": (x, half, 0.5),
        "log_soft_topk": (x, half, 0.5),
        "soft_permutation": (x, 0.5),
        "soft_permute": (x, x[::-1].copy(), 0.5),
        "lap_sum": (x, x + 0.25, 0.5),
        "lap_sum_inverse": (x, np.linspace(0.25, n - 0.25, 7), 0.5),
    }


def _errors(name: str, dtype: str, evaluate: Callable[..., tuple[Any, Any]]) -> tuple[float, float]:
    """The largest error of the value and of the gradient in the row, over all lengths."""
    worst = [0.0, 0.0]
    for n in _LENGTHS:
        args = _calls(_row(n))[name]
        want = getattr(reference, name)(*args)
        g = np.random.default_rng(n).normal(size=want.shape).astype(dtype)
        jacobian = getattr(reference, f"{name}_jacobian")(*args)[0]
        want_gradient = np.tensordot(g.astype(np.longdouble), jacobian, g.ndim)
        given = [a.astype(dtype) if isinstance(a, np.ndarray) else a for a in args]
        if name == "lap_sum_inverse":
            given[1] = args[1]
        pairs = zip(evaluate(given, g), (want, want_gradient), strict=True)
        for i, (got, exact) in enumerate(pairs):
            error = np.abs(np.asarray(got, np.longdouble) - exact).max()
            size = max(1.0, float(np.abs(exact).max()))
            worst[i] = max(worst[i], float(np.nan_to_num(error, nan=np.inf)) / size)
    return worst[0], worst[1]


def _numpy_errors(name: str, dtype: str) -> tuple[float, float]:
    def evaluate(args: Any, g: Any) -> tuple[Any, Any]:
        return getattr(lapsum, name)(*args), getattr(lapsum, f"{name}_vjp")(*args, g)[0]

    return _errors(name, dtype, evaluate)


def _torch_check(name: str, device: str) -> list[tuple[str, float, float]]:
    import torch

    from lapsum._torch.precision import wide

    def evaluate(args: Any, g: Any) -> tuple[Any, Any]:
        x = torch.tensor(args[0], device=device, requires_grad=True)
        y = getattr(lapsum, name)(x, *args[1:])
        (gradient,) = torch.autograd.grad(y, x, torch.tensor(g, device=device))
        return y.detach().cpu().numpy(), gradient.cpu().numpy()

    has = ["float32", "float64"] if wide(torch.device(device)) == torch.float64 else ["float32"]
    return [(d, *_errors(name, d, evaluate)) for d in has]
