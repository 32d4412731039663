"""Classifiers next to people: one is retrained, or scored on all published experiments in a folder.

This is here because people's curves come from a study and classifiers from evaluations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.text import slugify

from analysis.published_trials import REQUIRED
from analysis.tables.reading import header_of
from humanexp.core.errors import InputRefused, InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.storage import media_path
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.services import evaluations
from humanexp.evaluations.services.evaluations import How
from humanexp.evaluations.services.retraining import Wanted, describe
from humanexp.evaluations.specs import SHELF
from humanexp.jobs import runner, services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for
from humanexp.participation.sessions import session_counts
from humanexp.results.charts.agreement import benchmark_table
from humanexp.results.services import import_trials
from humanexp.studies.models import Study

if TYPE_CHECKING:
    from analysis.findings.model.agreement import AverageObserver


RETRAIN = "console.retrain"


@transaction.atomic
def retrain(
    *,
    study: Study | None = None,
    allow_download: bool = False,
    by: User | None = None,
    owner: User | None = None,
    **wanted: Any,
) -> tuple[Retraining, Job]:
    """Ask for a network to be trained further; with a study, it is compared with that study's people.

    The other arguments are those of `humanexp.evaluations.services.retraining.Wanted`. The very same while it is under
    way is the job that there is.
    """
    described = Wanted(**wanted, people_of=study.slug if study else "")
    row = describe(described, by=by, owner=owner)
    if study is not None and study.stimulus_set_id not in (row.stimulus_set_id, row.evaluation_set_id):
        raise InvalidRequest(
            f"The people of {study.slug} saw other stimuli than {row.stimulus_set}: name their study.",
            fields={"study": "of these stimuli"},
        )
    if study is not None and not session_counts(study)["completed"]:
        raise InvalidRequest(
            f"No one has finished a session of {study.slug} yet: wait, or compare with no one.",
            fields={"study": "with answers"},
        )
    under_way = latest_for(row.job_subject, RETRAIN)
    if under_way is not None and not under_way.is_finished:
        return row, under_way
    record(
        action="retrain", subject=f"network:{Path(row.out).stem}", study=row.people_of, by=by, before=row.spec,
        stimuli=row.stimulus_set.name,
    )  # fmt: skip
    return row, jobs.submit(
        RETRAIN,
        subject=row.job_subject,
        by=by,
        retraining_id=row.pk,
        study_id=study.pk if study else None,
        allow_download=allow_download,
        # The command line may name a researcher's own factory; an account may not.
        allow_code=by is None,
    )


def retrain_onto_shelf(*, name: str, **asked: Any) -> tuple[Retraining, Job]:
    """The same from the console: the network comes to stand where it can be evaluated."""
    out = media_path(f"{SHELF}/{name}.pt2")
    if out.exists() or out.with_suffix(".json").exists():
        raise InvalidRequest(f"There is a network {name} already: choose another name.", fields={"name": "a new one"})
    out.parent.mkdir(parents=True, exist_ok=True)
    return retrain(out=out, **asked)


#: Folders of pictures next to the trial files.
_PICTURES = ("pictures", "images", "stimuli")
Tell = Callable[[str], object]


@dataclass(frozen=True)
class PublishedFolder:
    """Trial files of one experiment, and where its pictures are; None without pictures."""

    name: str
    files: list[Path]
    pictures: Path | None


def published_folders(folder: Path, pictures: Mapping[str, Path]) -> list[PublishedFolder]:
    """Every folder with trial files, by name; `pictures` names those of single experiments."""
    if not folder.is_dir():
        raise InputRefused(f"{folder}: there is no such folder. Name one that holds folders of trial files.")
    found = sorted(_folders(folder, pictures), key=lambda one: one.name)
    if not found:
        raise InputRefused(f"{folder}: no CSV file in it has the columns {', '.join(REQUIRED)}.")
    names = [one.name for one in found]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputRefused(f"{folder}: two folders of trial files are called {doubled[0]}. Rename one.")
    unknown = sorted(set(pictures) - set(names))
    if unknown:
        raise InputRefused(f"--pictures {unknown[0]}: there is no such experiment. There are: {', '.join(names)}.")
    return found


def _folders(folder: Path, pictures: Mapping[str, Path]) -> Iterator[PublishedFolder]:
    for place in (folder, *sorted(path for path in folder.rglob("*") if path.is_dir())):
        files = [path for path in sorted(place.glob("*.csv")) if set(REQUIRED) <= set(header_of(path))]
        if files:
            name = slugify(place.resolve().name)
            beside = (place / one for one in _PICTURES)
            usual = next((path for path in (*beside, folder / "pictures" / place.name) if path.is_dir()), None)
            yield PublishedFolder(name, files, pictures.get(name, usual))


def score(*, folders: Sequence[PublishedFolder], spec: str, name: str, how: How, tell: Tell) -> list[Study]:
    """Import what is missing and let the model answer wherever there are pictures; returns the studies of these."""
    studies = []
    without = []
    for one in folders:
        imported = import_trials(paths=one.files, name=one.name, pictures=one.pictures)
        for note in imported.notes:
            tell(f"{one.name}: {note}")
        study = Study.objects.select_related("stimulus_set").get(pk=imported.trial_import.study_id)
        if study.stimulus_set is None:
            without.append(one.name)
            continue
        studies.append(study)
        run, job = evaluations.evaluate(stimulus_set=study.stimulus_set, spec=spec, name=name, how=how)
        runner.finish(job, what=f"The evaluation on {one.name}", tell=tell)
        run.refresh_from_db()
        tell(f"{run.name} on {one.name}: {run.count} pictures")
    if len(without) == len(folders):
        raise InputRefused(
            f"None of {', '.join(without)} has pictures: put them into a folder `pictures` next to the trial files, or "
            "name them with --pictures NAME=PATH."
        )
    if without:
        tell(f"Not in the table, for want of pictures: {', '.join(without)}.")
    return studies


def report_pdf(standings: Sequence[AverageObserver], *, title: str) -> bytes:
    """The table with its definitions on paper."""
    from analysis.claims.agreement import benchmark_caveats, benchmark_definitions
    from analysis.documents.pdf import to_pdf
    from analysis.documents.value import Block, Document, Paragraph, Section, TableBlock, draw_figures

    said = (*benchmark_definitions(), *benchmark_caveats())
    table = TableBlock(benchmark_table(standings).for_print())
    blocks: tuple[Block, ...] = (table, *(Paragraph(text, is_note=True) for text in said))
    document = Document(title=title, subtitle="", abstract=(), sections=(Section("Observers next to people", blocks),))
    return to_pdf(document, draw_figures(document))
