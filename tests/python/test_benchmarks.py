"""The harness of benchmarks/ on tiny sizes: its files appear, and wrong answers are not timed."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the benchmarks measure the torch front end")
pytest.importorskip("matplotlib", reason="the benchmarks draw figures")

HARNESS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(HARNESS))
from cases import BACKWARD, FORWARD, Case  # noqa: E402
from check import WrongAnswerError  # noqa: E402
from measure import race  # noqa: E402
from subjects import OURS, find  # noqa: E402

MODES = [FORWARD, BACKWARD]
CASES = [
    Case("soft_topk", 2, 300, 5),
    Case("soft_topk", 2, 300, 150.3, alpha=1e-4, dtype="float64"),
    Case("soft_topk", 2, 60, (1.0, 2.0, 3.0)),
    Case("log_soft_topk", 2, 300, 5),
    Case("soft_rank", 2, 300),
    Case("soft_sort", 2, 300),
    Case("soft_sort", 2, 30),
    Case("soft_quantile", 2, 300, 270),
    Case("soft_permute", 2, 300),
    Case("soft_permutation", 2, 12),
]


def test_the_harness_writes_its_tables_and_figures(tmp_path):
    run = subprocess.run(
        [sys.executable, HARNESS / "run.py", "--tiny", "--out", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "goals met" in run.stdout
    with (tmp_path / "measurements.csv").open() as file:
        lines = list(csv.DictReader(file))
    ours = [line for line in lines if line["library"] == OURS]
    assert {line["operation"] for line in ours} == {case.operation for case in CASES}
    assert {line["mode"] for line in ours} == set(MODES)
    assert all(line["status"] == "ok" and float(line["seconds"]) > 0 for line in ours)
    assert all(line["status"] for line in lines)
    with (tmp_path / "errors.csv").open() as file:
        errors = [line for line in csv.DictReader(file) if line["library"] == OURS]
    assert errors
    assert all(float(line["error"]) < 1e-4 for line in errors)
    assert (tmp_path / "goals.csv").stat().st_size > 0
    for name in ("topk_half", "topk_5", "soft_sort", "soft_rank", "error"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.operation}-{c.n}-{c.k_text}")
def test_only_right_answers_are_timed(case, mode):
    ours = find(OURS, case.operation)
    assert race(case, [ours], mode, budget=0)[0] > 0

    def wrong_value(case, given):
        call = ours.prepare(case, given)
        return lambda: call() * 1.001

    with pytest.raises(WrongAnswerError):
        race(case, [replace(ours, prepare=wrong_value)], mode, budget=0)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.operation}-{c.n}-{c.k_text}")
def test_wrong_gradients_are_not_timed(case):
    ours = find(OURS, case.operation)

    def wrong_gradient(case, given):
        call = ours.prepare(case, given)

        def tilted():
            out = call()
            return out.detach() + 1.01 * (out - out.detach())

        return tilted

    with pytest.raises(WrongAnswerError):
        race(case, [replace(ours, prepare=wrong_gradient)], BACKWARD, budget=0)
