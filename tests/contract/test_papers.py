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


#: A test as a row names it: its file, and its name.
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(?:\w+::)?(\w+)`")
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
    named = NAMED.findall(row.tested)
    assert named, row
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert name in names, f"{row.number}: {path} has no {name}"


#: What is read in a browser, or is no command: their tests open pages by other means, or look at files.
NO_COMMAND = {89, 90, 115, 116}
#: Commands beside the one whose numbers are compared: rows where not every one of them is run by the named tests.
NOT_RUN = {51: {"evaluate"}, 88: {"create_study", "import_labels"}}


@pytest.mark.parametrize("row", [row for row in MADE if row.state == "Y"], ids=lambda row: str(row.number))
def test_the_named_tests_run_the_command_or_open_the_page(row: Row) -> None:
    said, called = set(), set()
    for path, name in NAMED.findall(row.tested):
        found = reached(ROOT / path, name)
        said |= found[0]
        called |= found[1]
    wanted = set(re.findall(r"python manage\.py (\w+)", row.how)) - NOT_RUN.get(row.number, set())
    if wanted:
        assert wanted <= said, f"{row.number}: no named test runs {', '.join(sorted(wanted - said))}"
    elif row.number not in NO_COMMAND | NOT_RUN.keys():
        assert called & {"get", "post"}, f"{row.number}: no named test opens a page"


def reached(path: Path, name: str) -> tuple[set[str], set[str]]:
    """Texts and names of methods in a test, and in whatever of its file, its folder and `tests` it goes through."""
    known, todo = definitions(path), [name]
    done, said, called = set(), set(), set()
    while todo:
        one = todo.pop()
        if one in done or one not in known:
            continue
        done.add(one)
        for node in ast.walk(known[one]):
            match node:
                case ast.Constant(value=str(text)):
                    said.add(text)
                case ast.Name(id=other) | ast.arg(arg=other):
                    todo.append(other)
                case ast.Attribute(attr=other):
                    called.add(other)
                    todo.append(other)
    return said, called


def definitions(path: Path) -> dict[str, ast.AST]:
    """What a file of tests and its folder define, with methods, and what the files define from which they import."""
    near = (path, path.parent / "conftest.py")
    imported = [file for one in near for file in imports(one)]
    return {name: node for file in (*imported, *reversed(near)) for name, node in defined(file).items()}


@cache
def defined(path: Path) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for node in ast.walk(parsed(path)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                found.setdefault(name, node)
    return found


@cache
def imports(path: Path) -> list[Path]:
    """Files of `tests` from which this one takes something."""
    modules = [node.module or "" for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom)]
    return [ROOT / f"{module.replace('.', '/')}.py" for module in modules if module.startswith("tests.")]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8") if path.exists() else "")


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
