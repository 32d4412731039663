"""Every import of the product, also inside functions, against what its requirement files declare.

Runs with the standard library alone: an environment that has only what the product declares has no test runner.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What is installed as the product: tests, benchmarks and the scripts of the documents are not.
PRODUCT = ("analysis", "humanexp", "manage.py", "gunicorn.conf.py")
#: Scripts that every export holds, for an environment of the reader's own: the product copies them, and each names what
#: it needs in a block of its own (PEP 723).
COPIED = ("humanexp/results/mixed_models",)
#: What each part has wherever it is installed, and what some of its work needs besides.
SCIENCE = ("requirements/analysis.txt",)
PLATFORM = (*SCIENCE, "requirements/server.txt")
OPTIONAL = tuple(
    f"requirements/{name}.txt" for name in ("torch", "classifiers", "networks", "browser", "cluster", "postgres", "s3")
)
_NAME = re.compile(r"^([A-Za-z0-9._-]+)")


def imports_of(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Module at the top of every import, with the place (file:line) it stands at."""
    for name in PRODUCT:
        path = root / name
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            if file.parent.relative_to(root).as_posix() in COPIED:
                continue
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in _nodes(tree):
                place = f"{file.relative_to(root)}:{getattr(node, 'lineno', 0)}"
                for module in _modules(node):
                    yield module.partition(".")[0], place


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker reads."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from _nodes(child)


def _modules(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(level=0, module=str(module)):
            return [module]
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(module)), *_]):
            return [module]
    return []


def declared(root: Path, files: tuple[str, ...]) -> set[str]:
    """Distributions that these files pin, in the spelling of the package index."""
    found = set()
    for file in files:
        for line in (root / file).read_text(encoding="utf-8").splitlines():
            if (match := _NAME.match(line.strip())) is not None:
                found.add(_spelled(match[1]))
    return found


def _spelled(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def undeclared_by_scripts(root: Path = ROOT) -> list[str]:
    """Sentences about imports of the copied scripts that their own blocks do not name."""
    wrong = []
    for folder in COPIED:
        for file in sorted((root / folder).glob("*.py")):
            text = file.read_text(encoding="utf-8")
            block = re.search(r"^# /// script\n((?:#.*\n)+?)# ///$", text, re.MULTILINE)
            lines = [] if block is None else block[1].splitlines()
            named = tomllib.loads("\n".join(line.removeprefix("#").strip() for line in lines)).get("dependencies", [])
            needs = {match[1] for name in named if (match := _NAME.match(name)) is not None}
            modules = {module.partition(".")[0] for node in _nodes(ast.parse(text)) for module in _modules(node)}
            missing = sorted(modules - needs - set(sys.stdlib_module_names) - {"__future__"})
            wrong += [f"{file.relative_to(root)}: its block of dependencies does not name {name}" for name in missing]
    return wrong


def undeclared(root: Path = ROOT) -> list[str]:
    """Sentences about imports that no requirement file stands for; empty where all is declared."""
    science, platform, optional = (declared(root, files) for files in (SCIENCE, PLATFORM, OPTIONAL))
    distributions = metadata.packages_distributions()
    own = {Path(name).stem for name in PRODUCT}
    wrong = undeclared_by_scripts(root)
    for module, place in imports_of(root):
        if module in sys.stdlib_module_names or module in own or module == "__future__":
            continue
        brought = {_spelled(name) for name in distributions.get(module, [])}
        if brought & (science if place.startswith("analysis/") else platform):
            continue
        # A package of an extra need not be here; the environment that has it knows its distribution.
        if brought & optional or (not brought and _spelled(module) in _modules_of(optional)):
            continue
        because = "is not installed" if find_spec(module) is None else f"comes with {', '.join(sorted(brought)) or '?'}"
        wrong.append(f"{place}: {module} {because}, and no requirement file of the product names it")
    return wrong


def _modules_of(distributions: set[str]) -> set[str]:
    """Modules of optional packages that may be absent: named as their package, but for these."""
    other = {
        "psycopg": "psycopg", "django-storages": "storages", "open-clip-torch": "open-clip", "nvidia-ml-py": "pynvml",
    }  # fmt: skip
    return {other.get(name, name) for name in distributions}


if __name__ == "__main__":
    found = undeclared()
    print("\n".join(found) or "every import of the product is declared")
    sys.exit(bool(found))
