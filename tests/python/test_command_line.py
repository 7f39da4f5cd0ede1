"""`python -m lapsum`: doctor finds what is wrong and only that, demo runs everywhere."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

import lapsum
from lapsum import _core
from lapsum.__main__ import main


def test_doctor_is_content_with_this_installation():
    command = [sys.executable, "-m", "lapsum", "doctor"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    lines = run.stdout.splitlines()
    assert lines[0].startswith(f"lapsum {lapsum.__version__} in ")
    assert lines[-1] == "all is well"
    assert f"  vectors   {_core.simd_target()}" in lines
    assert "cpu works" in run.stdout
    assert "WRONG" not in run.stdout
    checked = [line for line in lines if line.endswith(" ok")]
    assert len(checked) == 13


def wrong_value(x, alpha=1.0, **options):
    return 1.001 * lapsum.soft_sort(x, alpha, **options)


def wrong_gradient(x, alpha, g, **options):
    return 0.999 * lapsum.soft_sort_vjp(x, alpha, g, **options)[0], 0.0


@pytest.mark.parametrize(
    ("name", "replacement"), [("soft_rank", wrong_value), ("soft_rank_vjp", wrong_gradient)]
)
def test_doctor_notices(name, replacement, monkeypatch, capsys):
    monkeypatch.setattr(lapsum, name, replacement)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    wrong = [line.split()[0] for line in out.splitlines() if line.endswith("WRONG")]
    assert set(wrong) == {"soft_rank"}
    assert "problem(s) found" in out


def test_doctor_notices_nan(monkeypatch, capsys):
    sort = lapsum.soft_sort
    monkeypatch.setattr(lapsum, "soft_sort", lambda *args: sort(*args) * float("nan"))
    assert main(["doctor"]) == 1
    assert "soft_sort (torch)" in capsys.readouterr().out


def test_doctor_tells_what_serves_which_device(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "cpu works: the compiled core" in out
    assert "CUDA devices would be served by plain torch: the package was built without" in out
    assert "other devices would be served by plain torch" in out


def test_doctor_without_torch(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "torch     not installed" in out
    assert "(torch)" not in out


def test_demo_prints_and_draws(tmp_path, capsys):
    picture = tmp_path / "new" / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "hard          0.00   1.00   0.00   0.00   1.00" in out
    assert "alpha 0.5     0.02   0.71   0.01   0.31   0.96" in out
    assert str(picture) in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_without_matplotlib(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo", "--out", str(tmp_path / "demo.png")]) == 0
    assert "matplotlib is not installed: no picture" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_command_is_needed(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "doctor" in capsys.readouterr().err
