"""Models that are scored on sets of pictures: which sets are meant, and answers of every model to all of them.

This is here because people's answers come from a study and classifiers from evaluations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from analysis.published_trials import REQUIRED
from analysis.sets.set_file import FILE
from analysis.tables.reading import header_of
from humanexp.console.model_options import Asking
from humanexp.core.errors import InputRefused, InvalidRequest, NotFound
from humanexp.core.models import User
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import is_asked
from humanexp.evaluations.services.asked_observers import ask
from humanexp.evaluations.services.evaluations import How, evaluate, evaluate_together
from humanexp.jobs import runner
from humanexp.results.published_sets import ScoredSet, Tell, labelled_folder, published_set
from humanexp.results.services import import_trials
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Study

#: Folders of pictures next to the trial files.
_PICTURES = ("pictures", "images", "stimuli")


@dataclass(frozen=True)
class PublishedFolder:
    """Trial files of one experiment, and where its pictures are; None without pictures."""

    name: str
    files: list[Path]
    pictures: Path | None


def sets_named(
    given: Sequence[str], *, pictures: Mapping[str, Path], labels: str = "", owner: User | None = None, tell: Tell
) -> list[ScoredSet]:
    """The sets that are meant, imported as far as they are not here.

    Parameters
    ----------
    given : sequence of str
        Each the folder of a published set, a folder with trial files of experiments, a folder of labelled pictures, or
        the name of a study or a stimulus set of this installation.
    pictures : mapping of experiment to Path
        Where pictures are that do not lie next to their trial files.
    labels : str
        Label space of folders of labelled pictures; empty: the product's default.
    """
    folders = {one: _folders_in(Path(one).expanduser(), pictures) for one in given}
    unknown = sorted(set(pictures) - {folder.name for found in folders.values() for folder in found})
    if unknown:
        raise InputRefused(f"--pictures {unknown[0]}: no folder of trial files has this name.")
    sets: list[ScoredSet] = []
    for one in given:
        sets += _sets(one, folders[one], labels, owner, tell)
    doubled = next((one.name for place, one in enumerate(sets) if one.name in {s.name for s in sets[:place]}), None)
    if doubled is not None:
        raise InvalidRequest(f"{doubled} is given twice: name it once.")
    return sets


def _sets(
    given: str, folders: Sequence[PublishedFolder], labels: str, owner: User | None, tell: Tell
) -> list[ScoredSet]:
    path = Path(given).expanduser()
    if _is_published(path):
        return [published_set(path, by=owner, tell=tell)]
    if folders:
        return _of_folders(path, folders, owner, tell)
    if path.exists():
        tell(f"{path}: importing labelled pictures")
        return [labelled_folder(path, labels=labels, by=owner)]
    study = Study.objects.filter(slug=given).select_related("stimulus_set__source_set").first()
    if study is not None and study.stimulus_set is None:
        raise InputRefused(
            f"{given} has no pictures: its trials were imported without them. Attach them with attach_pictures {given} "
            "PATH."
        )
    if study is not None and study.stimulus_set is not None:
        return [ScoredSet(study.stimulus_set, study)]
    made = StimulusSet.objects.filter(name=given).select_related("source_set").first()
    if made is None:
        raise NotFound(f"{given} is no folder or archive, and no study or stimulus set is called that.")
    return [ScoredSet(made, Study.objects.filter(stimulus_set=made, origin="imported").first())]


def _is_published(path: Path) -> bool:
    return path.name == FILE or (path / FILE).is_file()


def _folders_in(path: Path, pictures: Mapping[str, Path]) -> list[PublishedFolder]:
    """Every folder with trial files, by name; none in a published set, which says itself where they are."""
    if _is_published(path) or not path.is_dir():
        return []
    return sorted(_folders(path, pictures), key=lambda one: one.name)


def _folders(folder: Path, pictures: Mapping[str, Path]) -> Iterator[PublishedFolder]:
    for place in (folder, *sorted(path for path in folder.rglob("*") if path.is_dir())):
        files = [path for path in sorted(place.glob("*.csv")) if set(REQUIRED) <= set(header_of(path))]
        if files:
            name = slugify(place.resolve().name)
            beside = (place / one for one in _PICTURES)
            usual = next((path for path in (*beside, folder / "pictures" / place.name) if path.is_dir()), None)
            yield PublishedFolder(name, files, pictures.get(name, usual))


def _of_folders(folder: Path, found: Sequence[PublishedFolder], owner: User | None, tell: Tell) -> list[ScoredSet]:
    """Import what is missing; experiments without pictures stay out."""
    names = [one.name for one in found]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputRefused(f"{folder}: two folders of trial files are called {doubled[0]}. Rename one.")
    sets, without = [], []
    for one in found:
        imported = import_trials(paths=one.files, name=one.name, pictures=one.pictures, by=owner)
        for note in imported.notes:
            tell(f"{one.name}: {note}")
        study = Study.objects.select_related("stimulus_set__source_set").get(pk=imported.trial_import.study_id)
        if study.stimulus_set is None:
            without.append(one.name)
        else:
            sets.append(ScoredSet(study.stimulus_set, study))
    if not sets:
        raise InputRefused(
            f"None of {', '.join(without)} has pictures: put them into a folder `pictures` next to the trial files, or "
            "name them with --pictures NAME=PATH."
        )
    if without:
        tell(f"Not in the table, for want of pictures: {', '.join(without)}.")
    return sets


def answer(
    sets: Sequence[ScoredSet],
    specs: Sequence[str],
    *,
    how: How,
    asking: Asking,
    name: str = "",
    owner: User | None = None,
    tell: Tell,
) -> None:
    """Let every model answer every set; what was answered before is not asked again where the model is asked in words.

    Networks look at the pictures of a set together.
    """
    in_words = [spec for spec in specs if is_asked(spec)]
    networks = [spec for spec in specs if not is_asked(spec)]
    if name and len(specs) > 1:
        raise InvalidRequest("--name is for one model at a time.")
    for one in sets:
        where: dict[str, Any] = {"stimulus_set": one.stimulus_set, "owner": owner}
        runs: list[EvaluationRun] = []
        if len(networks) == 1:
            run, job = evaluate(spec=networks[0], name=name, how=how, **where)
            runs = [run]
        elif networks:
            runs, job = evaluate_together(specs=networks, how=how, **where)
        if networks:
            runner.finish(job, what=f"The evaluation on {one.name}", tell=tell)
        for spec in in_words:
            run, job = ask(spec=spec, name=name, tell=tell, **asking.arguments, **where)
            runner.finish(job, what=f"The evaluation on {one.name}", tell=tell)
            runs.append(run)
        for run in runs:
            run.refresh_from_db()
            tell(f"{run.name} on {one.name}: {run.count} pictures")
