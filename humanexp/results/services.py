"""Writes of results: the analysis of a study, planned and carried out, and trials made elsewhere, with pictures."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.text import slugify
from pydantic import JsonValue

from analysis.findings.model.entry import N_BOOTSTRAP
from analysis.findings.model.settings import Settings
from analysis.labels.files import default_labels, labels_to_toml
from analysis.labels.lists import ACCEPTED, COMPETING, ids_in
from analysis.trial_meaning import Unit, kinds_of
from humanexp.core import clock, file_store
from humanexp.core.errors import Conflict, InputRefused, InvalidRequest, NotFound, StudyRefused
from humanexp.core.models import User, record
from humanexp.core.storage import media_path, write_whole
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.participation.models import Response, counting
from humanexp.results import tables
from humanexp.results.imported_exports import Imported, import_export, record_import, same_files
from humanexp.results.models import AnalysisPlan, AnalysisRun, TrialImport
from humanexp.results.selectors import ANALYSE, Selection, analyses_under_way, self_reports
from humanexp.screening.services import judge_study
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.labels import space_named
from humanexp.stimuli.services.adopted_pictures import UNDESCRIBED, Adopted, Adoption, adopt_pictures, open_pictures
from humanexp.stimuli.services.label_sets import store_labels
from humanexp.studies import permissions
from humanexp.studies.models import Action, Origin, Study
from humanexp.studies.selectors import subject_of

if TYPE_CHECKING:
    import pandas as pd

    from analysis.reporting.plan import FrozenPlan
    from analysis.study.analysis_plan import CurveKind


def freeze_analysis_plan(*, study: Study, by: User | None = None) -> AnalysisPlan:
    """Freeze what is asked and how it is analysed. Once a study; it says how many answers there were already."""
    permissions.check(by, Action.ANALYSE, study)
    if study.origin == Origin.IMPORTED:
        raise StudyRefused("The trials of this study were published before: there is nothing left to plan.")
    plan = plan_as_it_stands(study)
    answers = Response.objects.filter(counting("session"), session__study=study).count()
    try:
        with transaction.atomic():
            record(
                action="freeze-analysis-plan",
                subject=f"study:{study.slug}",
                study=study.slug,
                by=by,
                digest=plan.digest,
                answers_before=answers,
            )
            return AnalysisPlan.objects.create(
                study=study,
                content=plan.content,
                digest=plan.digest,
                answers_before=answers,
                frozen_at=clock.now(),
                frozen_by=by,
            )
    except IntegrityError:
        raise Conflict(
            "This study's analysis plan is frozen already, and a frozen plan never changes. What is done otherwise is "
            "listed as a deviation."
        ) from None


def plan_as_it_stands(study: Study) -> FrozenPlan:
    """The plan that would be frozen now."""
    from analysis.reporting.plan import freeze_plan

    settings = {**tables.analysis_settings(study), "n_bootstrap": N_BOOTSTRAP, "selection": None}
    return freeze_plan(study_snapshot(study), settings)


def study_snapshot(study: Study) -> Mapping[str, JsonValue]:
    """What the study is: its configuration, its rules, its stimuli."""
    return {
        "title": study.title,
        "configuration": study.configuration,
        "digest": study.digest,
        "rules": study.rule_set,
        "stimuli": None if study.stimulus_set is None else study.stimulus_set.name,
        "sessions": study.planned_sessions,
        "plan_digest": study.plan_digest,
    }


def run_analysis(
    *,
    study: Study,
    seed: int | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    curve: CurveKind | None = None,
    selection: Selection | None = None,
    by: User | None = None,
    report: Progress = silent,
) -> AnalysisRun:
    """Judge the sessions, compute every finding, store the JSON and one row. The row appears when all is there.

    `curve` draws curves otherwise than the plan does, which the results list as a deviation.
    A `selection` other than the planned one stands in the JSON, and the run beside the planned ones.
    """
    from analysis.compute import executor
    from analysis.findings.analysing import analyse

    started = time.perf_counter()
    report(0, 0, "judging sessions and gathering answers")
    if study.origin == Origin.COLLECTED:
        judge_study(study)
    inputs = tables.analysis_tables(study)
    selection = selection or Selection()
    if not selection.is_whole:
        inputs["trials"] = selection.of_trials(inputs["trials"], self_reports(study))
        inputs["predictions"] = selection.of_predictions(inputs["predictions"])
        if inputs["answers"] is not None:
            inputs["answers"] = selection.of_predictions(inputs["answers"])
    # Published networks may be imported without people; a study of one's own is about people.
    if inputs["trials"].empty and (study.origin == Origin.COLLECTED or inputs["predictions"].empty):
        if not selection.is_whole:
            raise StudyRefused("Nothing is left to analyse with this choice of sessions and trials: limit it less.")
        raise StudyRefused("There is nothing to analyse yet: the study has no answers. Recruit participants first.")
    seed = study.seed if seed is None else seed
    chosen = {**tables.analysis_settings(study), "network_kinds": tables.network_kinds(study)}
    if curve is not None:
        chosen["curve"] = curve
    planned = Settings.planned(**chosen, seed=seed, n_bootstrap=n_bootstrap)
    with executor(settings.COMPUTE) as pool:
        found = analyse(
            **inputs,
            settings=planned,
            labels=study.space,
            study=study.slug,
            executor=pool,
            report=report,
        )
    if not selection.is_whole:
        found = found.model_copy(update={"selection": selection.to_dict()})
    relative = f"results/{study.slug}/findings-{secrets.token_hex(6)}.json"
    path = media_path(relative)
    write_whole(path, json.dumps(found.to_json(), allow_nan=False).encode())
    try:
        file_store.publish(relative)
        return AnalysisRun.objects.create(
            study=study,
            version=found.version,
            seed=seed,
            n_bootstrap=n_bootstrap,
            data_digest=found.data_digest,
            findings_file=relative,
            trials=len(inputs["trials"]),
            selection=selection.to_dict(),
            seconds=time.perf_counter() - started,
            created_by=by,
        )
    except BaseException:
        path.unlink(missing_ok=True)
        file_store.forget(relative)
        raise


def request_analysis(
    *, study: Study, n_bootstrap: int = N_BOOTSTRAP, selection: Selection | None = None, by: User | None = None
) -> Job:
    """Queue an analysis; while one with the same choice waits or runs, that one is the answer."""
    permissions.check(by, Action.ANALYSE, study)
    chosen = (selection or Selection()).to_dict()
    for job in analyses_under_way(study):
        if job.parameters.get("selection", {}) == chosen:
            return job
    with transaction.atomic():
        record(action="analyse", subject=f"study:{study.slug}", study=study.slug, by=by)
        return jobs.submit(
            ANALYSE, subject=subject_of(study), by=by, study_id=study.pk, n_bootstrap=n_bootstrap, selection=chosen
        )


def attach_pictures(
    *,
    study: Study,
    pictures: Path,
    originals: Path | None = None,
    about: Adoption = UNDESCRIBED,
    by: User | None = None,
) -> StimulusSet:
    """Give an imported study the very pictures of its trials, from a folder or a zip archive.

    Every trial's picture is there, or nothing is written. With a folder of originals the visual change of every
    picture is measured, and becomes the abscissa of the curves. `about` says what more is known of them.
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
    made, keys = adopt_pictures(
        name=name,
        experiment=study.slug,
        pictures=found,
        source=open_pictures(pictures),
        originals=None if originals is None else open_pictures(originals),
        about=replace(about, labels=_stored_labels(study, by)),
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


def _stored_labels(study: Study, by: User | None) -> str:
    """Name under which the labels of the study's trials are stored; those of an export may not be, as yet."""
    space = study.space
    if space.identity == default_labels().identity:
        return ""
    try:
        stored = space_named(space.name)
    except NotFound:
        return store_labels(space, by=by).name
    if stored.identity != space.identity:
        raise Conflict(
            f"The labels {space.name} of this installation are not those of the trials of {study}: rename one of them."
        )
    return space.name


def found_pictures(
    trials: pd.DataFrame, observers: Mapping[str, str], pictures: Path, originals: Path | None = None
) -> list[Adopted]:
    """The file of every picture, in the order in which people saw them first; refused where one is not found."""
    import pandas as pd

    from analysis.published_pictures import match_originals, match_pictures, pictures_of_trials

    is_human = trials["participant"].map(observers) == "human"
    ordered = pd.concat([trials[is_human], trials[~is_human]])
    shown, lists = pictures_of_trials(ordered), _lists_of(ordered)
    with closing(open_pictures(pictures)) as source:
        matched = match_pictures(shown, source.names(), where=str(pictures))
    clean: dict[str, str] = {}
    if originals is not None:
        with closing(open_pictures(originals)) as source:
            clean = match_originals(shown, source.names(), where=str(originals))
    return [
        Adopted(
            name=one.stimulus,
            original=one.original,
            category=one.category,
            file=file,
            original_file=clean.get(one.original, ""),
            accepted=ids_in(lists.get(one.stimulus, ("", ""))[0]),
            competing=lists.get(one.stimulus, ("", ""))[1],
        )
        for one, file in matched.files
    ]


def _names_of(pictures: Path) -> list[str]:
    """Names of all files, without folder and suffix."""
    with closing(open_pictures(pictures)) as source:
        return [PurePosixPath(name).stem for name in source.names()]


def _lists_of(trials: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """What is right of each picture besides its category, and what competes with it, as far as the trials say so."""
    if not {ACCEPTED, COMPETING} <= set(trials.columns):
        return {}
    first = trials.drop_duplicates("stimulus")
    cells = (first[name].fillna("").astype(str) for name in ("stimulus", ACCEPTED, COMPETING))
    return {stimulus: (accepted, competing) for stimulus, accepted, competing in zip(*cells, strict=True)}


def _write(path: Path, trials: pd.DataFrame, keys: Mapping[str, str], changes: Mapping[str, float]) -> None:
    """A row for each picture: its stimulus in the set, and what the trials say of it."""
    columns = ["stimulus", "original", "category", "corruption", "condition", "visual_change"]
    rows = trials.drop_duplicates("stimulus")[columns].copy()
    rows.insert(0, "key", rows["stimulus"].map(keys))
    if changes:
        rows["visual_change"] = rows["key"].map(changes)
    rows.sort_values("key").to_parquet(path, index=False)


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
    labels: str = "",
    none_offered: bool = False,
    about: Adoption = UNDESCRIBED,
    only_pictured: bool = False,
    by: User | None = None,
) -> Imported:
    """Make a study from published trial files. All files or none; the same files again change nothing.

    With a folder or archive of pictures, these are attached; one that is missing or ambiguous refuses everything.
    `answers` are files of texts that models gave about the same pictures, read by rule; with `letters`, a letter names
    the category at its place in the alphabet. `labels` names those of the trials, by default the product's, and
    `none_offered` says that "none of these" could be answered; `about` what is known of the pictures. With
    `only_pictured`, trials about other pictures are left out. A single folder is an export of a study.
    """
    from analysis.published_trials import digest_of, read_published_trials
    from analysis.tables.trials import TRIALS

    slug = slugify(name)
    if not slug:
        raise InputRefused(f"{name!r} is no name for a study: use letters and digits, e.g. --study noise.")
    folders = [path for path in paths if path.is_dir()]
    if len(folders) == len(paths) == 1:
        return import_export(folder=folders[0], slug=slug, title=name, by=by)
    before = Study.objects.filter(slug=slug).first()
    if before is not None:
        known = _same_import(before, digest_of([*paths, *answers]), humans=humans, classifiers=classifiers)
        if pictures is not None and not known.pictures_file:
            attach_pictures(study=before, pictures=pictures, originals=originals, about=about, by=by)
            known.refresh_from_db()
        return Imported(known, is_new=False)
    published = read_published_trials(
        paths,
        study=slug,
        humans=humans,
        classifiers=classifiers,
        times_in=times_in,
        answers=answers,
        style="letters" if letters else "words",
        space=space_named(labels) if labels else None,
        none_offered=none_offered,
        pictured=_names_of(pictures) if only_pictured and pictures is not None else None,
    )
    if pictures is not None:
        found_pictures(published.trials, published.observers, pictures, originals)
    relative = f"results/imports/{slug}-{secrets.token_hex(6)}.parquet"
    path = media_path(relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        TRIALS.write(published.trials, path)
        file_store.publish(relative)
        trial_import = record_import(
            slug=slug,
            title=name,
            by=by,
            digest=published.digest,
            files=[{"name": name, "sha256": digest, "trials": count} for name, digest, count in published.files],
            observers=dict(published.observers),
            kinds=published.kinds,
            trials=len(published.trials),
            trials_file=relative,
            labels_document=labels_to_toml(space_named(labels)) if labels else "",
        )
    except BaseException:
        path.unlink(missing_ok=True)
        file_store.forget(relative)
        raise
    if pictures is not None:
        try:
            attach_pictures(study=trial_import.study, pictures=pictures, originals=originals, about=about, by=by)
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
    there = same_files(study, digest)
    observers: dict[str, str] = there.observers
    kinds, _ = kinds_of({name: kind == "human" for name, kind in observers.items()}, humans, classifiers)
    if kinds != observers:
        raise InputRefused(
            f"The study {study.slug!r} holds these files, with other observers as people. "
            "Import them under another name."
        )
    return there
