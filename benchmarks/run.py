"""Measures everything, writes build/bench/ and prints tables; with --short only the goals.

Run on an idle machine: make bench, or make bench-short.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import goals
from cases import BACKWARD, FORWARD, Case, sweep, tiny, users
from measure import OK, WRONG, Outcome, in_child, peak_memory, race, sum_error
from progress import progress
from subjects import OURS, PEERS, Subject, find, subjects_of

BUSY = 0.7  # load of the last minute, before we add ours
OUR_PATIENCE = 10  # limits: ours is to be measured, however slow
SWEEP = [10**e for e in range(2, 8)]
ERROR_LIBRARIES = (OURS, "difftopk", "difftopk SoftSort", "difftopk NeuralSort")
EXPONENTS = {
    ("soft_topk", "sweep k = n/2"): 1.05,
    ("soft_topk", "sweep k = 5"): 1.05,
    ("soft_sort", "sweep"): 1.1,
    ("soft_rank", "sweep"): 1.1,
}
COLUMNS = [
    *("operation", "library", "shape", "dtype", "alpha", "k", "mode"),
    *("seconds", "peak_bytes", "ratio", "group", "input", "status"),
]


@dataclass(frozen=True)
class Record:
    """One line of measurements.csv; `ratio` is the time of lapsum over the time of the library."""

    case: Case
    mode: str
    library: str
    status: str
    seconds: float = math.nan
    peak: float = math.nan
    ratio: float = math.nan

    def line(self) -> list[object]:
        c = self.case
        measured = [
            "" if math.isnan(v) else f"{v:.6g}" for v in (self.seconds, self.peak, self.ratio)
        ]
        data = "relu" if c.relu else "normal"
        what = [c.operation, self.library, c.shape, c.dtype, c.alpha, c.k_text, self.mode]
        return [*what, *measured, c.group, data, self.status]


@dataclass(frozen=True)
class Plan:
    """How much is measured; budgets are seconds for a point."""

    points: list[tuple[Case, str]]
    budget: float
    error_lengths: list[int]
    error_n: int
    error_levels: list[int]
    exponents_over: tuple[int, int]
    goal_budget: float
    largest_goal: int | None = None  # in elements


def full_plan() -> Plan:
    return Plan(
        points=[(c, mode) for c in (*sweep(SWEEP), *users()) for mode in (FORWARD, BACKWARD)],
        budget=2.0,
        error_lengths=SWEEP,
        error_n=1000,
        error_levels=[1, 10, 100, 250, 500, 750, 990],
        exponents_over=(10**4, 10**7),
        goal_budget=0.5,
    )


def tiny_plan() -> Plan:
    return Plan(
        points=[(c, (FORWARD, BACKWARD)[i % 2]) for i, c in enumerate(tiny())],
        budget=0.02,
        error_lengths=[20],
        error_n=50,
        error_levels=[5, 25],
        exponents_over=(20, 40),
        goal_budget=0.02,
        largest_goal=100,
    )


# --- measuring -----------------------------------------------------------------------------------


class Stops:
    """Who was stopped at which length of a sweep: it is not tried at greater ones."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, str, str, str], int] = {}

    def note(self, case: Case, mode: str, library: str, status: str) -> None:
        if case.group.startswith("sweep") and status != OK:
            self._at.setdefault((case.operation, case.group, mode, library), case.n)

    def reason(self, case: Case, mode: str, library: str) -> str:
        for tried in (FORWARD, mode):  # who fails forward will not do better with backward
            n = self._at.get((case.operation, case.group, tried, library))
            if n is not None:
                return f"not tried: no result {tried} at n = {n}"
        return ""


def measure(case: Case, mode: str, limit: float, budget: float, stops: Stops) -> list[Record]:
    """All libraries on one case: each alone for its memory, then those that came back in turns."""
    records: dict[str, Record] = {}
    racers: list[Subject] = []
    for subject in subjects_of(case.operation):
        if mode != FORWARD and not subject.differentiable:
            continue
        library = subject.library
        status, peak = stops.reason(case, mode, library), math.nan
        if not status:
            patience = OUR_PATIENCE * limit if library == OURS else limit
            outcome = in_child(lambda s=subject: peak_memory(case, s, mode), patience)
            status = outcome.status
            stops.note(case, mode, library, status)
            if status == OK:
                peak = outcome.value
                racers.append(subject)
        records[library] = Record(case, mode, library, status, peak=peak)
    outcome = in_child(lambda: race(case, racers, mode, budget), 60 * limit)
    if outcome.status.startswith(WRONG):
        wrong = [s.library for s in racers if s.exact]
        records |= {w: Record(case, mode, w, outcome.status) for w in wrong}
        racers = [s for s in racers if not s.exact]
        outcome = in_child(lambda: race(case, racers, mode, budget), 60 * limit)
    for i, subject in enumerate(racers):
        record = records[subject.library]
        if outcome.status == OK:
            seconds = outcome.value[i]
            ratio = outcome.value[0] / seconds if racers[0].library == OURS else math.nan
            record = replace(record, seconds=seconds, ratio=ratio)
        else:
            record = replace(record, status=f"together: {outcome.status}")
        records[subject.library] = record
    return list(records.values())


def measure_all(plan: Plan, out: Path, limit: float) -> list[Record]:
    stops, records = Stops(), []
    with (out / "measurements.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for case, mode in progress(plan.points, "measurements"):
            new = measure(case, mode, limit, plan.budget, stops)
            writer.writerows(record.line() for record in new)
            file.flush()
            records += new
    return records


def measure_errors(plan: Plan, out: Path, limit: float) -> list[list[object]]:
    """|sum p - k| against n with k = n/2, and against k for one n."""
    cases = [Case("soft_topk", 1, n, n // 2, group="n") for n in plan.error_lengths]
    cases += [Case("soft_topk", 1, plan.error_n, k, group="k") for k in plan.error_levels]
    points = [(c, library) for library in ERROR_LIBRARIES for c in cases]
    rows: list[list[object]] = []
    lost: set[tuple[str, str]] = set()
    for case, library in progress(points, "errors"):
        for dtype in ("float32", "float64") if library == OURS else ("float32",):
            case = replace(case, dtype=dtype)
            outcome = Outcome("not tried: no result for a smaller one")
            if (library, case.group) not in lost:
                subject = find(library, "soft_topk")
                outcome = in_child(lambda c=case, s=subject: sum_error(c, s), limit)
            if outcome.status != OK:
                lost.add((library, case.group))
            error = f"{outcome.value:.6g}" if outcome.status == OK else ""
            rows.append([case.group, library, dtype, case.n, case.k, error, outcome.status])
    with (out / "errors.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["against", "library", "dtype", "n", "k", "error", "status"])
        writer.writerows(rows)
    return rows


# --- reporting -----------------------------------------------------------------------------------


def ratios_table(records: Sequence[Record]) -> str:
    """For every point ours in ms and MB, and ours / theirs for every other library."""
    lines = ["Time ratios, lapsum / other; below 1 lapsum is faster."]
    for (case, mode), group in _grouped(records).items():
        ours = next(r for r in group if r.library == OURS)
        head = f"{case.operation:16} {case.shape:12} {case.dtype:8} alpha {case.alpha:<6g} "
        head += (
            f"k {case.k_text:14} {mode:16} {1e3 * ours.seconds:10.3f} ms {ours.peak / 1e6:8.1f} MB"
        )
        if ours.status != OK:
            head += f" {ours.status}"
        others = [r for r in group if r.library != OURS]
        parts = [f"{r.library} {r.ratio:.3g}" for r in others if r.status == OK]
        lines.append(f"{head}  {', '.join(parts)}")
    reasons = {(r.library, r.case.operation, r.case.shape, r.status): None for r in records}
    missing = [r for r in reasons if r[3] != OK and not r[3].startswith("not tried")]
    if missing:
        lines.append("\nNot measured:")
        lines += [f"  {lib}, {op} {shape}: {status}" for lib, op, shape, status in missing]
    return "\n".join(lines)


def _grouped(records: Sequence[Record]) -> dict[tuple[Case, str], list[Record]]:
    groups: dict[tuple[Case, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.case, record.mode), []).append(record)
    return groups


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """The slope of log seconds against log n, by least squares."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(t) for _, t in points]
    x0, y0 = sum(xs) / len(xs), sum(ys) / len(ys)
    over = sum((x - x0) ** 2 for x in xs)
    return sum((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True)) / over


def exponents_table(records: Sequence[Record], lengths: tuple[int, int]) -> str:
    lines = [f"Exponents of time against n, from {lengths[0]:.0e} to {lengths[1]:.0e}:"]
    for (operation, group), goal in EXPONENTS.items():
        for mode in (FORWARD, BACKWARD):
            points = [
                (r.case.n, r.seconds)
                for r in records
                if (r.case.operation, r.case.group, r.mode) == (operation, group, mode)
                and r.library == OURS
                and r.status == OK
                and lengths[0] <= r.case.n <= lengths[1]
            ]
            name = f"{operation} {group.removeprefix('sweep').strip()}"
            if len(points) < 2:
                lines.append(f"  {name:22} {mode:17} not enough points")
                continue
            slope = exponent(points)
            mark = "" if slope <= goal else "  MISSED"
            lines.append(f"  {name:22} {mode:17} {slope:5.2f}  goal {goal:4.2f}{mark}")
    return "\n".join(lines)


def _load(peer: str) -> str:
    importlib.import_module(peer)
    return version(peer)


def peers_table() -> str:
    outcomes = {peer: in_child(lambda p=peer: _load(p), 60) for peer in PEERS}
    found = [f"{p} {o.value if o.status == OK else o.status}" for p, o in outcomes.items()]
    return "Peers: " + "; ".join(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="only the goals, in under 3 minutes")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes, to test the harness")
    parser.add_argument("--group", default="", help="only points whose group begins so: sweep")
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    parser.add_argument("--limit", type=float, default=10, help="seconds for one call of a peer")
    options = parser.parse_args()
    plan = tiny_plan() if options.tiny else full_plan()
    if options.short:
        plan = replace(plan, goal_budget=0.15)
    plan = replace(plan, points=[p for p in plan.points if p[0].group.startswith(options.group)])
    options.out.mkdir(parents=True, exist_ok=True)

    if os.getloadavg()[0] > BUSY:
        print(f"The machine is busy (load {os.getloadavg()[0]:.1f}): do not trust these figures.")
    records: list[Record] = []
    if not options.short:
        print(peers_table(), flush=True)
        records = measure_all(plan, options.out, options.limit)
        errors = measure_errors(plan, options.out, options.limit)
        from figures import draw  # late: it brings matplotlib, which the short mode does without

        draw(records, errors, options.out)
        print(ratios_table(records), end="\n\n")
        print(exponents_table(records, plan.exponents_over), end="\n\n")

    chosen = goals.read_goals(plan.largest_goal)
    verdicts = [goals.judge(goal, plan.goal_budget) for goal in progress(chosen, "goals")]
    goals.write(verdicts, options.out / "goals.csv")
    print(goals.table(verdicts))
    print(f"{sum(v.met for v in verdicts)} of {len(verdicts)} goals met")
    wrong = [s.status for s in (*records, *verdicts) if s.status.startswith(WRONG)]
    if wrong:
        print(f"{len(wrong)} wrong answers, not timed", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
