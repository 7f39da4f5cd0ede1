"""Goals: for each line of goals.csv, the worst ratio ours / theirs over its alphas and levels."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from cases import Case, level
from measure import OK, in_child, race
from subjects import OURS, find

TABLE = Path(__file__).with_name("goals.csv")
LIMIT = 120.0  # seconds for a line


@dataclass(frozen=True)
class Goal:
    """One line of the table."""

    operation: str
    mode: str
    dtype: str
    against: str
    shape: str
    alphas: str
    ks: str
    goal: float
    regime: str

    def cases(self) -> list[Case]:
        rows, n = map(int, self.shape.split("x"))
        return [
            Case(self.operation, rows, n, level(k, n), float(alpha), self.dtype)
            for alpha in self.alphas.split()
            for k in self.ks.split() or [""]
        ]


@dataclass
class Verdict:
    """A goal with what was measured: the worst ratio and where it was found."""

    goal: Goal
    status: str
    ratio: float = field(default=float("nan"))
    seconds: float = field(default=float("nan"))
    alpha: float = 0.0
    k: str = ""

    @property
    def met(self) -> bool:
        return self.status == OK and self.ratio <= self.goal.goal


def read_goals(largest: int | None = None) -> list[Goal]:
    """All goals, or those on at most `largest` elements."""
    with TABLE.open() as file:
        goals = [Goal(**(line | {"goal": float(line["goal"])})) for line in csv.DictReader(file)]
    return [g for g in goals if largest is None or g.cases()[0].rows * g.cases()[0].n <= largest]


def judge(goal: Goal, budget: float) -> Verdict:
    pair = [find(OURS, goal.operation), find(goal.against, goal.operation)]
    cases = goal.cases()
    outcome = in_child(lambda: [race(c, pair, goal.mode, budget) for c in cases], LIMIT)
    if outcome.status != OK:
        return Verdict(goal, outcome.status)
    ratios = [ours / theirs for ours, theirs in outcome.value]
    worst = max(range(len(cases)), key=ratios.__getitem__)
    case = cases[worst]
    return Verdict(goal, OK, ratios[worst], outcome.value[worst][0], case.alpha, case.k_text)


def table(verdicts: Iterable[Verdict]) -> str:
    lines = [
        f"{'operation':13} {'mode':17} {'dtype':8} {'shape':10} {'against':13} {'regime':19} "
        f"{'ms':>9} {'ratio':>7} {'goal':>6}  worst at"
    ]
    for v in verdicts:
        g = v.goal
        what = f"{g.operation:13} {g.mode:17} {g.dtype:8} {g.shape:10} {g.against:13} {g.regime:19}"
        if v.status != OK:
            lines.append(f"{what} {v.status}")
            continue
        where = f"alpha {v.alpha:g}" + (f", k {v.k}" if v.k else "")
        numbers = f"{1e3 * v.seconds:9.3f} {v.ratio:7.3f} {g.goal:6.3g}"
        lines.append(f"{what} {numbers}  {where:26}{'' if v.met else ' MISSED'}".rstrip())
    return "\n".join(lines)


def write(verdicts: Iterable[Verdict], path: Path) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        columns = ["operation", "mode", "dtype", "shape", "against", "regime"]
        out.writerow([*columns, "alpha", "k", "seconds", "ratio", "goal", "met", "status"])
        for v in verdicts:
            what = [getattr(v.goal, name) for name in columns]
            measured = [v.alpha, v.k, f"{v.seconds:.6g}", f"{v.ratio:.4g}"]
            out.writerow([*what, *measured, v.goal.goal, v.met, v.status])
