"""Published sets of pictures in this installation: with the answers of people as a study, without them as stimuli."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from django.utils.text import slugify

from analysis.errors import InvalidInput
from analysis.labels.files import read_labels_file
from analysis.sets.set_file import FILE, PublishedSet, SetFile
from humanexp.core.errors import Conflict, InputRefused
from humanexp.core.models import User
from humanexp.core.names import LONGEST
from humanexp.results.services import import_trials
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.selectors.labels import space_named
from humanexp.stimuli.services.adopted_pictures import Adopted, Adoption, adopt_pictures, open_pictures
from humanexp.stimuli.services.imports import preview_import
from humanexp.stimuli.services.label_sets import store_labels
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.stimuli.sources import LabelledFile
from humanexp.studies.models import Study

Tell = Callable[[str], object]
#: Side at which a folder of photographs is shown that says nothing of it.
SHOWN_PX = 224


@dataclass(frozen=True)
class ScoredSet:
    """Pictures that models are scored on.

    Attributes
    ----------
    stimulus_set : StimulusSet
    study : Study or None
        Of the people who answered; None where there are none.
    """

    stimulus_set: StimulusSet
    study: Study | None = None

    @property
    def name(self) -> str:
        return self.study.slug if self.study is not None else self.stimulus_set.name

    @property
    def file(self) -> SetFile | None:
        """What its author says of it; None of pictures that are no published set."""
        document = self.stimulus_set.source_set.set_document
        return SetFile.from_toml(document) if document else None


def published_set(path: Path, *, by: User | None = None, tell: Tell) -> ScoredSet:
    """The set of a folder with a ``set.toml``, imported unless it is here; all or nothing.

    Every picture is compared with its digest, also of a set that is here. Another set of the same name and version is
    refused.
    """
    try:
        one = PublishedSet.read(path)
    except InvalidInput as error:
        raise InputRefused(str(error)) from error
    before = StimulusSet.objects.filter(source_set__set_digest=one.digest).select_related("source_set").first()
    if before is not None:
        return ScoredSet(before, Study.objects.filter(stimulus_set=before).order_by("pk").first())
    taken = SourceSet.objects.filter(name__in=(one.key, f"published-{one.key}")).first()
    if taken is not None or Study.objects.filter(slug=one.key).exists():
        raise Conflict(
            f"{path}: version {one.file.version} of {one.file.name} is here already, with another {FILE} or other "
            "pictures. A changed set needs a new version."
        )
    labels = _labels(one, by)
    about = Adoption(
        labels=labels,
        size_px=one.file.pictures.size_px or 0,
        provenance=one.file.citation or one.file.title,
        licence=one.file.licence,
        document=one.text,
        digest=one.digest,
    )
    if one.file.trials is None:
        tell(f"{one.key}: importing its pictures")
        return ScoredSet(_labelled(one.key, one.pictures, about, one.file, by))
    tell(f"{one.key}: importing trials and pictures")
    about = replace(about, factors=factors_by_file(one, labels=labels))
    trials = one.file.trials
    imported = import_trials(
        paths=one.trial_files,
        name=one.key,
        humans=trials.humans,
        classifiers=trials.classifiers,
        times_in=trials.times_in,
        pictures=one.pictures,
        answers=one.answer_files,
        letters=trials.letters,
        labels=about.labels,
        none_offered=trials.none_offered,
        only_pictured=trials.only_pictured,
        about=about,
        by=by,
    )
    for note in imported.notes:
        tell(f"{one.key}: {note}")
    study = Study.objects.select_related("stimulus_set__source_set").get(pk=imported.trial_import.study_id)
    if study.stimulus_set is None:
        raise InputRefused(f"{path}: the trials of {one.key} have no pictures.")
    return ScoredSet(study.stimulus_set, study)


def factors_by_file(one: PublishedSet, *, labels: str) -> dict[str, Mapping[str, str]]:
    """What the set's table says of its pictures, by their paths in the folder of pictures; empty without factors."""
    about = one.file.pictures
    if not (about.table and about.factors and one.pictures.is_dir()):
        return {}
    order = ImportOrder(name=one.key, labels=labels, factors=list(about.factors))
    return {file.name: file.factors for file in preview_import(source=one.pictures / about.table, order=order).files}


def labelled_folder(path: Path, *, labels: str = "", by: User | None = None) -> ScoredSet:
    """A folder, table or archive of labelled photographs, imported unless pictures of this name are here."""
    name = slugify(path.resolve().stem)[:LONGEST]
    before = StimulusSet.objects.filter(name=name).select_related("source_set").first()
    if before is not None:
        raise Conflict(
            f"{path}: there are pictures called {name} already. Name them (--on {name}), or rename the folder."
        )
    return ScoredSet(_labelled(name, path, Adoption(labels=labels, size_px=SHOWN_PX), None, by))


def _labels(one: PublishedSet, by: User | None) -> str:
    """The name of the set's labels, which a file of its own may bring."""
    named = one.file.labels
    if not named.endswith(".toml"):
        space_named(named)
        return named
    file = one.folder / named
    if not file.is_file():
        raise InputRefused(f"{one.folder / FILE}, labels: there is no file {named} beside it.")
    return store_labels(read_labels_file(file), by=by).name


def _labelled(name: str, pictures: Path, about: Adoption, file: SetFile | None, by: User | None) -> StimulusSet:
    """A stimulus set of labelled pictures without trials."""
    factors = list(file.pictures.factors) if file is not None else []
    table = file.pictures.table if file is not None else ""
    found = preview_import(
        source=pictures / table if table else pictures,
        order=ImportOrder(name=name, labels=about.labels, factors=factors),
    )
    if not found.files:
        raise InputRefused(f"{pictures}: no picture in it has a label of {space_named(about.labels).name}.")
    made, _ = adopt_pictures(
        name=name,
        experiment=name,
        pictures=[_adopted(one) for one in found.files],
        source=open_pictures(pictures),
        about=about,
        by=by,
    )
    return made


def _adopted(one: LabelledFile) -> Adopted:
    """A picture by its path, which alone is unique."""
    name = re.sub(r"\.\w+$", "", one.name)
    return Adopted(
        name=one.name,
        original=name,
        category=one.category,
        file=one.name,
        accepted=one.accepted,
        competing=one.competing,
        wnid=one.wnid,
        factors=one.factors,
    )
