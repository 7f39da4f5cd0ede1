"""The package itself: what it imports, its stubs, and the examples in its documentation."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lapsum
import lapsum._alpha
import lapsum._ops
import lapsum.compat.gmum
import lapsum.losses
import lapsum.nn

ROOT = Path(__file__).parents[2]
MODULES = [
    module.name
    for package in (
        lapsum._alpha,
        lapsum._ops,
        lapsum.compat,
        lapsum.compat.gmum,
        lapsum.losses,
        lapsum.nn,
    )
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    if not module.ispkg and not module.name.endswith((".arguments", ".laplace", ".softness"))
]


def test_import_brings_no_framework():
    code = "import sys, lapsum; print(sorted({'torch', 'jax', 'matplotlib'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("name", lapsum.__all__)
def test_every_public_function_has_a_runnable_example(name):
    function = getattr(lapsum, name)
    examples = doctest.DocTestFinder(recurse=False).find(function, name, globs={})
    assert sum(len(e.examples) for e in examples) > 0
    assert "Returns:" in function.__doc__ or name.endswith(("_vjp", "_jvp"))


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    importlib.import_module(module)  # a function may hide its module of the same name
    failed, tried = doctest.testmod(sys.modules[module])
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/choosing_alpha.md"])
def test_examples_in_pages(page):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    for block in blocks:
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, scope, page, None, 0)
            assert doctest.DocTestRunner().run(test).failed == 0
        else:
            exec(compile(block, page, "exec"), scope)


def test_the_stub_of_the_compiled_module_is_up_to_date(tmp_path):
    made = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "lapsum._core", "-o", made]
    subprocess.run(command, check=True)
    stored = (ROOT / "python" / "lapsum" / "_core.pyi").read_text()
    assert made.read_text() == stored, "run: python -m nanobind.stubgen -m lapsum._core -o FILE"


def test_the_package_is_typed():
    assert (Path(lapsum.__file__).parent / "py.typed").exists()
    assert re.fullmatch(r"\d+\.\d+\.\d+|unknown", lapsum.__version__)
