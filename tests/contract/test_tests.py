"""Where tests keep what they share, and that none of it lifts a guard for everybody."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py"))}
BENCHMARKS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "benchmarks").rglob("*.py"))}
#: Fixtures that lift a guard, and the folders whose tests nearly all answer trials or launch campaigns for another
#: reason, so that a folder may ask on their behalf.
LIFTED = {"unhurried", "open_gates"}
WITHOUT_GUARDS = {"attacks", "browser", "participation", "recruitment", "screening"}
#: What tells seconds, and the files whose own loops wait until a time is over.
CLOCKS = re.compile(r"\b(monotonic|perf_counter|time\.time|process_time)\(")
WAITING = {"tests/journeys/firefox.py", "tests/journeys/test_firefox.py", "tests/journeys/site.py"}
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


def assertions_on_seconds(source: str) -> Iterator[int]:
    """Lines that compare a clock inside an assertion, outside of tests that are marked `bench`."""
    for node in ast.parse(source).body:
        for function in [node, *(node.body if isinstance(node, ast.ClassDef) else ())]:
            if any("mark.bench" in ast.unparse(mark) for mark in getattr(function, "decorator_list", ())):
                continue
            asserted = [node.test for node in ast.walk(function) if isinstance(node, ast.Assert)]
            yield from (
                test.lineno for test in asserted if isinstance(test, ast.Compare) and CLOCKS.search(ast.unparse(test))
            )


def test_no_test_asserts_how_long_something_took() -> None:
    """`make bench` does; a busy machine fails nothing else. Wait with `tests.limits.until`."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path, source in TESTS.items()
        if CLOCKS.search(source) and path.relative_to(ROOT).as_posix() not in WAITING
        for line in assertions_on_seconds(source)
    ]
    assert found == []


def test_an_assertion_on_seconds_is_found() -> None:
    planted = "def test_quick():\n    assert time.monotonic() - began < 2\n"
    assert list(assertions_on_seconds(planted)) == [2]
    assert list(assertions_on_seconds(f"@pytest.mark.bench\n{planted}")) == []


def test_no_secret_is_forged_with_a_letter_that_may_be_its_own() -> None:
    """Of 16 invitations one ended with the letter with which a test made it wrong."""
    fixed = re.compile(r"""\[:-\d\] \+ f?["'][A-Za-z0-9]{1,2}["']""")
    assert [str(path.relative_to(ROOT)) for path, source in TESTS.items() if fixed.search(source)] == []


def bound(nodes: list[ast.stmt]) -> Iterator[str]:
    """What a module's own lines give a name to, functions and classes closed."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Import() | ast.ImportFrom():
                yield from (name.asname or name.name.partition(".")[0] for name in node.names)
            case ast.If() | ast.Try() | ast.With():
                yield from bound([inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt)])
            case _:
                stored = (name for name in ast.walk(node) if isinstance(name, ast.Name))
                yield from (name.id for name in stored if isinstance(name.ctx, ast.Store))


@cache
def names_of(module: Path) -> frozenset[str]:
    path = module.with_suffix(".py") if module.with_suffix(".py").exists() else module / "__init__.py"
    return frozenset(bound(ast.parse(path.read_text(encoding="utf-8")).body)) if path.exists() else frozenset()


def missing_names(source: str, root: Path = ROOT) -> Iterator[str]:
    """Names that a file takes from the product, also inside functions, and that no module there has."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] not in ("analysis", "humanexp"):
            continue
        module = root.joinpath(*str(node.module).split("."))
        for name in (alias.name for alias in node.names):
            is_module = (module / name).is_dir() or (module / f"{name}.py").exists()
            if name != "*" and not is_module and name not in names_of(module):
                yield f"{node.module}.{name}"


def test_what_tests_and_benchmarks_take_from_the_product_is_there() -> None:
    """Those that no everyday run executes break unnoticed: a benchmark of money once asked for a name that was gone."""
    found = {str(path.relative_to(ROOT)): list(missing_names(source)) for path, source in (TESTS | BENCHMARKS).items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_name_that_is_gone_is_seen_inside_a_function(tmp_path: Path) -> None:
    (tmp_path / "humanexp/ledger").mkdir(parents=True)
    (tmp_path / "humanexp/ledger/payments.py").write_text(
        "if True:\n    rows = 1\ndef ledger(study):\n    hidden = 2\n"
    )
    source = (
        "def late():\n    from humanexp.ledger.payments import hidden, ledger, rows\n    from humanexp import ledger\n"
    )
    assert list(missing_names(source, tmp_path)) == ["humanexp.ledger.payments.hidden"]
