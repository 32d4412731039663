"""Rounds in which people are the oracle, and their pictures."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.counterfactuals.shards import Proposal, next_round, open_rounds
from analysis.generation.files import UNFINISHED, decode_png, digest, encode_png, write_atomically
from analysis.generation.originals import prepare_original
from analysis.generation.shards import METRIC_NAME
from analysis.native_size import enlarge
from analysis.study.study import StudyConfiguration
from analysis.visual_change.vif import VifReference
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, CapExceeded, Conflict
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Round, RoundState, SearchRun
from humanexp.counterfactuals.selectors import committed_sums, verdicts_on
from humanexp.counterfactuals.services.searches import ROUND_KIND, finish, prepare, shown_to_people, store_records
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.jobs.selectors import latest_for
from humanexp.ledger.terms import suggested_terms
from humanexp.recruiters import money
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.screening.selectors import unjudged
from humanexp.screening.services import judge_study
from humanexp.stimuli.models import Framing, Sampling, SourceImage, StimulusSet
from humanexp.stimuli.services.generation import complete_stimulus_set, store_stimuli
from humanexp.stimuli.services.sources import freeze_source_set
from humanexp.studies import permissions, services
from humanexp.studies.models import Action, Population, Study

#: The `corruption` column of pictures that a search made.
COUNTERFACTUAL = "counterfactual"
#: Originals beside the judged ones, for practice and sentinels.
_MOST_BESIDE = 64
#: A session of validation has four new pictures or more.
_FEWEST = 4


def make_stimuli(
    run: SearchRun, proposals: Sequence[Proposal], progress: Progress
) -> tuple[StimulusSet, dict[str, str]]:
    """Stimulus set of a round, and the stimulus of each proposal by the key of its original.

    The last pictures of a search are too few for a session: kept pictures that have left are shown again beside them,
    and nobody counts what is said of those.
    """
    step = proposals[0].step
    files = {proposal.key: f"{run.folder}/{proposal.file}" for proposal in proposals}
    for one in run.counterfactuals.select_related("source_image", "run").exclude(source_image__key__in=files):
        if len(files) >= _FEWEST:
            break
        files[one.source_image.key] = one.kept_file if one.sha256 else one.original_file
    return picture_set(run, f"{run.name}-step-{step}", files, step=step, progress=progress)


def picture_set(
    run: SearchRun, name: str, files: Mapping[str, str], *, step: int, progress: Progress
) -> tuple[StimulusSet, dict[str, str]]:
    """A complete stimulus set of pictures by the key of their original, with clean pictures of these and others."""
    made = StimulusSet.objects.filter(name=name, source_set=run.source_set).first() or _described(run, name)
    names = {key: f"{COUNTERFACTUAL}-{number:05d}" for number, key in enumerate(sorted(files), start=1)}
    if made.completed_at is not None:
        return made, names
    images = _images(run, files)
    rows = []
    for number, image in enumerate(images, start=1):
        progress(number, len(images), "pictures measured")
        rows += _rows(run, name, image, files.get(image.key), names.get(image.key, ""), number, step)
    store_stimuli(stimulus_set=made, folder=f"stimuli/{name}", rows=rows)
    complete_stimulus_set(stimulus_set=made)
    return made, names


def _described(run: SearchRun, name: str) -> StimulusSet:
    shown = shown_to_people(run)
    freeze_source_set(source_set=run.source_set)
    return StimulusSet.objects.create(
        name=name,
        source_set=run.source_set,
        corruptions=[COUNTERFACTUAL],
        sampling=Sampling.IMPORTED,
        framing=Framing.WHOLE,
        count_per_corruption=0,
        size_px=shown.size_px,
        enlarged=shown.enlarged,
        metric=METRIC_NAME,
        lab_id=run.lab_id,
        created_by=run.created_by,
    )


def _images(run: SearchRun, files: Mapping[str, str]) -> list[SourceImage]:
    shown = list(run.source_set.images.filter(key__in=files).order_by("key"))
    searched = run.counterfactuals.values("source_image_id")
    others = run.source_set.images.exclude(pk__in=searched)
    # Pictures that classifiers found easy come first: positive sentinels are drawn from them.
    beside = sorted(others, key=lambda image: (not image.is_agreed, image.key))[:_MOST_BESIDE]
    return [*shown, *sorted(beside, key=lambda image: image.key)]


def _rows(
    run: SearchRun, name: str, image: SourceImage, file: str | None, stimulus: str, number: int, step: int
) -> list[dict[str, Any]]:
    """The clean picture of an original and, where there is one, its counterfactual."""
    folder = media_path(f"stimuli/{name}")
    enlarged = shown_to_people(run).enlarged
    clean = enlarge(prepare_original(media_path(image.file), run.size_px), enlarged)
    png = encode_png(clean)
    clean_name = f"none-{number:05d}"
    write_atomically(folder / f"{clean_name}.png", png, beside=folder / UNFINISHED)
    rows = [_row(clean_name, image, NO_CORRUPTION, "", digest(png), visual_change=0.0)]
    if file is not None:
        content = media_path(file).read_bytes()
        shown = enlarge(decode_png(content), enlarged)
        changed = max(0.0, 1.0 - VifReference(clean).vif(shown))
        if enlarged > 1:
            content = encode_png(shown)
        write_atomically(folder / f"{stimulus}.png", content, beside=folder / UNFINISHED)
        version = run.digests.get("generator", "")[:20]
        row = _row(stimulus, image, COUNTERFACTUAL, version, digest(content), visual_change=min(1.0, changed))
        rows.append({**row, "parameter": float(step), "seed": run.seed})
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    return rows


def _row(
    stimulus: str, image: SourceImage, corruption: str, version: str, sha256: str, *, visual_change: float
) -> dict[str, Any]:
    return {
        "stimulus": stimulus,
        "original": image.key,
        "corruption": corruption,
        "corruption_version": version,
        "parameter": 0.0,
        "seed": 0,
        "target": None,
        "visual_change": visual_change,
        "evaluations": 0,
        "reached": True,
        "sha256": sha256,
        "file": f"{stimulus}.png",
    }


#: New pictures a session, as in ImageNet-D.
_PICTURES_A_SESSION = 16


def publish_round(*, one: Round, terms: LaunchTerms, skip_preflight: bool = False, by: User | None = None) -> Campaign:
    """Publish a round like any other study, within what all rounds of the search may cost together."""
    if one.state != RoundState.OPEN:
        raise Conflict(f"{one} is judged already.")
    if terms.assignments is None:
        terms = replace(terms, assignments=one.study.planned_sessions)
    run = one.run
    if run.cap_cents is not None:
        price = terms.price(suggested_terms(one.study))
        spent = committed_sums(run).get(price.currency, 0)
        if spent + price.total_cents > run.cap_cents:
            cap, committed, wanted = (
                money.shown(cents, price.currency) for cents in (run.cap_cents, spent, price.total_cents)
            )
            raise CapExceeded(
                f"The rounds of {run} may cost {cap} together: {committed} is committed, and this round costs {wanted}."
            )
    return publish(study=one.study, terms=terms, skip_preflight=skip_preflight, by=by)


def start_round(*, one: Round, only_complete: bool = False, by: User | None = None) -> Job | None:
    """Queue the work that takes a round's verdicts and goes on; None while answers are missing.

    With `only_complete` every planned answer must be there; otherwise one answer a picture is enough.
    """
    # The next round is published where this one was, and costs as much.
    permissions.check(by, Action.LAUNCH, one.study)
    if one.state != RoundState.OPEN:
        raise Conflict(f"{one} is judged already.")
    latest = latest_for(one.run.job_subject, ROUND_KIND)
    if latest is not None and not latest.is_finished:
        return None if only_complete else latest
    if unjudged(one.study):
        judge_study(one.study)
    found = verdicts_on(one)
    if only_complete and (not one.stimuli or found.fewest < one.run.answers_per_picture):
        return None
    if found.unanswered:
        raise Conflict(
            f"{found.unanswered} of {len(one.stimuli)} pictures of {one} have no answer from a session that counts: "
            "wait for people, or publish the study for more of them."
        )
    return jobs.submit(ROUND_KIND, subject=one.run.job_subject, by=by, round_id=one.pk)


def close_round(*, one: Round, verdicts: Mapping[str, Mapping[str, Any]]) -> Round:
    """Keep what people said; from then on nothing changes it."""
    updated = Round.objects.filter(pk=one.pk, state=RoundState.OPEN).update(
        state=RoundState.JUDGED, verdicts=dict(verdicts), judged_at=clock.now()
    )
    one.refresh_from_db()
    if not updated and one.verdicts != dict(verdicts):
        raise Conflict(f"{one} was judged already, with other verdicts.")
    return one


def open_first(run: SearchRun, progress: Progress) -> Round:
    """Make the pictures of step 0, and the study that has them judged."""
    shards = prepare(run)
    proposals: list[Proposal] = []
    for number, shard in enumerate(shards):
        progress(number, len(shards), "batches of pictures made")
        proposals += open_rounds(shard)
    return _opened(run, proposals, progress)


@dataclass(frozen=True)
class Following:
    """The next round, None when every picture has left; and why nobody is asked yet, empty where people are."""

    opened: Round | None
    waits: str = ""


def go_on(judged: Round, progress: Progress) -> Following:
    """Close a round by its verdicts and open the next; when every picture has left, the search is scored."""
    run = judged.run
    if judged.state == RoundState.OPEN:
        close_round(one=judged, verdicts=verdicts_on(judged).by_key)
    accepted = {key: bool(votes["accepted"]) for key, votes in judged.verdicts.items()}
    shards = [shard for shard in prepare(run) if any(original.key in judged.verdicts for original in shard.originals)]
    proposals: list[Proposal] = []
    for number, shard in enumerate(shards):
        progress(number, len(shards), "batches of pictures made")
        following, records = next_round(shard, judged.step, accepted)
        store_records(run=run, records=records)
        proposals += following
    if not proposals:
        finish(run)
        return Following(None)
    opened = _opened(run, proposals, progress)
    return Following(opened, _publish_like(judged, opened))


def _opened(run: SearchRun, proposals: list[Proposal], progress: Progress) -> Round:
    step = proposals[0].step
    stimulus_set, names = make_stimuli(run, proposals, progress)
    study = Study.objects.filter(slug=stimulus_set.name).first()
    if study is None:
        configuration = _configuration(run, stimulus_set.name, step, len(names))
        study = services.create_study(configuration=configuration, by=run.created_by)
    stimuli = {proposal.key: names[proposal.key] for proposal in proposals}
    # The same step again is the same round.
    opened, _created = Round.objects.get_or_create(run=run, step=step, defaults={"study": study, "stimuli": stimuli})
    return opened


def _configuration(run: SearchRun, name: str, step: int, n_pictures: int) -> StudyConfiguration:
    sessions = -(-n_pictures // _PICTURES_A_SESSION) * run.answers_per_picture
    validation: dict[str, object] = {"shown": "corrupted", "answers_per_picture": run.answers_per_picture}
    if not run.source_set.space.groups():
        # A search is for one label of each picture: the others are absent.
        validation["absent"] = "other-labels"
    return StudyConfiguration.from_dict(
        {
            "title": f"Is this really one? Pictures of {run.name}, step {step}",
            "slug": name,
            # One family: nobody judges two steps of one picture.
            "family": f"{run.name}-rounds",
            "stimuli": name,
            "population": run.population,
            "protocol": {"name": "vcr", "size_px": shown_to_people(run).size_px},
            "seed": run.seed + step,
            "design": {
                "sessions": sessions,
                "validation": validation,
            },
        }
    )


def _publish_like(judged: Round, opened: Round) -> str:
    """Publish the next round where the last one went, on the same terms; else the reason why a person has to."""
    latest = Campaign.objects.filter(study=judged.study).order_by("-pk").first()
    if latest is None or Campaign.objects.filter(study=opened.study).exists():
        return ""
    if not latest.capabilities.is_own_ground:
        return "The next round is ready: a person must confirm what it costs."
    try:
        publish_round(
            one=opened,
            terms=LaunchTerms(to=latest.environment, reward_cents=latest.reward_cents),
            # A round of scripted people has nobody whom a rehearsal would protect.
            skip_preflight=opened.study.population == Population.SCRIPTED,
        )
    except ApplicationError as error:
        return error.message
    return ""
