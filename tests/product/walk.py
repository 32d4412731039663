"""The product as it is installed: a demo and what people do after it, in an environment with requirements.txt alone.

`make verify` runs it; by hand: ``.venv-product/bin/python -m tests.product.walk``. It needs no test runner, for an
environment with one has more packages than the product's.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tests.product import readme
from tests.product.declared_imports import ROOT, undeclared
from tests.product.steps import check, step

#: Packages of the tests: where one of them is installed, a missing declaration goes unnoticed.
NOT_OF_THE_PRODUCT = ("pytest", "hypothesis", "moto", "playwright", "timm", "mypy")
NETWORKS = ("fixtures/classifiers/clean.pt2", "fixtures/classifiers/robust.pt2")

TRANSFER = """
from humanexp.counterfactuals.selectors import groups
from humanexp.counterfactuals.services.benchmarks import start_transfer
from humanexp.jobs import runner
(group,) = [one for one in groups() if one.is_transferable]
job = runner.run_to_the_end(start_transfer(group=group), tell=print)
assert job.state == "done", job.error
print(len(group.runs), "searches,", job.result["cells"], "cells")
"""
REPORT = """
from humanexp.jobs import runner
from humanexp.results import selectors, services
from humanexp.studies.models import Study
study = Study.objects.get(slug="demo")
job = runner.run_to_the_end(services.request_report(run=selectors.latest_run(study)), tell=print)
assert job.state == "done", job.error
"""


class Walk:
    """Steps one after the other, in one folder of files; the first that fails ends the walk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
            "MEDIA_ROOT": str(folder / "media"),
        }

    def python(self, what: str, *arguments: str) -> str:
        return step(what, sys.executable, *arguments, cwd=ROOT, environment=self.environment)

    def manage(self, what: str, *arguments: str) -> str:
        return self.python(what, "manage.py", *arguments)


def main() -> None:
    too_much = [name for name in NOT_OF_THE_PRODUCT if find_spec(name) is not None]
    if too_much:
        raise SystemExit(f"This environment has {', '.join(too_much)}: it is not the product's.")
    if wrong := undeclared():
        raise SystemExit("\n".join(wrong))
    print("every import of the product is declared")
    with tempfile.TemporaryDirectory(prefix="humanexp-product-") as folder:
        _walk(Walk(Path(folder)))
    with tempfile.TemporaryDirectory(prefix="humanexp-readme-") as folder:
        readme.run(Path(folder))


def _walk(walk: Walk) -> None:
    numbers = walk.folder / "demo.json"
    walk.manage("a demo of 8 participants", "demo", "--no-serve", "--participants", "8", "--json", str(numbers))
    check("the demo names its models", len(json.loads(numbers.read_text())["observers"]) > 8)
    for number, network in enumerate(NETWORKS):
        walk.manage(
            f"a small search against {Path(network).stem}",
            *("counterfactuals", "--images", "demo", "--classifier", f"export:{network}", "--generator", "pixel:"),
            *("--oracle", "classifier:export:fixtures/counterfactuals/oracle.pt2", "--name", f"search-{number}"),
            *("--pictures", "16", "--budget", "3", "--size", "112"),
        )
    print(walk.manage("transfer between the two", "shell", "-c", TRANSFER).strip())
    retrained = walk.folder / "retrained.pt2"
    walk.manage(
        "one epoch of retraining",
        *("retrain", "--stimuli", "demo", "--classifier", f"export:{NETWORKS[0]}", "--epochs", "1", "--out"),
        str(retrained),
    )
    check("retraining wrote a network", retrained.stat().st_size > 0)
    walk.manage("a report", "shell", "-c", REPORT)
    out = walk.folder / "out"
    walk.manage("an export", "export", "demo", "--to", str(out))
    again = walk.folder / "again.json"
    walk.python(
        "every number again from the export", "-m", "analysis.findings", str(out), "--json", str(again), "--check"
    )
    walk.manage("the doctor", "doctor")


if __name__ == "__main__":
    main()
