"""Classification by the k nearest neighbours in a space that was trained for it (table 3).

A network embeds the images; of the 9 nearest among 100 random candidates as many as possible should
have the right label. The test is the vote of the 9 nearest training images.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import data
import report
import torch
import training
from baselines.neuralsort import log_neuralsort
from baselines.softsort import log_softsort
from networks import small_cnn
from torch import Tensor, nn

import lapsum.nn

K, QUERIES, CANDIDATES, FEATURES, COMPONENTS = 9, 100, 100, 32, 50
DATA = ("mnist", "fashion", "cifar10")
LogFirst = Callable[[Tensor, Tensor, int], Tensor]


class FirstKLoss(lapsum.nn.Softness):
    """The same loss by the first k positions of a baseline's matrix."""

    def __init__(self, log_first: LogFirst, softness: float) -> None:
        super().__init__(softness, trainable=True)
        self.log_first = log_first

    def forward(self, q: Tensor, c: Tensor, q_labels: Tensor, c_labels: Tensor) -> Tensor:
        nearness = -(q.unsqueeze(-2) - c).square().sum(-1)
        log_p = self.log_first(nearness, self.alpha.to(q.dtype), K)
        wrong = (q_labels.unsqueeze(-1) != c_labels).unsqueeze(-2)
        share = log_p.masked_fill(wrong, -math.inf).flatten(-2).logsumexp(-1) - math.log(K)
        return -share.mean()


METHODS: dict[str, Callable[[], nn.Module] | None] = {  # None: no loss of neighbours
    "kNN of pixels": None,
    "kNN of principal components": None,
    "cross-entropy, the network": None,
    "cross-entropy, kNN of features": None,
    "NeuralSort": lambda: FirstKLoss(log_neuralsort, 30.0),
    "SoftSort": lambda: FirstKLoss(log_softsort, 0.3),
    report.OURS: lambda: lapsum.nn.KNNLoss(K, 3.0, trainable=True),
}
PLAIN = ("kNN of pixels", "kNN of principal components")


def vote(spaces: tuple[Tensor, Tensor], labels: Tensor) -> Tensor:
    """The label that most of the K nearest training points have, for every test point."""
    train, test = spaces
    near = [torch.cdist(part, train).topk(K, largest=False).indices for part in test.split(500)]
    return labels[torch.cat(near)].mode(-1).values


def components(train: Tensor, test: Tensor) -> tuple[Tensor, Tensor]:
    mean = train.mean(0)
    directions = torch.linalg.eigh(torch.cov((train - mean).T)).eigenvectors[:, -COMPONENTS:]
    return (train - mean) @ directions, (test - mean) @ directions


def predict(trainer: training.Trainer, images: data.Images, method: str) -> Tensor:
    """The labels of the test images, by one method."""
    (train, labels), test = images.train, images.test[0]
    if method in PLAIN:
        pixels = train.flatten(1), test.flatten(1)
        return vote(pixels if method == PLAIN[0] else components(*pixels), labels)
    make = METHODS[method]
    network = small_cnn(images.shape, FEATURES if make else images.classes)
    criterion = make() if make else nn.CrossEntropyLoss()

    def loss(step: int) -> Tensor:
        x, y = training.batch_of(images.train, QUERIES + CANDIDATES)
        out = network(x)
        if not make:
            return criterion(out, y)
        return criterion(out[:QUERIES], out[QUERIES:], y[:QUERIES], y[QUERIES:])

    trainer.fit([network, criterion], loss)
    if method == "cross-entropy, the network":
        return training.evaluate(network, test).argmax(-1)
    space = network if make else network[:-1]
    return vote((training.evaluate(space, train), training.evaluate(space, test)), labels)


def main() -> None:
    parser = training.options(__doc__, steps=400, lr=0.005)
    parser.add_argument("--sets", nargs="+", default=["mnist", "fashion"], choices=DATA)
    parser.add_argument("--limit", type=int, default=10000, help="of training images")
    chosen = training.parse(parser)
    methods, notes = training.available(list(METHODS), chosen.methods, {})
    sets = [data.GENERATED] if chosen.tiny else chosen.sets
    loaded = {name: data.load(name, chosen.data, chosen.limit) for name in sets}
    jobs = [(name, m, s) for s in chosen.seeds for name in sets for m in methods]
    jobs = [(n, m, s) for n, m, s in jobs if m not in PLAIN or s == chosen.seeds[0]]
    trained = sum(m not in PLAIN for _, m, _ in jobs)
    trainer = training.Trainer("knn", trained, chosen.steps, chosen.lr)
    runs: list[report.Run] = []
    for name, method, seed in jobs:
        torch.manual_seed(seed)
        images = loaded[name]
        right = predict(trainer, images, method) == images.test[1]
        accuracy = 100 * right.double().mean().item()
        runs.append({"method": method, "setting": name, "seed": seed, "accuracy": accuracy})
        report.write(runs, chosen.out / "knn.csv")
    trainer.finish()

    figure, axes = report.figure(10, 3.2, len(sets))
    for ax, name in zip(axes, sets, strict=True):
        report.bars(ax, runs, "accuracy", name)
        ax.set(title=name, xlabel="test accuracy, %")
    for ax in axes[1:]:
        ax.set_yticklabels([])
    tables = {"Test accuracy, %": report.table(runs, "accuracy", 2)}
    sources = {name: images.source for name, images in loaded.items()}
    report.publish("knn", chosen, sources, tables, notes, figure)


if __name__ == "__main__":
    main()
