"""Learning to sort pictures of four-digit numbers from their order alone (table 4 of the paper).

A network gives every picture a score; the loss knows only which picture comes first, second, ...
Every method takes the same network, pictures and steps, and trains its own softness.
"""

from __future__ import annotations

from collections.abc import Callable

import data
import report
import torch
import training
from baselines.diffsortnets import log_diffsort
from baselines.neuralsort import log_neuralsort
from baselines.sinkhorn import log_sinkhorn
from baselines.softsort import log_softsort
from networks import small_cnn
from torch import Tensor, nn

import lapsum.nn

PICTURES = 60  # in a batch, whatever n: as many rows as they make
TEST_PICTURES, TEST_ROWS, TEST_SEED = 3000, 5000, 1000
LogMatrix = Callable[[Tensor, Tensor], Tensor]


class MatrixLoss(lapsum.nn.Softness):
    """Cross-entropy of a baseline's matrix: the log of one entry for every element."""

    def __init__(self, log_matrix: LogMatrix, softness: float) -> None:
        super().__init__(softness, trainable=True)
        self.log_matrix = log_matrix

    def forward(self, scores: Tensor, ranks: Tensor) -> Tensor:
        log_p = self.log_matrix(scores, self.alpha.to(scores.dtype))
        return -log_p.gather(-2, ranks.unsqueeze(-2)).mean()


def lapsum_loss(alpha: float) -> nn.Module:
    return lapsum.nn.PermutationCrossEntropyLoss(alpha, trainable=True, descending=True)


def matrix_loss(log_matrix: LogMatrix) -> Callable[[float], nn.Module]:
    return lambda softness: MatrixLoss(log_matrix, softness)


METHODS: dict[str, tuple[Callable[[float], nn.Module], float]] = {  # loss, softness to begin with
    report.OURS: (lapsum_loss, 0.4),
    "NeuralSort": (matrix_loss(log_neuralsort), 1.0),
    "SoftSort": (matrix_loss(log_softsort), 1.6),
    "Sinkhorn": (matrix_loss(log_sinkhorn), 0.2),
    "DiffSortNets": (matrix_loss(log_diffsort), 0.1),
}
NEEDS = {"DiffSortNets": "diffsort"}


def ranks_of(values: Tensor) -> Tensor:
    """The largest has rank 0."""
    return values.argsort(dim=-1, descending=True, stable=True).argsort(-1)


def learn(
    trainer: training.Trainer, digits: data.Images, method: str, softness: float, n: int
) -> tuple[report.Run, list[float]]:
    """Trains and tests one network; also returns the softness after every step."""
    channels, height, width = digits.shape
    network = small_cnn((channels, height, 4 * width), 1)
    criterion = METHODS[method][0](softness)
    rows, track = PICTURES // n, []

    def loss(step: int) -> Tensor:
        pictures, numbers = data.collage(digits.train, rows * n, 4)
        track.append(criterion.alpha.item())
        return criterion(network(pictures).view(rows, n), ranks_of(numbers.view(rows, n)))

    seconds = trainer.fit([network, criterion], loss)
    torch.manual_seed(TEST_SEED)  # the same rows for all
    pictures, numbers = data.collage(digits.test, TEST_PICTURES, 4)
    scores = training.evaluate(network, pictures).squeeze(-1)
    at = torch.randint(TEST_PICTURES, (TEST_ROWS, n))
    right = (ranks_of(scores[at]) == ranks_of(numbers[at])).double()
    exact, element = right.prod(-1).mean().item(), right.mean().item()
    return {"exact": 100 * exact, "element": 100 * element, "seconds": seconds}, track


def main() -> None:
    parser = training.options(__doc__, steps=600, lr=0.01)
    parser.add_argument("--n", type=int, nargs="+", default=[3, 5, 7, 9, 15])
    parser.add_argument("--softness", type=float, help="to begin with, for all methods")
    chosen = training.parse(parser)
    methods, notes = training.available(list(METHODS), chosen.methods, NEEDS)
    digits = data.load(data.GENERATED if chosen.tiny else "mnist", chosen.data)
    lengths = chosen.n[:2] if chosen.tiny else chosen.n
    jobs = [(n, m, seed) for seed in chosen.seeds for n in lengths for m in methods]
    trainer = training.Trainer("sorting", len(jobs), chosen.steps, chosen.lr)
    runs: list[report.Run] = []
    tracks: dict[int, list[float]] = {}
    for n, method, seed in jobs:
        torch.manual_seed(seed)
        softness = chosen.softness or METHODS[method][1]
        result, track = learn(trainer, digits, method, softness, n)
        runs.append({"method": method, "setting": f"n = {n}", "seed": seed, **result})
        report.write(runs, chosen.out / "sorting.csv")
        if method == report.OURS:
            tracks.setdefault(n, track)
    trainer.finish()

    figure, axes = report.figure(11, 3.6, 3)
    for ax, metric, title in zip(axes, ("exact", "element"), ("rows", "elements"), strict=False):
        report.curves(ax, runs, metric, lengths)
        ax.set(xlabel="n", title=f"{title} in the right order, %", xticks=lengths)
    for n, track in tracks.items():
        axes[2].plot(track, lw=1.4, label=f"n = {n}", color=report.shade(n / max(lengths)))
    axes[2].set(xlabel="step", title=f"alpha of {report.OURS}, one seed")
    axes[0].legend(frameon=False)
    axes[2].legend(frameon=False)
    tables = {
        "Rows in exactly the right order, %": report.table(runs, "exact"),
        "Elements at the right position, %": report.table(runs, "element"),
    }
    report.publish("sorting", chosen, {"mnist": digits.source}, tables, notes, figure)


if __name__ == "__main__":
    main()
