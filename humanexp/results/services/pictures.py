"""Pictures of imported trials: with them, models that were not there can be set beside the published people."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import transaction

from humanexp.core import file_store
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.results.models import TrialImport
from humanexp.stimuli import services as stimuli
from humanexp.stimuli.models import StimulusSet
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

if TYPE_CHECKING:
    import pandas as pd

    from humanexp.stimuli.services import Adopted


def attach_pictures(
    *, study: Study, pictures: Path, originals: Path | None = None, by: User | None = None
) -> StimulusSet:
    """Give an imported study the very pictures of its trials, from a folder or a zip archive.

    Every trial's picture is there, or nothing is written. With a folder of originals the visual change of every
    picture is measured, and becomes the abscissa of the curves.
    """
    from analysis.tables.trials import TRIALS

    permissions.check(by, Action.DESIGN, study)
    trial_import = TrialImport.objects.filter(study=study).first()
    if trial_import is None:
        raise InvalidRequest(f"The trials of {study} were collected here: it has its pictures.")
    if trial_import.pictures_file:
        raise Conflict(f"The study {study} has its pictures already. Import its trials again under another name.")
    trials = TRIALS.read(media_path(trial_import.trials_file))
    found = found_pictures(trials, trial_import.observers, pictures, originals)
    name = f"published-{study.slug}"[:80]
    made, keys = stimuli.adopt_pictures(
        name=name,
        experiment=study.slug,
        pictures=found,
        source=stimuli.open_pictures(pictures),
        originals=None if originals is None else stimuli.open_pictures(originals),
        by=by,
    )
    relative = f"results/imports/{study.slug}-pictures-{secrets.token_hex(6)}.parquet"
    changes = dict(made.stimuli.values_list("key", "visual_change")) if originals is not None else {}
    _write(media_path(relative), trials, keys, changes)
    file_store.publish(relative)
    with transaction.atomic():
        study.stimulus_set = made
        study.save(update_fields=["stimulus_set"])
        trial_import.pictures_file = relative
        trial_import.save(update_fields=["pictures_file"])
        record(action="attach-pictures", subject=f"study:{study.slug}", study=study.slug, by=by, count=len(keys))
    return made


def found_pictures(
    trials: pd.DataFrame, observers: Mapping[str, str], pictures: Path, originals: Path | None = None
) -> list[Adopted]:
    """The file of every picture, in the order in which people saw them first; refused where one is not found."""
    import pandas as pd

    from analysis.published_pictures import match_originals, match_pictures, pictures_of_trials

    is_human = trials["participant"].map(observers) == "human"
    shown = pictures_of_trials(pd.concat([trials[is_human], trials[~is_human]]))
    with closing(stimuli.open_pictures(pictures)) as source:
        matched = match_pictures(shown, source.names(), where=str(pictures))
    clean: dict[str, str] = {}
    if originals is not None:
        with closing(stimuli.open_pictures(originals)) as source:
            clean = match_originals(shown, source.names(), where=str(originals))
    return [
        stimuli.Adopted(
            name=one.stimulus,
            original=one.original,
            category=one.category,
            file=file,
            original_file=clean.get(one.original, ""),
        )
        for one, file in matched.files
    ]


def _write(path: Path, trials: pd.DataFrame, keys: Mapping[str, str], changes: Mapping[str, float]) -> None:
    """A row for each picture: its stimulus in the set, and what the trials say of it."""
    columns = ["stimulus", "original", "category", "corruption", "condition", "visual_change"]
    rows = trials.drop_duplicates("stimulus")[columns].copy()
    rows.insert(0, "key", rows["stimulus"].map(keys))
    if changes:
        rows["visual_change"] = rows["key"].map(changes)
    rows.sort_values("key").to_parquet(path, index=False)
