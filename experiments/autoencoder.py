"""A sparse autoencoder: as good a reconstruction as k active features of many allow.

Hard top-k passes gradients to the chosen features only. The soft mask reaches the others, and k, so
that a network can predict k for every image from the same mean; alpha is annealed until the mask is
hard. All are tested with hard masks.
"""

from __future__ import annotations

import data
import report
import torch
import training
from torch import Tensor, nn

import lapsum.nn

FEATURES, BATCH = 512, 100
ALPHA = (1.0, 0.01)  # from, to: the spread of the features is about 1
METHODS = ("hard top-k", "LapSum, k fixed", "LapSum, k predicted")


class SparseAutoencoder(nn.Module):
    """Decodes the features that a top-k mask lets through; the mean of k over a batch is given."""

    def __init__(self, centre: Tensor, k: float, method: str) -> None:
        super().__init__()
        size = len(centre)
        self.encode, self.decode = nn.Linear(size, FEATURES), nn.Linear(FEATURES, size)
        self.effort = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 1), nn.Softplus())
        self.choose = lapsum.nn.SoftTopK(alpha=ALPHA[0])
        self.k, self.method = k, method
        with torch.no_grad():
            self.decode.bias.copy_(centre)
            self.encode.weight.copy_(self.decode.weight.T)

    def levels(self, x: Tensor) -> Tensor:
        """How many features each image may use."""
        if self.method != METHODS[2]:
            return torch.full(x.shape[:1], self.k)
        effort = self.effort(x).squeeze(-1) + 0.01
        return (self.k * effort / effort.mean()).clamp(1, FEATURES / 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Reconstructions, and the features that made them."""
        features = self.encode(x - self.decode.bias).relu()
        self.choose.hard = not self.training
        if self.method == METHODS[0]:
            kept = features.topk(int(self.k))
            features = torch.zeros_like(features).scatter(-1, kept.indices, kept.values)
        else:
            features = features * self.choose(features, self.levels(x))
        return self.decode(features), features


def learn(trainer: training.Trainer, images: data.Images, method: str, k: int) -> report.Run:
    pixels = images.train[0].flatten(1)
    model = SparseAutoencoder(pixels.mean(0), k, method)
    schedule = lapsum.AlphaSchedule(*ALPHA, max(1, trainer.steps * 4 // 5), model)

    def loss(step: int) -> Tensor:
        x = pixels[torch.randint(len(pixels), (BATCH,))]
        out, _ = model(x)
        schedule.step()
        return (out - x).square().mean()

    seconds = trainer.fit([model], loss)
    test = images.test[0].flatten(1)
    model.eval()
    with torch.no_grad():
        out, features = model(test)  # one batch: the mean of k is over all of the test
    error = (out - test).square().sum() / (test - pixels.mean(0)).square().sum()
    active = features != 0
    return {
        "error": 100 * error.item(),
        "active": active.sum(-1).double().mean().item(),
        "unused": 100 * (~active.any(0)).double().mean().item(),
        "seconds": seconds,
    }


def main() -> None:
    parser = training.options(__doc__, steps=400, lr=0.003)
    parser.add_argument("--k", type=int, nargs="+", default=[4, 8, 16, 32])
    chosen = training.parse(parser)
    methods, notes = training.available(METHODS, chosen.methods, {})
    name = data.GENERATED if chosen.tiny else "fashion"
    images = data.load(name, chosen.data, 20000)
    jobs = [(k, method, seed) for seed in chosen.seeds for k in chosen.k for method in methods]
    trainer = training.Trainer("autoencoder", len(jobs), chosen.steps, chosen.lr)
    runs: list[report.Run] = []
    for k, method, seed in jobs:
        torch.manual_seed(seed)
        result = learn(trainer, images, method, k)
        runs.append({"method": method, "setting": f"k = {k}", "seed": seed, **result})
        report.write(runs, chosen.out / "autoencoder.csv")
    trainer.finish()

    titles = {
        "error": "Reconstruction error, % of the variance",
        "active": "Active features, mean per image",
        "unused": "Features that no test image uses, %",
    }
    figure, axes = report.figure(10, 3.4, 2)
    for ax, metric in zip(axes, ("error", "unused"), strict=True):
        report.curves(ax, runs, metric, chosen.k)
        ax.set(xlabel="active features, mean", title=titles[metric], xscale="log")
        ax.set_xticks(chosen.k, [str(k) for k in chosen.k])
        ax.minorticks_off()
    axes[0].legend(frameon=False)
    tables = {
        title: report.table(runs, metric, 2, None if metric == "active" else min)
        for metric, title in titles.items()
    }
    report.publish("autoencoder", chosen, {name: images.source}, tables, notes, figure)


if __name__ == "__main__":
    main()
