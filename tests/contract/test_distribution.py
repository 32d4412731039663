"""What pip installs and what the README installs come from the same pins."""

from __future__ import annotations

import re
import tomllib
from itertools import combinations
from pathlib import Path

from analysis import __version__

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DYNAMIC = PROJECT["tool"]["setuptools"]["dynamic"]
EXTRAS: dict[str, list[str]] = {name: found["file"] for name, found in DYNAMIC["optional-dependencies"].items()}
#: Of the repository alone: tests and checks are not installed with the distribution.
OWN = "requirements/dev.txt"


def lines(file: str) -> list[str]:
    text = (ROOT / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_every_file_of_pins_belongs_to_the_distribution() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("requirements/*.txt")} - {OWN}
    assert {*DYNAMIC["dependencies"]["file"], *(file for extra in EXTRAS.values() for file in extra)} == files
    assert {"server", "torch", "classifiers", "networks", "browser", "cluster", "postgres", "s3"} == set(EXTRAS)


def test_an_extra_has_the_name_of_its_file() -> None:
    """A message about a missing package names both."""
    assert [name for name, files in EXTRAS.items() if f"requirements/{name}.txt" != files[-1]] == []


def test_the_readme_installs_the_platform_with_torch() -> None:
    wanted = [*DYNAMIC["dependencies"]["file"], *EXTRAS["server"], *EXTRAS["torch"]]
    assert lines("requirements.txt") == [f"-r {file}" for file in wanted]


def test_every_requirement_is_pinned_in_one_place() -> None:
    files = [file for extra in EXTRAS.values() for file in extra[-1:]] + DYNAMIC["dependencies"]["file"]
    pins = {file: {line.partition("==")[0].lower() for line in lines(file)} for file in files}
    assert [line for file in files for line in lines(file) if not re.fullmatch(r"[\w.\[\]-]+==[\w.]+", line)] == []
    assert [(one, other) for one, other in combinations(pins, 2) if pins[one] & pins[other]] == []


def test_the_analysis_alone_brings_neither_web_nor_torch() -> None:
    base = {line.partition("==")[0].lower() for file in DYNAMIC["dependencies"]["file"] for line in lines(file)}
    assert base.isdisjoint({"django", "torch", "boto3", "requests", "gunicorn", "scikit-learn"})
    assert base >= {"numpy", "scipy", "pandas", "pyarrow"}


def test_the_version_is_said_once() -> None:
    assert PROJECT["project"]["name"] == "humanexp" and "version" in PROJECT["project"]["dynamic"]
    assert DYNAMIC["version"]["attr"] == "analysis.__version__"
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
