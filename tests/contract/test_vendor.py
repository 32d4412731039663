"""What pages load from others is what was published, and everything under static/vendor is declared."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

VENDOR = Path(__file__).resolve().parents[2] / "static" / "vendor"
PACKAGES = tomllib.loads((VENDOR / "vendor.toml").read_text(encoding="utf-8"))["package"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: str(package["name"]))
def test_every_vendored_file_has_the_declared_digest(package: dict) -> None:
    folder = VENDOR / f"{package['name']}-{package['version']}"
    found = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert found == package["sha256"]


def test_nothing_lies_in_the_folder_undeclared() -> None:
    folders = {path.name for path in VENDOR.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {f"{package['name']}-{package['version']}" for package in PACKAGES}


def test_every_package_brings_its_licence() -> None:
    assert [package["name"] for package in PACKAGES if "LICENSE" not in package["files"]] == []


def test_plotly_says_the_version_it_was_declared_with() -> None:
    (plotly,) = [package for package in PACKAGES if package["name"] == "plotly"]
    head = (VENDOR / f"plotly-{plotly['version']}" / "plotly-cartesian.min.js").read_text(encoding="utf-8")[:300]
    assert f"v{plotly['version']}" in head


def test_templates_load_plotly_from_the_declared_folder() -> None:
    (plotly,) = [package for package in PACKAGES if package["name"] == "plotly"]
    templates = VENDOR.parents[1] / "templates"
    named = [
        line for path in templates.rglob("*.html") for line in path.read_text().splitlines() if "vendor/plotly" in line
    ]
    assert named and all(f"vendor/plotly-{plotly['version']}/" in line for line in named)
