from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.utils.text import slugify

from analysis.trial_meaning import Unit, kinds_of
from humanexp.core import file_store
from humanexp.core.errors import InputRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.results.models import TrialImport
from humanexp.results.services.pictures import attach_pictures, found_pictures
from humanexp.studies.models import Origin, Study, StudyFamily, StudyState


@dataclass(frozen=True)
class Imported:
    trial_import: TrialImport
    #: False when the very same files had been imported before
    is_new: bool
    #: what was decided about the files' meaning, a sentence each
    notes: tuple[str, ...] = ()


def import_trials(
    *,
    paths: Sequence[Path],
    name: str,
    humans: str = "",
    classifiers: str = "",
    times_in: Unit = "s",
    pictures: Path | None = None,
    originals: Path | None = None,
    answers: Sequence[Path] = (),
    letters: bool = False,
    by: User | None = None,
) -> Imported:
    """Make a study from published trial files. All files or none; the same files again change nothing.

    With a folder or archive of pictures, these are attached; one that is missing or ambiguous refuses everything.
    `answers` are files of texts that models gave about the same pictures, read by rule; with `letters`, a letter names
    the category at its place in the alphabet.
    """
    from analysis.published_trials import digest_of, read_published_trials
    from analysis.tables.trials import TRIALS

    roles = {"humans": humans, "classifiers": classifiers}
    slug = slugify(name)
    if not slug:
        raise InputRefused(f"{name!r} is no name for a study: use letters and digits, e.g. --study noise.")
    before = Study.objects.filter(slug=slug).first()
    if before is not None:
        known = _same_import(before, digest_of([*paths, *answers]), **roles)
        if pictures is not None and not known.pictures_file:
            attach_pictures(study=before, pictures=pictures, originals=originals, by=by)
            known.refresh_from_db()
        return Imported(known, is_new=False)
    published = read_published_trials(
        paths, study=slug, **roles, times_in=times_in, answers=answers, style="letters" if letters else "words"
    )
    if pictures is not None:
        found_pictures(published.trials, published.observers, pictures, originals)
    relative = f"results/imports/{slug}-{secrets.token_hex(6)}.parquet"
    path = media_path(relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        TRIALS.write(published.trials, path)
        file_store.publish(relative)
        trial_import = _record(
            slug=slug,
            title=name,
            by=by,
            digest=published.digest,
            files=[{"name": name, "sha256": digest, "trials": count} for name, digest, count in published.files],
            observers=dict(published.observers),
            kinds=published.kinds,
            trials=len(published.trials),
            trials_file=relative,
        )
    except BaseException:
        path.unlink(missing_ok=True)
        file_store.forget(relative)
        raise
    if pictures is not None:
        try:
            attach_pictures(study=trial_import.study, pictures=pictures, originals=originals, by=by)
        except BaseException:
            # A picture that cannot be read shows itself only now: then nothing of the import stays.
            _forget(trial_import)
            raise
        trial_import.refresh_from_db()
    return Imported(trial_import, is_new=True, notes=published.notes)


def _forget(trial_import: TrialImport) -> None:
    study = trial_import.study
    with transaction.atomic():
        study.delete()
        study.family.delete()
    file_store.forget(trial_import.trials_file)
    file_store.local_path(trial_import.trials_file).unlink(missing_ok=True)


def _same_import(study: Study, digest: str, *, humans: str, classifiers: str) -> TrialImport:
    """The import that is already there, if it is of these files; another study of that name is kept as it is."""
    there = TrialImport.objects.filter(study=study).first()
    if there is None:
        raise InputRefused(
            f"The study {study.slug!r} exists, and its trials were collected here. Choose another name with --study."
        )
    if there.digest != digest:
        raise InputRefused(
            f"The study {study.slug!r} holds {there.trials} trials of other files, and imported trials "
            "never change. Import these files under another name with --study."
        )
    observers: dict[str, str] = there.observers
    kinds, _ = kinds_of({name: kind == "human" for name, kind in observers.items()}, humans, classifiers)
    if kinds != observers:
        raise InputRefused(
            f"The study {study.slug!r} holds these files, with other observers as people. "
            "Import them under another name."
        )
    return there


@transaction.atomic
def _record(
    *,
    slug: str,
    title: str,
    by: User | None,
    digest: str,
    files: list[dict[str, object]],
    observers: dict[str, str],
    kinds: dict[str, dict[str, int]],
    trials: int,
    trials_file: str,
) -> TrialImport:
    if StudyFamily.objects.filter(slug=slug).exists():
        raise InputRefused(f"There are already studies in a family called {slug!r}. Choose another name with --study.")
    study = Study.objects.create(
        family=StudyFamily.objects.create(slug=slug),
        slug=slug,
        title=title,
        origin=Origin.IMPORTED,
        state=StudyState.STOPPED,
        digest=digest,
        created_by=by,
    )
    return TrialImport.objects.create(
        study=study,
        digest=digest,
        files=files,
        observers=observers,
        kinds=kinds,
        trials=trials,
        trials_file=trials_file,
        created_by=by,
    )
