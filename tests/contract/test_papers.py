"""docs/papers.md: what can be made of the founding papers, each row with a command that exists and a test that runs."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).parents[2]
STATES = {"Y", "Y-w", "P", "N", "no feature"}


class Row(NamedTuple):
    number: int
    claim: str
    state: str
    how: str
    tested: str


@cache
def rows() -> list[Row]:
    lines = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines()
    cells = [re.split(r"(?<!\\) \| ", line[2:-2]) for line in lines if re.match(r"\| \d+ \|", line)]
    return [Row(int(number), *(cell.strip() for cell in rest)) for number, *rest in cells]


MADE = [row for row in rows() if row.state.startswith("Y")]


def test_every_row_of_the_papers_is_judged_once() -> None:
    assert [row.number for row in rows()] == list(range(1, 117))
    assert {row.state for row in rows()} <= STATES


def test_the_counts_above_the_table_are_those_of_the_table() -> None:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for state in sorted(STATES):
        told = re.search(rf"^\| {re.escape(state)} \| .* \| (\d+) \|$", text, re.MULTILINE)
        assert told, state
        assert int(told[1]) == sum(row.state == state for row in rows()), state


@pytest.mark.parametrize("row", MADE, ids=lambda row: str(row.number))
def test_what_can_be_made_has_a_test_that_is_there(row: Row) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(?:\w+::)?(\w+)`", row.tested)
    assert named, row
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert name in names, f"{row.number}: {path} has no {name}"


@pytest.mark.parametrize("row", MADE, ids=lambda row: str(row.number))
def test_what_can_be_made_says_how_by_commands_that_exist(row: Row) -> None:
    assert row.how, row
    for said in re.findall(r"`python manage\.py ([^`]+)`", row.how):
        name, *arguments = said.split()
        assert name in get_commands(), row
        command = load_command_class(get_commands()[name], name)
        known = command.create_parser("manage.py", name)._option_string_actions
        for argument in arguments:
            option = argument.split("=")[0].strip("[]")
            if re.fullmatch(r"--[\w-]+", option):
                assert option in known, f"{row.number}: {name} has no {option}"


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row.number))
def test_links_of_a_row_lead_to_a_heading(row: Row) -> None:
    for path, anchor in re.findall(r"\]\(([\w/.-]+\.md)(?:#([\w-]+))?\)", row.how):
        text = (ROOT / "docs" / path).read_text(encoding="utf-8")
        heads = {
            re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.M)
        } | set(re.findall(r'<a id="([\w-]+)">', text))
        assert not anchor or anchor in heads, f"{row.number}: {path} has no #{anchor}"


def test_what_cannot_be_made_says_what_is_missing() -> None:
    for row in rows():
        assert row.state in ("Y", "Y-w", "no feature") or "Missing: " in row.how, row
