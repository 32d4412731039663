"""Each promise of docs/promises.toml has tests in the gate, and the tests know what they own."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMISES: list[dict[str, Any]] = tomllib.loads((ROOT / "docs" / "promises.toml").read_text(encoding="utf-8"))["promise"]
#: Rings of the gate whose tests say by a mark that they are in it.
MARKED = ("process", "browser")


@cache
def marks_in(file: str) -> dict[str, str]:
    """Every test of a file, by what stands behind the first "::" of its node id, with its marks as they are written."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return dict(_tests_in(tree.body))


def _tests_in(body: list[ast.stmt], within: str = "", marks: str = "") -> Iterator[tuple[str, str]]:
    of_all = "\n".join(
        ast.unparse(one) for one in body if isinstance(one, ast.Assign) and "pytestmark" in ast.unparse(one)
    )
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            own = "\n".join([marks, of_all, *map(ast.unparse, node.decorator_list)])
            if isinstance(node, ast.ClassDef):
                yield from _tests_in(node.body, f"{within}{node.name}::", own)
            elif node.name.startswith("test_"):
                yield f"{within}{node.name}", own


def owners() -> list[tuple[int, str, str]]:
    """Number, ring and node id."""
    return [
        (promise["number"], ring, test)
        for promise in PROMISES
        for ring in ("pure", *MARKED)
        for test in promise.get(ring, ())
    ]


def marks_of(test: str) -> str | None:
    file, _, name = test.partition("::")
    return marks_in(file).get(name) if (ROOT / file).is_file() else None


def test_every_promise_has_an_owner_in_the_gate() -> None:
    assert [promise["number"] for promise in PROMISES] == list(range(1, 11))
    assert all(promise["text"].endswith(".") for promise in PROMISES)
    owned = {number for number, _, _ in owners()}
    assert [promise["number"] for promise in PROMISES if promise["number"] not in owned] == []


@pytest.mark.parametrize("ring", ["pure", *MARKED])
def test_every_owner_is_there_and_in_its_ring(ring: str) -> None:
    for number, of, test in owners():
        marks = marks_of(test)
        assert marks is not None, f"docs/promises.toml names {test}, and there is no such test"
        if of != ring:
            continue
        if ring == "pure":
            apart = re.findall(r"mark\.(process|browser|verify|slow|bench)\b", marks)
            assert apart == [], f"{test} is no part of the pure ring"
        else:
            assert "mark.gate" in marks, f"{test} is no part of the gate"
            assert f"mark.promise({number})" in marks, f"{test} is not marked as an owner of promise {number}"


def test_every_test_that_is_marked_as_an_owner_is_named() -> None:
    named = {(test, str(number)) for number, _, test in owners()}
    marked = {
        (f"{file}::{name}", number)
        for file in (str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
        for name, marks in marks_in(file).items()
        for number in re.findall(r"mark\.promise\((\d+)\)", marks)
    }
    assert marked - named == set()
