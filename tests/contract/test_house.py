from __future__ import annotations

import ast
import re
from pathlib import Path

from django.apps import apps
from django.core.management import get_commands

from analysis.labels.files import shipped
from humanexp.jobs.registry import handlers

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "humanexp").rglob("*.py"))


def test_every_environment_variable_is_documented() -> None:
    documented = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    for path in (ROOT / "humanexp/settings.py", *sorted((ROOT / "humanexp").glob("**/settings.py"))):
        names = re.findall(r'env(?:\.\w+)?\(\s*"([A-Z_]+)"', path.read_text(encoding="utf-8"))
        assert names
        missing = [name for name in names if f"`{name}`" not in documented and f"`{name}=" not in documented]
        assert not missing, f"{path.name}: {missing}"


def test_every_command_is_documented() -> None:
    ours = {name for name, app in get_commands().items() if str(app).startswith("humanexp.")}
    first_cells = re.findall(r"^\| (`.+?`) \|", (ROOT / "docs/commands.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(ours) >= 10
    assert set(re.findall(r"`([a-z_]+)", " ".join(first_cells))) == ours


def submitted_kinds() -> set[str]:
    """Job kinds named in calls of `jobs.submit` or `services.submit`, by literal or by a module's constant."""
    kinds = set()
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "submit"):
                continue
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("jobs", "job_services")):
                continue
            kind = node.args[0]
            if isinstance(kind, ast.Constant):
                kinds.add(kind.value)
            elif isinstance(kind, ast.Name) and kind.id in constants:
                kinds.add(constants[kind.id])
    return kinds


def test_every_submitted_job_has_a_handler() -> None:
    kinds = submitted_kinds()
    assert kinds
    assert kinds <= set(handlers())


def test_no_module_has_a_banned_name() -> None:
    banned = {"utils", "helpers", "common", "misc", "manager"}
    assert [str(path) for path in SOURCES if path.stem in banned] == []


def test_the_account_model_is_ours_from_the_first_migration() -> None:
    assert apps.get_model("core.User")._meta.app_label == "core"


#: The drawn example pictures show these things, and translated texts are about them, for studies that have them.
_OF_THE_SIXTEEN = {"analysis/examples/drawings.py", "humanexp/studies/tasks.py"}


def test_no_module_holds_the_sixteen_categories() -> None:
    """A study's labels are a value: nothing outside `analysis.labels` knows those of the 16, or loads them by name."""
    ids = frozenset(shipped("entry16").ids)
    holding = set()
    for path in (*SOURCES, *sorted((ROOT / "analysis").rglob("*.py"))):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("analysis/labels/"):
            continue
        texts = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        if "entry16" in texts or len(ids & {text for text in texts if isinstance(text, str)}) > 1:
            holding.add(name)
    assert holding == _OF_THE_SIXTEEN
