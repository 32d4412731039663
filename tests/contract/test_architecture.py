"""ARCHITECTURE.md, CONTRIBUTING.md and SECURITY.md say what is so: paths, names, commands, layers, numbers."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
CONTRACTS = {one["name"]: one for one in PROJECT["importlinter"]["contracts"]}
DOORS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
#: Words of other programs: git's branch, what make builds, a scheme of adapters.
ELSEWHERE = {"main", ".venv", ".venv/bin/pre-commit install", "CI=true", "python:", "pip install ."}


def quoted(text: str) -> list[str]:
    """What stands between backticks, outside blocks of commands."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def rows(heading: str) -> list[list[str]]:
    """Cells of the first table whose header begins so."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def named(dotted: str) -> object:
    """The object of a dotted name; raises when there is none."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(dotted)


def exists(token: str) -> bool:
    if token in ELSEWHERE:
        return True
    if re.fullmatch(r"[A-Z][A-Z_]+", token):
        return any(f"`{token}`" in (ROOT / "docs" / page).read_text() for page in ("settings.md", "reference-data.md"))
    if match := re.fullmatch(r"([A-Z]+)=\S+", token):
        return f"\n{match[1]} ?=" in (ROOT / "Makefile").read_text(encoding="utf-8")
    if token.startswith("make "):
        return token.split()[1] in targets()
    if match := re.match(r"(?:python manage\.py|humanexp) (\w+)", token):
        return match[1] in get_commands()
    if re.fullmatch(r"(analysis|humanexp)(\.\w+)+", token):
        try:
            named(token)
        except (ModuleNotFoundError, AttributeError):
            return False
        return True
    return (ROOT / token.partition("::")[0]).exists()


@pytest.mark.parametrize("page", DOORS[1:])
def test_whatever_is_quoted_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(text) > 500
    assert [token for token in quoted(text) if not exists(token)] == []
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert [link for link in links if not link.startswith("https://") and not (ROOT / link).exists()] == []


@pytest.mark.parametrize("page", DOORS)
def test_commands_to_copy_are_commands(page: str) -> None:
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    lines = [line.partition("  #")[0].split() for block in blocks for line in block.splitlines()]
    assert [line for line in lines if line[:1] == ["make"] and line[1] not in targets()] == []
    named_files = [word.partition("=")[2] for line in lines for word in line if word.startswith("FILE=")]
    assert [file for file in named_files if not (ROOT / file.partition("::")[0]).is_file()] == []


@pytest.mark.parametrize(
    "token",
    [
        "analysis/nowhere",
        "analysis.nowhere",
        "analysis.compute.nobody",
        "make tea",
        "humanexp tea",
        "NO_SETTING",
        "TEA=cpu",
    ],
)
def test_what_does_not_exist_is_found(token: str) -> None:
    assert not exists(token)


def test_the_table_of_layers_is_the_import_contract() -> None:
    told = [set(quoted(cells[0])) for cells in rows("apps")]
    held = [set(layer.split(" | ")) for layer in CONTRACTS["Apps import upstream only"]["layers"]]
    assert told == held


def test_every_app_is_a_layer_or_said_to_be_outside() -> None:
    apps = {f"humanexp.{path.parent.name}" for path in (ROOT / "humanexp").glob("*/__init__.py")}
    layers = {name for cells in rows("apps") for name in quoted(cells[0])}
    outside = PAGE.partition("Two packages are outside these layers:")[2].partition("\n\n")[0]
    assert apps == layers | {name for name in quoted(outside) if name.startswith("humanexp.")}


def test_every_import_contract_is_in_words_and_no_other() -> None:
    assert [cells[0] for cells in rows("contract in pyproject.toml")] == list(CONTRACTS)


def test_every_place_to_add_something_is_a_place() -> None:
    """Each row names a path or a name of the code, and where to read on."""
    for what, where, more in rows("what"):
        assert any(token.startswith(("analysis", "humanexp", "requirements")) for token in quoted(where)), what
        assert more


def test_the_limits_are_those_of_the_code() -> None:
    limits = rows("limit")
    assert len(limits) >= 8
    told = {quoted(constant)[0]: float(value.replace(",", "")) for _, constant, value in limits}
    assert told == {name: named(name) for name in told}


def test_every_folder_of_the_repository_is_explained() -> None:
    explained = {name for cells in rows("folder") for name in quoted(cells[0])}
    ignored = {"media", "staticfiles", "var", "node_modules", "build", "dist", "shared"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    assert {name for name in folders - ignored if not name.endswith(".egg-info")} == explained
