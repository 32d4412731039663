"""The workflow runs what the documents say, on every Python that the distribution is for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tests.gate import verify

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def commands(job: str) -> list[str]:
    return [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step]


def test_the_tests_run_on_every_python_of_the_distribution() -> None:
    found = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert set(WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]["python"]) == found == {"3.11", "3.12", "3.13"}


def test_the_product_alone_is_tried_on_every_python() -> None:
    verified = {step["with"]["python-version"] for step in WORKFLOW["jobs"]["verify"]["steps"] if "with" in step}
    others = set(WORKFLOW["jobs"]["product"]["strategy"]["matrix"]["python"])
    assert verified | others == set(WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]["python"])
    assert any(line.startswith("make verify") for line in commands("verify"))
    assert any("product" in step.command for step in verify.steps(ROOT / ".gate", 1, []))


def test_every_command_of_the_workflow_is_one_of_make() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.M))
    every = [line for job in WORKFLOW["jobs"] for line in commands(job)]
    assert len(every) >= 6
    assert [line for line in every if line.split()[0] != "make" or line.split()[1] not in targets] == []


def test_the_gate_knows_the_history_by_which_it_finds_what_a_change_touches() -> None:
    (checkout,) = [step for step in WORKFLOW["jobs"]["tests"]["steps"] if "checkout" in step.get("uses", "")]
    assert checkout["with"]["fetch-depth"] == 0
    assert any(line.startswith("make test") for line in commands("tests"))


def test_torch_comes_without_cuda_and_nothing_is_skipped() -> None:
    assert WORKFLOW["env"]["TORCH"] == "cpu" and WORKFLOW["env"]["CI"] == "true"


def test_a_hook_calls_the_tool_of_the_environment() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert {repo["repo"] for repo in hooks} == {"local"}
    entries = [hook["entry"].split()[0] for repo in hooks for hook in repo["hooks"]]
    assert {entry.rpartition("/")[0] for entry in entries} == {".venv/bin"}
    pinned = re.findall(r"^([\w-]+)", (ROOT / "requirements/dev.txt").read_text(encoding="utf-8"), re.M)
    providers = {"lint-imports": "import-linter"}
    tools = [entry.rpartition("/")[2] for entry in entries]
    assert [tool for tool in tools if providers.get(tool, tool) not in pinned] == []
