"""Where tests keep what they share, and that none of it lifts a guard for everybody."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py"))}
BENCHMARKS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "benchmarks").rglob("*.py"))}
#: Fixtures that lift a guard, and the folders whose tests nearly all answer trials or launch campaigns for another
#: reason, so that a folder may ask on their behalf.
LIFTED = {"unhurried", "open_gates"}
WITHOUT_GUARDS = {"attacks", "browser", "participation", "recruitment", "screening"}
#: Names in the product that a guard is made of.
GUARDS = {"SHARE", "GATES"}


def automatic_fixtures() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Fixtures that tests get without asking."""
    for path, source in TESTS.items():
        for node in ast.walk(ast.parse(source)) if "autouse=True" in source else ():
            if isinstance(node, ast.FunctionDef) and any("autouse=True" in ast.unparse(d) for d in node.decorator_list):
                yield path, node


def test_nothing_is_imported_from_a_conftest() -> None:
    """pytest finds its fixtures; what is imported has a module whose name says what it holds."""
    imports = re.compile(r"^\s*(?:from|import) [\w.]*\bconftest\b", re.MULTILINE)
    assert [str(path) for path, source in (TESTS | BENCHMARKS).items() if imports.search(source)] == []


def test_only_folders_that_say_why_lift_a_guard_for_all_their_tests() -> None:
    lifting = set()
    for path, fixture in automatic_fixtures():
        where = f"{path.relative_to(ROOT)}: {fixture.name}"
        assert not GUARDS & set(re.findall(r"\w+", ast.unparse(fixture))), f"{where} switches a guard off by itself"
        if LIFTED & {argument.arg for argument in fixture.args.args}:
            assert path.name == "conftest.py", f"{where}: use `pytest.mark.usefixtures`"
            assert ast.get_docstring(fixture), f"{where} does not say why"
            lifting.add(path.parent.name)
    assert lifting == WITHOUT_GUARDS
