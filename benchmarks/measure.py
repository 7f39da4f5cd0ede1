"""Time and memory of calls, in child processes.

The parent imports torch but never computes with it and never imports lapsum, so that it has no
threads: a forked child is as good as a fresh process, without the seconds of importing torch.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import pickle
import resource
import select
import signal
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from cases import BACKWARD, FORWARD, STEP, Case, Inputs, inputs
from check import WrongAnswerError, verify
from subjects import Call, Subject
from torch import Tensor

THREADS = 2
MEMORY_SHARE = 0.6  # of what is free: beyond it a child is out of memory
OK, WRONG = "ok", "WRONG"
PR_SET_PDEATHSIG, PR_SET_THP_DISABLE = 1, 41


@dataclass(frozen=True)
class Outcome:
    """What a child came back with: its status, and its value if that is OK."""

    status: str
    value: Any = None


def in_child(work: Callable[[], Any], limit: float) -> Outcome:
    """Runs `work` in a forked child, and kills it after `limit` seconds."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _serve(work, write)
    os.close(write)
    deadline, data = time.monotonic() + limit, b""
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([read], [], [], left)[0]:
                return Outcome(f"stopped: over {limit:g} s")
            if not (part := os.read(read, 1 << 20)):
                break
            data += part
    finally:
        os.close(read)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return pickle.loads(data) if data else Outcome("died, perhaps for want of memory")


def _serve(work: Callable[[], Any], write: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # nobody would stop it otherwise
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    try:
        most = 1024 * (_kilobytes("/proc/self/status", "VmSize") + int(MEMORY_SHARE * _free()))
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        torch.set_num_threads(THREADS)
        outcome = Outcome(OK, work())
    except WrongAnswerError as error:
        outcome = Outcome(f"{WRONG}: {error}")
    except ImportError as error:
        outcome = Outcome(f"not installed: {error}")
    except MemoryError:
        outcome = Outcome("out of memory")
    except BaseException as error:
        text = " ".join(str(error).split())
        short_of_memory = "allocate memory" in text or "bad_alloc" in text
        outcome = Outcome("out of memory" if short_of_memory else f"failed: {text[:100]}")
    with os.fdopen(write, "wb") as out:
        pickle.dump(outcome, out)
    os._exit(0)


def _kilobytes(path: str, key: str) -> int:
    lines = Path(path).read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key + ":")).split()[1])


def _free() -> int:
    return _kilobytes("/proc/meminfo", "MemAvailable")


# --- one call ------------------------------------------------------------------------------------


class Run:
    """A subject on a case: `step` is what is measured.

    Backward starts from a random gradient, as large as the result, as it would in training;
    the mode "step" is the shortest line that users write, `call().sum().backward()`.
    """

    def __init__(self, case: Case, subject: Subject, mode: str, given: Inputs) -> None:
        self.given, self.g = given, torch.empty(0)
        self.call = subject.prepare(case, given)
        self.step = {FORWARD: self.call, BACKWARD: self._both, STEP: self._sum}[mode]

    def _both(self) -> Tensor:
        self.given.x.grad = self.given.values.grad = None  # the gradient is allocated, not added
        out = self.call()
        if self.g.numel() == 0:
            self.g = torch.randn_like(out)
        out.backward(self.g)
        return out

    def _sum(self) -> Tensor:
        out = self.call()
        out.sum().backward()
        return out

    def verify(self, case: Case, mode: str) -> None:
        self.given.x.grad = self.given.values.grad = None
        out = self.step()
        g = {FORWARD: None, BACKWARD: self.g, STEP: torch.ones_like(out)}[mode]
        verify(case, self.given, out, g)


def peak_memory(case: Case, subject: Subject, mode: str) -> int:
    """Bytes at the peak of one call.

    They are the growth of the peak resident set of this process, which has made the inputs but
    never called the subject on this shape: results, gradients, what is kept for backward, scratch.
    Huge pages are off, so that a page is 4 KB. The kernel counts pages in batches: figures below
    half a megabyte are noise.
    """
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    k = case.k if isinstance(case.k, tuple) else min(5.0, case.k)
    small = replace(case, rows=min(case.rows, 2), n=16, k=k)
    gradients = mode != FORWARD
    Run(small, subject, mode, inputs(small, gradients=gradients)).step()  # loads code and threads
    run = Run(case, subject, mode, inputs(case, gradients=gradients))
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _kilobytes("/proc/self/status", "VmRSS")
    out = run.step()
    after = _kilobytes("/proc/self/status", "VmHWM")
    del out
    return 1024 * max(0, after - before)


# --- many calls ----------------------------------------------------------------------------------

BATCH = 0.005  # seconds: short calls are timed several at once
SLOW = 0.05  # seconds: beyond it, the first call is as good as any to plan with
LEAST_ROUNDS, MOST_ROUNDS = 5, 41


def _seconds(step: Call, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        step()
    return (time.perf_counter() - start) / calls


def alternate(steps: Sequence[Call], budget: float) -> list[float]:
    """The median seconds of each step; the steps take turns, within about `budget` seconds."""
    single = []
    for step in steps:
        first = _seconds(step, 1)
        single.append(first if first > SLOW else _seconds(step, 1))
    calls = [max(1, math.ceil(BATCH / t)) for t in single]
    rounds = int(budget / sum(max(BATCH, t) for t in single))
    rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, rounds))
    gc.collect()
    gc.disable()
    times: list[list[float]] = [[] for _ in steps]
    for _ in range(rounds):
        for i, step in enumerate(steps):
            if calls[i] > 1:
                step()  # what the one before left in the caches is not this one's affair
            times[i].append(_seconds(step, calls[i]))
    gc.enable()
    return [statistics.median(t) for t in times]


def race(case: Case, subjects: Sequence[Subject], mode: str, budget: float) -> list[float]:
    """Checks the exact subjects, then times all of them in turns."""
    data = inputs(case, gradients=False)
    gradients = mode != FORWARD
    runs = []
    for subject in subjects:
        own = Inputs(*(t.detach().requires_grad_(gradients) for t in (data.x, data.values)))
        run = Run(case, subject, mode, own)
        if subject.exact:
            run.verify(case, mode)
        runs.append(run)
    return alternate([run.step for run in runs], budget)


def sum_error(case: Case, subject: Subject) -> float:
    """|sum p - k| of a mask, summed in float64."""
    given = inputs(case, gradients=False)
    p = subject.prepare(case, given)()
    return abs(float(p[0].double().sum()) - case.levels_of_row(0)[0])
