"""What the gate says of failures that were planted: by chance or not, of a promise or not, and who has leaked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gate.__main__ import Gate
from tests.gate.rings import GATE
from tests.gate.runs import Run

pytestmark = [pytest.mark.process, pytest.mark.gate]

ROOT = Path(__file__).resolve().parents[2]
_INI = """[pytest]
filterwarnings = error
markers =
  process
  gate
  promise(number)
"""
#: Fails at the first call alone.
_ONCE = """
import pathlib
import pytest

@pytest.mark.process
@pytest.mark.gate
{mark}
def test_it():
    seen = pathlib.Path(__file__).with_suffix(".seen")
    if not seen.exists():
        seen.touch()
        raise {error}("planted")
"""


@pytest.fixture
def gate(tmp_path: Path) -> Callable[..., Gate]:
    """A gate that has run one ring of the planted tests, and looked again."""
    (tmp_path / "pytest.ini").write_text(_INI, encoding="utf-8")

    def start(name: str, arguments: list[str], folder: Path, **environment: str) -> Run:
        plugins = [word for plugin in ("rings", "purity", "recorder") for word in ("-p", f"tests.gate.{plugin}")]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:django", *plugins]
        return Run(name, [*command, *arguments], folder, tmp_path, **environment | {"PYTHONPATH": str(ROOT)})

    def run(ring: str, **files: str) -> Gate:
        for name, source in files.items():
            (tmp_path / f"test_{name}.py").write_text(source, encoding="utf-8")
        made = Gate(tmp_path, start)
        made.beside(start(f"{ring} ring", ["--ring", ring], tmp_path))
        made.look_again()
        return made

    return run


def outcome(gate: Gate, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    return gate.report(), capsys.readouterr().out


def test_an_error_of_the_product_is_red_with_its_evidence(gate: Any, capsys: Any) -> None:
    source = """
import pytest

@pytest.mark.process
@pytest.mark.gate
def test_it():
    print("said before")
    assert 1 == 2
"""
    status, said = outcome(gate("process", wrong=source), capsys)
    assert status == 1 and said.rstrip().endswith("0 passed, 1 failed")
    for evidence in ("test_wrong.py::test_it", "assert 1 == 2", "said before", "load ", "seed 1"):
        assert evidence in said


def test_a_test_that_fails_once_is_green_and_listed(gate: Any, capsys: Any) -> None:
    status, said = outcome(gate("process", once=_ONCE.format(mark="", error="ValueError")), capsys)
    assert status == 0 and "FAILED, AND PASSED ALONE: test_once.py::test_it" in said
    assert said.rstrip().endswith("1 passed, 0 failed")


def test_a_promise_that_fails_once_is_red_and_one_that_waited_too_long_is_asked_again(gate: Any, capsys: Any) -> None:
    mark = "@pytest.mark.promise(2)"
    status, said = outcome(
        gate(
            "process",
            broken=_ONCE.format(mark=mark, error="ValueError"),
            slow=_ONCE.format(mark=mark, error="TimeoutError"),
        ),
        capsys,
    )
    assert status == 1 and "FAILED, AND PASSED ALONE: test_slow.py::test_it" in said
    assert said.rstrip().endswith("1 passed, 1 failed")


def test_more_failures_than_chance_makes_are_not_repeated(gate: Any, capsys: Any) -> None:
    once = _ONCE.format(mark="", error="ValueError")
    status, said = outcome(gate("process", **{f"once_{number}": once for number in range(6)}), capsys)
    assert status == 1 and said.rstrip().endswith("0 passed, 6 failed")


def test_a_ring_that_dies_or_is_empty_is_red(gate: Any, capsys: Any) -> None:
    dies = "import os\n\ndef test_before():\n    pass\n\ndef test_it():\n    os._exit(0)\n"
    status, said = outcome(gate("pure", dies=dies), capsys)
    assert status == 1 and "RED pure ring" in said
    status, said = outcome(gate("process", nothing=""), capsys)
    assert status == 1 and "RED process ring" in said


def test_the_third_failure_ends_the_pure_ring_and_nothing_of_it_is_repeated(gate: Any, capsys: Any) -> None:
    source = "import time\n\n" + "\n".join(f"def test_{number}():\n    assert 0\n" for number in range(2000))
    found = gate("pure", wrong=source)
    assert 3 <= len(found.failed) < 2000 and found.flaky == []


def test_a_leak_is_told_of_the_test_that_leaked(gate: Any, capsys: Any) -> None:
    source = """
class Node:
    pass

def test_before():
    pass

def test_leaks(tmp_path):
    node = Node()
    node.file, node.itself = (tmp_path / "left").open("w"), node

def test_after():
    pass
"""
    status, said = outcome(gate("pure", leak=source), capsys)
    assert status == 1 and said.rstrip().endswith("2 passed, 1 failed")
    assert "test_leak.py::test_leaks left something open" in said and "unclosed file" in said


@pytest.mark.parametrize(
    ("line", "does"),
    [
        ("subprocess.run(['true'])", "starts a process"),
        ("multiprocessing.get_context('spawn').Process(target=print).start()", "starts a process"),
        ("with socket.socket() as port: port.bind(('127.0.0.1', 0))", "opens a port"),
        ("time.sleep(0.01)", "sleeps"),
    ],
)
def test_a_pure_test_that_is_not_pure_fails_by_name_even_if_it_swallows_the_refusal(
    line: str, does: str, gate: Any, capsys: Any
) -> None:
    source = f"""
import contextlib
import multiprocessing
import socket
import subprocess
import time

def test_it():
    with contextlib.suppress(Exception):
        {line}
"""
    status, said = outcome(gate("pure", impure=source), capsys)
    assert status == 1 and f"test_impure.py::test_it {does}" in said


def test_what_the_whole_run_has_used_may_end_after_a_pure_test(gate: Any, capsys: Any) -> None:
    source = """
import time
import pytest

@pytest.fixture(scope="session")
def server():
    yield
    time.sleep(0.01)

def test_that_needs_it(server):
    pass

def test_that_is_pure():
    pass
"""
    needs = source.replace("def test_that_needs", "@pytest.mark.process\n@pytest.mark.gate\ndef test_that_needs")
    pure = needs.replace("def test_that_is_pure", "@pytest.mark.gate\ndef test_that_is_pure")
    status, said = outcome(gate("gate", ends=pure), capsys)
    assert status == 0 and said.rstrip().endswith("2 passed, 0 failed")


def test_what_is_quarantined_or_red_is_run_by_verify_and_by_no_ring_of_the_gate(gate: Any, tmp_path: Path) -> None:
    known = """
from tests.gate import rings

rings.known = lambda: {"test_put_away.py::test_pure", "test_put_away.py::test_page", "test_put_away.py::test_attack"}
"""
    (tmp_path / "conftest.py").write_text(known, encoding="utf-8")
    marked = {"pure": [], "page": ["process", "gate"], "attack": ["process"]}
    source = "import pytest\n" + "".join(
        "".join(f"@pytest.mark.{mark}\n" for mark in marks) + f"def test_{name}():\n    assert False\n"
        for name, marks in marked.items()
    )
    runs = {ring: gate(ring, put_away=source).runs[0] for ring in (*GATE, "touched", "verify")}
    failed = {
        ring: {(test["test"].partition("::test_")[2], test["ring"]) for test in run.failed()}
        for ring, run in runs.items()
    }
    assert failed == dict.fromkeys((*GATE, "touched"), set()) | {"verify": {(name, "known") for name in marked}}


def test_a_pytest_that_a_test_starts_is_no_part_of_the_run(gate: Any, tmp_path: Path) -> None:
    inner = """
import subprocess
import sys
import pytest

@pytest.mark.process
@pytest.mark.gate
def test_outer(tmp_path):
    (tmp_path / "test_inner.py").write_text("def test_inner(): assert False")
    plugins = ("-p", "tests.gate.recorder", "-p", "no:randomly", "-p", "no:django")
    assert subprocess.run([sys.executable, "-m", "pytest", *plugins, tmp_path]).returncode == 1
"""
    (run,) = gate("process", nested=inner).runs
    assert [(test["test"], test["outcome"]) for test in run.tests] == [("test_nested.py::test_outer", "passed")]
