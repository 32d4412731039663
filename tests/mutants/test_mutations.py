from __future__ import annotations

import ast

import pytest

from tests.mutants.areas import AREAS
from tests.mutants.mutations import mutants_of


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("ok = a < b", {"ok = (a <= b)"}),
        ("ok = a in b is not c", {"ok = (a not in b is not c)", "ok = (a in b is c)"}),
        ("ok = 'é' and (a or b)", {"ok = ('é' or (a or b))", "ok = 'é' and ((a and b))"}),
        ("pay = a + b * 2", {"pay = (a - b * 2)", "pay = a + (b / 2)", "pay = a + b * (3)"}),
        ("if not paid:\n    raise Late", {"if (paid):\n    raise Late", "if not paid:\n    pass"}),
        ("def f(x: int = 1) -> int | None:\n    return x", {
            "def f(x: int = (2)) -> int | None:\n    return x", "def f(x: int = 1) -> int | None:\n    return None",
        }),
        ("row.save()\nrow.paid = True", {"pass\nrow.paid = True", "row.save()\npass", "row.save()\nrow.paid = False"}),
        ("name = f'{a + 1}'", set()),
    ],
)  # fmt: skip
def test_every_mistake_is_made_once(source: str, expected: set[str]) -> None:
    made = [mutant.applied_to(source) for mutant in mutants_of(source)]
    assert set(made) == expected and len(made) == len(expected)
    for text in made:
        ast.parse(text)


def test_a_mutant_is_shown_as_a_difference() -> None:
    (mutant,) = mutants_of("ok = a < b")
    assert mutant.diff("ok = a < b", "rule.py").splitlines()[-2:] == ["-ok = a < b", "+ok = (a <= b)"]


@pytest.mark.parametrize("area", AREAS)
def test_every_area_has_modules_and_tests(area: str) -> None:
    from tests.mutants.areas import ROOT

    for suspects in AREAS[area]:
        assert suspects.paths(), suspects.modules
        assert [name for name in suspects.tests if not (ROOT / name).exists()] == []
