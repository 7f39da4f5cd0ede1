"""Top-k classification: the right class should be among the first j, j drawn from P_j (table 1).

On Fashion-MNIST (10 classes), on pairs of its images side by side (100 classes), and on CIFAR-100
where a folder has it. Peers are the losses of PyPI's difftopk, as their authors advise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import data
import report
import torch
import training
from networks import small_cnn
from torch import Tensor, nn

import lapsum.nn

BATCH, TEST = 100, 5000
FIVE, EVEN = (0.0, 0.0, 0.0, 0.0, 1.0), (0.2, 0.2, 0.2, 0.2, 0.2)
SPREADS = {"P_j = [0, 0, 0, 0, 1]": FIVE, "P_j = [.2, .2, .2, .2, .2]": EVEN}
TASKS = {"fashion": ("fashion", 1), "fashion pairs": ("fashion", 2), "cifar100": ("cifar100", 1)}
FEWER = 16  # logits that difftopk's sorting network sees, where there are more


def difftopk_loss(kind: str, steepness: float, p_k: tuple[float, ...], classes: int) -> nn.Module:
    from difftopk import TopKCrossEntropyLoss

    few = FEWER if kind == "odd_even" and classes > FEWER else None
    return TopKCrossEntropyLoss(kind, steepness, list(p_k), classes, few, distribution="cauchy")


def lapsum_loss(alpha: float, p_k: tuple[float, ...], classes: int) -> nn.Module:
    return lapsum.nn.TopKCrossEntropyLoss(p_k, alpha)


METHODS: dict[str, Callable[..., nn.Module]] = {
    "cross-entropy": lambda p_k, classes: nn.CrossEntropyLoss(),
    "NeuralSort": partial(difftopk_loss, "neuralsort", 0.3),
    "SoftSort": partial(difftopk_loss, "softsort", 3.0),
    "DiffSortNets": partial(difftopk_loss, "odd_even", 10.0),
    report.OURS: partial(lapsum_loss, 0.2),
}
NEEDS = dict.fromkeys(("NeuralSort", "SoftSort", "DiffSortNets"), "difftopk")


def learn(
    trainer: training.Trainer, images: data.Images, tiles: int, method: str, p_k: tuple[float, ...]
) -> report.Run:
    channels, height, width = images.shape
    classes = images.classes**tiles
    network = small_cnn((channels, height, tiles * width), classes)
    criterion = METHODS[method](p_k, classes)

    def loss(step: int) -> Tensor:
        pictures, target = data.collage(images.train, BATCH, tiles)
        return criterion(network(pictures), target)

    seconds = trainer.fit([network, criterion], loss)
    torch.manual_seed(0)  # the same pictures for all
    pictures, target = data.collage(images.test, TEST, tiles) if tiles > 1 else images.test
    first = training.evaluate(network, pictures).topk(5).indices == target.unsqueeze(-1)
    top1, top5 = first[:, 0].double().mean().item(), first.any(-1).double().mean().item()
    return {"top1": 100 * top1, "top5": 100 * top5, "seconds": seconds}


def main() -> None:
    parser = training.options(__doc__, steps=300, lr=0.005)
    parser.add_argument("--tasks", nargs="+", default=["fashion", "fashion pairs"], choices=TASKS)
    chosen = training.parse(parser)
    methods, notes = training.available(list(METHODS), chosen.methods, NEEDS)
    kinds = {name: TASKS[name] for name in chosen.tasks}
    if chosen.tiny:
        kinds = {"generated": (data.GENERATED, 1), "generated pairs": (data.GENERATED, 2)}
    loaded = {name: data.load(name, chosen.data) for name, _ in kinds.values()}
    jobs = [
        (task, p, method, seed)
        for seed in chosen.seeds
        for task in kinds
        for method in methods
        for p in (SPREADS if method != "cross-entropy" else [""])
    ]
    trainer = training.Trainer("topk", len(jobs), chosen.steps, chosen.lr)
    runs: list[report.Run] = []
    for task, p, method, seed in jobs:
        torch.manual_seed(seed)
        name, tiles = kinds[task]
        result = learn(trainer, loaded[name], tiles, method, SPREADS.get(p, FIVE))
        runs.append({"method": method, "setting": task, "p_j": p, "seed": seed, **result})
        report.write(runs, chosen.out / "topk.csv")
    trainer.finish()

    figure, axes = report.figure(11, 2.6, 4)
    tables = {}
    for i, p in enumerate(SPREADS):
        with_p = [run for run in runs if run["p_j"] in (p, "")]
        for j, metric in enumerate(("top1", "top5")):
            title = f"{metric.replace('top', 'Top-')} accuracy, %, {p}"
            tables[title] = report.table(with_p, metric)
            ax = axes[2 * i + j]
            report.bars(ax, with_p, metric, list(kinds)[-1])
            ax.set(title=f"{metric}\n{p}")
            if ax is not axes[0]:
                ax.set_yticklabels([])
    figure.suptitle(f"{list(kinds)[-1]}: test accuracy, %", fontsize=11)
    sources = {name: images.source for name, images in loaded.items()}
    report.publish("topk", chosen, sources, tables, notes, figure)


if __name__ == "__main__":
    main()
