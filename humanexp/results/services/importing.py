from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.utils.text import slugify

from humanexp.core.errors import InputRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.results.models import TrialImport
from humanexp.studies.models import Origin, Study, StudyFamily, StudyState


@dataclass(frozen=True)
class Imported:
    trial_import: TrialImport
    #: False when the very same files had been imported before
    is_new: bool


def import_trials(*, paths: Sequence[Path], name: str, humans: str = "", by: User | None = None) -> Imported:
    """Make a study from published trial files. All files or none; the same files again change nothing."""
    from analysis.published_trials import digest_of, read_published_trials
    from analysis.tables import TRIALS

    slug = slugify(name)
    if not slug:
        raise InputRefused(f"{name!r} is no name for a study: use letters and digits, e.g. --study noise.")
    before = Study.objects.filter(slug=slug).first()
    if before is not None:
        return Imported(_same_import(before, digest_of(paths), humans), is_new=False)
    published = read_published_trials(paths, study=slug, humans=humans)
    relative = f"results/imports/{slug}-{secrets.token_hex(6)}.parquet"
    path = media_path(relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        TRIALS.write(published.trials, path)
        trial_import = _record(
            slug=slug,
            title=name,
            by=by,
            digest=published.digest,
            files=[{"name": name, "sha256": digest, "trials": count} for name, digest, count in published.files],
            observers=dict(published.observers),
            trials=len(published.trials),
            trials_file=relative,
        )
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return Imported(trial_import, is_new=True)


def _same_import(study: Study, digest: str, humans: str) -> TrialImport:
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
    from analysis.published_trials import kind_of

    observers: dict[str, str] = there.observers
    if humans and any(kind_of(name, humans) != kind for name, kind in observers.items()):
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
        trials=trials,
        trials_file=trials_file,
        created_by=by,
    )
