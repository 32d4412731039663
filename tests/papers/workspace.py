"""A small workspace that the papers' commands made, in a database of its own: pictures, stimuli, answers, findings."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings

from analysis.examples.pictures import write_source_folder
from humanexp.core.models import User
from humanexp.results.models import AnalysisRun
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Study, StudyState
from tests.counterfactuals.networks import CLEAN, ROBUST
from tests.results.collected import answer

FUNCTIONS = ("gaussian_noise", "uniform_noise", "gaussian_blur")
#: Stimuli a function, and people, each of whom answers all of them: a bin of Algorithm 1 needs 20 answers.
COUNT, PEOPLE = 64, 24
SIZE_PX = 112
STUDY = f"""
title = "Noise and blur"
slug = "SLUG"
stimuli = "demo"
rules = "none"
protocol = {{ name = "vcr", size_px = {SIZE_PX} }}

[analysis]
ANALYSIS

[design]
sessions = {PEOPLE}
main_trials = 20
qualification_trials = 0
practice_trials = 2
gold_trials = 4
consistency_pairs = 2
"""


def told(*arguments: object) -> str:
    """What a command says."""
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


@dataclass(frozen=True)
class Workspace:
    """The folder with everything in it, while its database and files are those of this process."""

    folder: Path

    @cached_property
    def findings(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "demo.json").read_text(encoding="utf-8"))
        return found

    def drawn(self, *arguments: object) -> dict[str, list[dict[str, str]]]:
        """Rows of the CSV files that `figure` writes beside a figure, by the files' names."""
        to = self.folder / f"figures-{len(list(self.folder.glob('figures-*')))}"
        told("figure", *arguments, f"--to={to}", "--format=svg")
        assert (to / f"{arguments[0]}.svg").stat().st_size > 1000
        texts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(to.glob("*.csv"))}
        return {name: list(csv.DictReader(StringIO(text))) for name, text in texts.items()}

    def analysed(self, slug: str, *more: object) -> dict[str, Any]:
        """Every number of an analysis without refits, which is forgotten: figures are of the one with refits."""
        file = self.folder / f"{slug}-again.json"
        told("analyse", slug, f"--json={file}", "--bootstrap=0", *more)
        AnalysisRun.objects.filter(study__slug=slug).latest("pk").delete()
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def planned(self, slug: str, *, analysis: str = "", **changes: object) -> Study:
        """A study that `create_study` has planned from a file, with lines of it changed."""
        text = STUDY.replace("SLUG", slug).replace("ANALYSIS", analysis)
        lines = [line for line in text.splitlines() if line.partition(" = ")[0] not in changes]
        file = self.folder / f"{slug}.toml"
        file.write_text("\n".join([*lines, *(f"{name} = {value}" for name, value in changes.items())]))
        told("create_study", file)
        return Study.objects.get(slug=slug)

    @cached_property
    def client(self) -> Client:
        """Of somebody who sees everything."""
        client = Client()
        client.force_login(User.objects.get(username="lab"))
        return client

    def page(self, address: str) -> str:
        """The words of a page, without its marks."""
        answered = self.client.get(address, follow=True)
        assert answered.status_code == 200, address
        return " ".join(answered.content.decode().split())


def answered(study: Study) -> None:
    """Everybody names every stimulus of the study's set."""
    shown = list(study.stimulus_set.stimuli.select_related("source_image").order_by("key"))
    Study.objects.filter(pk=study.pk).update(state=StudyState.COLLECTING)
    answer(study, [shown] * PEOPLE, np.random.default_rng(2))


def make(database: Path, folder: Path) -> None:
    """Everything that several tests need, command after command."""
    (folder / "media").mkdir(parents=True)
    shutil.copyfile(database, folder / "db.sqlite3")
    with at(folder) as workspace:
        User.objects.create_superuser("lab")
        write_source_folder(folder / "drawings", 4, 5)
        told("import_images", folder / "drawings", "--name=demo")
        told(
            *("generate_stimuli", "--images=demo", f"--corruption={','.join(FUNCTIONS)}", f"--count={COUNT}"),
            *(f"--size={SIZE_PX}", "--name=demo"),
        )
        told("evaluate", "--stimuli=demo", f"--classifier={CLEAN}", "--kind=supervised")
        told("evaluate", "--stimuli=demo", f"--classifier={ROBUST}", "--kind=corruptions")
        study = workspace.planned("demo")
        answered(study)
        told("analyse", "demo", "--bootstrap=40", f"--json={folder / 'demo.json'}")


@contextmanager
def at(folder: Path) -> Iterator[Workspace]:
    """Commands and pages work on this folder's database and files."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = str(folder / "db.sqlite3")
    try:
        with override_settings(MEDIA_ROOT=folder / "media", COMPUTE="serial"):
            yield Workspace(folder)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def stimulus_set(name: str = "demo") -> StimulusSet:
    return StimulusSet.objects.get(name=name)
