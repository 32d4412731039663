"""The distribution as pip installs it, in environments that have nothing else.

`make verify` runs it; by hand: ``.venv/bin/python -m tests.product.wheel``. It needs `build` and a package index.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from tests.product.declared_imports import ROOT
from tests.product.steps import WAIT_S, beside, check, copy_project, step
from tests.served import free_port

#: What neither the analysis nor the platform may need.
NOT_OF_THE_BASE = ("django", "torch", "boto3", "requests", "gunicorn", "sklearn", "rest_framework")
NOT_OF_THE_SERVER = ("torch", "sklearn", "psycopg", "distributed", "playwright", "storages")
#: Modules of networks that cannot be defined without torch. They are imported where one is loaded.
OF_TORCH = {"analysis.counterfactuals.autoencoder"}

ABSENT = "import importlib.util as u, json, sys; print(json.dumps([n for n in sys.argv[1:] if u.find_spec(n)]))"
EVERY_MODULE = """
import importlib, json, pkgutil
import analysis

failed = {}
for found in pkgutil.walk_packages(analysis.__path__, "analysis."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ImportError as error:
            failed[found.name] = error.name
print(json.dumps(failed))
"""
NO_TORCH = """
from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.specifications import load_generator
from analysis.errors import ClassifierUnavailable, GeneratorUnavailable

for load, spec, refusal in (
    (load_classifier, "export:fixtures/classifiers/clean.pt2", ClassifierUnavailable),
    (load_generator, "vqgan:fixtures/counterfactuals/autoencoder.pt", GeneratorUnavailable),
):
    try:
        load(spec)
    except refusal as error:
        assert "pip install 'humanexp[torch]'" in str(error), error
    else:
        raise AssertionError(spec)
"""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="humanexp-wheel-") as folder:
        wheel = _built(Path(folder))
        _analysis_alone(Path(folder) / "analysis-alone", wheel)
        _server(Path(folder) / "server", wheel)


def _built(folder: Path) -> Path:
    project, dist = folder / "project", folder / "dist"
    copy_project(project)
    here = _environment()
    step(
        "the sdist, and a wheel from it", sys.executable, "-m", "build", "--outdir", str(dist / "sdist"), str(project),
        cwd=folder, environment=here,
    )  # fmt: skip
    step(
        "a wheel from the repository", sys.executable, "-m", "build", "--wheel", "--outdir", str(dist), str(project),
        cwd=folder, environment=here,
    )  # fmt: skip
    (wheel,), (other,) = dist.glob("*.whl"), (dist / "sdist").glob("*.whl")
    contents = _contents(wheel)
    check("the sdist makes the wheel that the repository makes", contents == _contents(other))
    inside = {"analysis": "", "humanexp": "", "static": "humanexp/", "templates": "humanexp/"}
    own = {
        where + path.relative_to(project).as_posix()
        for folder, where in inside.items()
        for path in (project / folder).rglob("*")
        if path.is_file()
    }
    installed = {name for name in contents if ".dist-info/" not in name}
    check(f"every file of both packages is in the wheel: {sorted(own ^ installed)[:5]}", own == installed)
    return wheel


def _contents(wheel: Path) -> dict[str, int]:
    """Checksums by name; RECORD holds them, too, in any order."""
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.CRC for one in archive.infolist() if not one.filename.endswith("RECORD")}


def _analysis_alone(folder: Path, wheel: Path) -> None:
    python = _installed(folder, str(wheel), what="humanexp")
    here = {"cwd": folder, "environment": _environment()}
    found = json.loads(step("what is not there", python, "-c", ABSENT, *NOT_OF_THE_BASE, **here))
    check(f"the analysis comes without {', '.join(found)}", not found)
    failed = json.loads(step("every module of the analysis", python, "-W", "error", "-c", EVERY_MODULE, **here))
    check(f"only networks need torch: {failed}", failed == dict.fromkeys(OF_TORCH, "torch"))
    step("networks without torch", python, "-c", NO_TORCH, **here)
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs/analysis-tutorial.md").read_text(encoding="utf-8"), re.M | re.S
    )
    check("the tutorial has its blocks", len(blocks) >= 7)
    (folder / "tutorial.py").write_text("\n".join(blocks), encoding="utf-8")
    step("the tutorial", python, "-W", "error", "tutorial.py", **here)
    told = step("the command without the platform", str(Path(python).with_name("humanexp")), "help", status=1, **here)
    check(f"it names the extra: {told}", "pip install 'humanexp[server]'" in told and "Traceback" not in told)


def _server(folder: Path, wheel: Path) -> None:
    python = _installed(folder, f"{wheel}[server]", what="humanexp[server]")
    humanexp = str(Path(python).with_name("humanexp"))
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    before = _files(packages)
    work = folder / "work"
    work.mkdir()
    environment = _environment()
    here = {"cwd": work, "environment": environment}
    found = json.loads(step("what is not there", python, "-c", ABSENT, *NOT_OF_THE_SERVER, **here))
    check(f"the platform comes without {', '.join(found)}", not found)
    step("migrate", humanexp, "migrate", "--verbosity", "0", **here)
    step("check", humanexp, "check", **here)
    step("the doctor", humanexp, "doctor", **here)
    told = step(
        "PostgreSQL without its driver", humanexp, "check", cwd=work, status=1,
        environment={**environment, "DATABASE_URL": "postgres://nobody@127.0.0.1/none"},
    )  # fmt: skip
    check(f"it names the extra: {told}", "pip install 'humanexp[postgres]'" in told)
    port = free_port()
    serving = (python, "-m", "gunicorn", "--config=python:humanexp.serving", f"--bind=127.0.0.1:{port}")
    with beside(*serving, "humanexp.wsgi", log=folder / "web.log", **here):
        site = f"http://127.0.0.1:{port}"
        _wait_for(f"{site}/healthz", folder / "web.log")
        check("the sign-in page is served", b'name="password"' in _fetched(f"{site}/login/"))
        for file in ("css/base.css", "icons/cat.svg", "js/participation/trial/main.js"):
            own = (packages / "humanexp" / "static" / file).read_bytes()
            check(f"{file} is served", _fetched(f"{site}/static/{file}") == own)
    step("a demo without torch", humanexp, "demo", "--no-serve", "--participants", "4", "--json", "demo.json", **here)
    numbers = json.loads((work / "demo.json").read_text(encoding="utf-8"))
    check("the demo has curves of people", len(numbers["curves"]) > 0)
    check("and says why it has no networks", any("humanexp[torch]" in note for note in numbers["notes"]))
    check("files are where the commands were given", {path.name for path in work.iterdir()} == {"media", "demo.json"})
    written = sorted(_files(packages) - before)
    check(f"nothing is written among the packages: {written[:5]}", not written)


def _installed(folder: Path, requirement: str, *, what: str) -> str:
    """The interpreter of a new environment with that requirement."""
    folder.mkdir()
    python = folder / "venv" / "bin" / "python"
    here = {"cwd": folder, "environment": _environment()}
    step("an empty environment", sys.executable, "-m", "venv", "venv", **here)
    quietly = ("--quiet", "--disable-pip-version-check", "--no-compile")
    step(f"pip install {what}", str(python), "-m", "pip", "install", *quietly, requirement, **here)
    return str(python)


def _environment() -> dict[str, str]:
    """Nothing of this checkout: neither its settings nor its modules."""
    foreign = ("DJANGO_SETTINGS_MODULE", "PYTHONPATH", "MEDIA_ROOT", "DATABASE_URL", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts}


def _wait_for(url: str, log: Path) -> None:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            _fetched(url)
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"Nothing answers at {url}:\n{log.read_text(errors='replace')[-4000:]}")


def _fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as reply:  # noqa: S310  a loopback address
        found: bytes = reply.read()
    return found


if __name__ == "__main__":
    main()
