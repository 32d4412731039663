"""A search from its description to its scores: what it may name, its job's shards, and their records as rows."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction

from analysis.claims.robustness import SCORE_INTERVALS
from analysis.classifiers.loading import SCHEMES, load_classifier
from analysis.compute import executor, run_in_order_of_completion, setting_for
from analysis.corruptions import CORRUPTIONS
from analysis.counterfactuals import shards
from analysis.counterfactuals.files import SearchRecord, read_picture
from analysis.counterfactuals.score import scores_by_class
from analysis.counterfactuals.shards import SearchShard, check_before_work, cut_search
from analysis.counterfactuals.specifications import GENERATORS, ORACLES, load_oracle
from analysis.counterfactuals.summaries import budget_study
from analysis.native_size import MINIMUM_NATIVE_PX, Enlargement, suggested_enlargement
from analysis.plugins import CLASSIFIERS, GENERATORS as GENERATORS_OF_PACKAGES, plugin
from humanexp.core import clock, file_store, ownership
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.names import check_new_name
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import CROWD, Counterfactual, SearchRun
from humanexp.counterfactuals.selectors import records_of, search_originals, search_settings
from humanexp.evaluations.specs import SHELF, check_safe, from_shelf, shelf_files
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.descriptions import SIZES_PX

#: What the first word of each specification may be, and an example of it.
_KINDS = {
    "classifier": (tuple(SCHEMES), "export:model.pt2"),
    "generator": (tuple(GENERATORS), "pixel: or corruption:gaussian_blur"),
    "oracle": ((*ORACLES, CROWD.rstrip(":")), "classifier:export:oracle.pt2"),
}


#: What other packages may bring, for searches of the command line.
_PLUGGED = {"classifier": CLASSIFIERS, "generator": GENERATORS_OF_PACKAGES}


def check_specifications(*, classifier: str, generator: str, oracle: str, is_form: bool) -> None:
    """Refuse what could only fail once the search has begun, and what a web form must not name."""
    for field, spec in (("classifier", classifier), ("generator", generator), ("oracle", oracle)):
        _check_kind(field, spec, may_be_plugged=not is_form)
    if is_form:
        check_safe(classifier, field="classifier")
        _check_safe_generator(generator)
        _check_safe_oracle(oracle)


def _check_kind(field: str, spec: str, *, may_be_plugged: bool = False) -> None:
    kinds, example = _KINDS[field]
    kind, colon, reference = spec.partition(":")
    is_plugged = may_be_plugged and field in _PLUGGED and plugin(_PLUGGED[field], kind) is not None
    if not colon or not (kind in kinds or is_plugged):
        raise InvalidRequest(
            f"{spec!r} is no {field}: begin with one of {', '.join(f'{kind}:' for kind in kinds)}, for example "
            f"{example}.",
            fields={field: example},
        )
    function = reference.partition(",")[0]
    if (field, kind) == ("generator", "corruption") and function not in CORRUPTIONS:
        raise InvalidRequest(
            f"There is no corruption function {function!r}: choose one of {', '.join(CORRUPTIONS)}.",
            fields={field: "corruption:NAME"},
        )


def _check_safe_generator(spec: str) -> None:
    kind, _, rest = spec.partition(":")
    if kind != "vqgan":
        return
    checkpoint, *options = rest.split(",")
    _check_on_shelf("generator", checkpoint)
    for option in options:
        name, _, value = option.partition("=")
        if name.strip() == "sparse":
            _check_on_shelf("generator", value.strip())


def _check_safe_oracle(spec: str) -> None:
    kind, _, rest = spec.partition(":")
    if kind == "classifier":
        check_safe(rest, field="oracle")
    elif kind == "clip":
        name, at, weights = rest.rpartition("@")
        check_safe(f"open_clip:{name if at and weights in shelf_files() else rest}", field="oracle")
    elif kind == "ensemble":
        for member in rest.split("|"):
            _check_kind("oracle", member.strip())
            _check_safe_oracle(member.strip())


def _check_on_shelf(field: str, path: str) -> None:
    if path not in shelf_files():
        raise InvalidRequest(
            f"{path}: the console takes the files in {settings.MEDIA_ROOT}/{SHELF} and those that ship with it. Put "
            "the file there, or use manage.py counterfactuals.",
            fields={field: "a file of the shelf"},
        )


def fetch_networks(source_set: SourceSet, *, classifiers: Sequence[str], oracle: str = "") -> None:
    """Load networks once with downloads allowed: the job, which fetches nothing, then finds their weights here."""
    allowed: dict[str, Any] = {"allow_code": True, "allow_download": True, "space": source_set.space}
    for classifier in classifiers:
        load_classifier(from_shelf(classifier), **allowed)
    if oracle not in ("", CROWD):
        load_oracle(from_shelf(oracle), **allowed)


SEARCH_KIND = "counterfactuals.search"
ROUND_KIND = "counterfactuals.round"
MOST_STEPS = 1000
#: Names that pages have.
_RESERVED = frozenset({"new", "across", "pictures"})
#: Originals that a search with people as its oracle leaves alone: practice pictures and sentinels come from them.
RESERVE = 8
FEWEST_JUDGED = 4
_SPEED_PICTURES = 32
#: Key of a search's facts: how long it took.
SECONDS = "seconds"


def create_search(
    *, run: SearchRun, pictures: int = 0, by: User | None = None, owner: User | None = None
) -> tuple[SearchRun, Job]:
    """Store a search that was described and queue its job; refused before anything is written.

    `pictures`: originals, even over categories; 0 for as many as possible. `owner`: whose it is where no account asks;
    what the command line may ask for goes beyond what accounts may.
    """
    ownership.check(by, Right.READ, run.source_set)
    for field in ("classifier", "generator", "oracle"):
        setattr(run, field, from_shelf(getattr(run, field)))
    _check_described(run, pictures, is_form=by is not None)
    images = _originals(run, pictures)
    run.model_name = run.model_name or default_model_name(run.classifier)
    run.lab_id, run.created_by, run.may_run_code = run.source_set.lab_id, by or owner, by is None
    with transaction.atomic():
        run.save()
        Counterfactual.objects.bulk_create(
            [Counterfactual(run=run, source_image=image, place=place) for place, image in enumerate(images)],
            batch_size=500,
        )
        record(action="search", subject=f"search:{run.name}", by=by, classifier=run.classifier)
        return run, start(run=run, by=by)


def start(*, run: SearchRun, by: User | None = None) -> Job:
    """Queue the search's job; one that failed or was cancelled goes on, one that waits or runs is left alone."""
    ownership.check(by, Right.CHANGE, run)
    return jobs.start(SEARCH_KIND, subject=run.job_subject, by=by, run_id=run.pk)


def store_records(*, run: SearchRun, records: Sequence[SearchRecord]) -> None:
    """Record how pictures came along; the same again changes nothing."""
    rows = run.counterfactuals.filter(source_image__key__in=[record.key for record in records])
    pks = dict(rows.order_by().values_list("source_image__key", "pk"))
    changed = [
        Counterfactual(
            pk=pks[picture.key],
            valid=picture.valid if picture.oracle_responses else None,
            accepted_steps=picture.accepted_steps,
            ending=picture.ending,
            clean_response=picture.clean_response,
            clean_loss=picture.clean_loss,
            losses=list(picture.losses),
            responses=list(picture.responses),
            oracle_responses=list(picture.oracle_responses),
            sha256=picture.sha256,
        )
        for picture in records
    ]
    fields = (
        *("valid", "accepted_steps", "ending", "clean_response", "clean_loss", "losses", "responses"),
        *("oracle_responses", "sha256"),
    )
    Counterfactual.objects.bulk_update(changed, fields, batch_size=500)


def complete(*, run: SearchRun, scores: Mapping[str, Any], facts: Mapping[str, Any]) -> SearchRun:
    run.scores, run.facts, run.completed_at = dict(scores), dict(facts), clock.now()
    run.save(update_fields=["scores", "facts", "completed_at"])
    return run


def default_model_name(spec: str) -> str:
    """The last part of a specification, without folder and suffix."""
    reference = spec.partition(":")[2].rstrip("/")
    return reference.rpartition("/")[2].removesuffix(".pt2")[:80] or spec[:80]


def with_step(generator: str, step: float) -> str:
    """A generator's specification with this step size; refused where it has one already."""
    kind, _, rest = generator.partition(":")
    words = [word for word in rest.split(",") if word]
    if any(word.partition("=")[0].strip() == "step" for word in words):
        raise InvalidRequest(f"{generator}: leave step= out, the steps are named by themselves.")
    return f"{kind}:{','.join([*words, f'step={step:g}'])}"


def _check_described(run: SearchRun, pictures: int, *, is_form: bool) -> None:
    taken = SearchRun.objects.filter(name=run.name).exists()
    check_new_name(run.name, taken=taken, what="search", longest=60, reserved=_RESERVED)
    if not 1 <= run.budget <= MOST_STEPS:
        raise InvalidRequest(
            f"The budget counts perturbations of a picture: 1 to {MOST_STEPS}, not {run.budget}.",
            fields={"budget": f"1 to {MOST_STEPS}"},
        )
    if run.batch < 1 or pictures < 0:
        raise InvalidRequest("A batch holds one picture or more, and the number of pictures is 0 or more.")
    check_specifications(classifier=run.classifier, generator=run.generator, oracle=run.oracle, is_form=is_form)
    if run.oracle == CROWD:
        shown_to_people(run)
    if run.cap_cents is not None and run.oracle != CROWD:
        raise InvalidRequest("Only people cost money: leave the cap out.", fields={"cap_cents": "with crowd: only"})


def shown_to_people(run: SearchRun) -> Enlargement:
    """How people see its pictures: small ones enlarged by a whole factor."""
    if run.size_px in SIZES_PX:
        return Enlargement(run.size_px, 1)
    shown = suggested_enlargement(run.size_px)
    if shown is None:
        raise InvalidRequest(
            f"People are shown pictures of {MINIMUM_NATIVE_PX} to {SIZES_PX.stop - 1} px, not {run.size_px}.",
            fields={"size_px": f"{MINIMUM_NATIVE_PX} to {SIZES_PX.stop - 1} px"},
        )
    return shown


def _originals(run: SearchRun, pictures: int) -> list[SourceImage]:
    """Originals to perturb, even over categories, in a fixed run."""
    by_category: dict[str, list[SourceImage]] = {}
    for image in run.source_set.images.order_by("category", "key"):
        by_category.setdefault(image.category, []).append(image)
    ordered = [image for row in itertools.zip_longest(*by_category.values()) for image in row if image is not None]
    if not ordered:
        raise InvalidRequest(f"The set of pictures {run.source_set} is empty: import pictures first.")
    available = len(ordered)
    if run.oracle == CROWD:
        available -= RESERVE
        if available < FEWEST_JUDGED:
            raise InvalidRequest(
                f"{run.source_set} has {len(ordered)} pictures: people as the oracle need {FEWEST_JUDGED} to judge "
                f"and {RESERVE} for practice and sentinels. Import more."
            )
        if pictures and pictures < FEWEST_JUDGED:
            raise InvalidRequest(f"People judge at least {FEWEST_JUDGED} pictures in a round: ask for more.")
    if pictures > available:
        raise InvalidRequest(
            f"{run.source_set} has {available} pictures for this search, not {pictures}.",
            fields={"pictures": f"1 to {available}"},
        )
    return ordered[: pictures or available]


def run_search(run: SearchRun, progress: Progress) -> None:
    """Search for every picture of a run and complete it; what an earlier attempt finished is not done again."""
    prepared = prepare(run)
    total = run.counterfactuals.count()
    done = 0
    before, started = run.facts.get(SECONDS, 0.0), time.perf_counter()
    progress(done, total, "pictures perturbed")
    with executor(setting_for(settings.COMPUTE, run.device)) as pool:
        outcomes = run_in_order_of_completion(
            pool, shards.search_shard, prepared, tick=lambda: progress(done, total, "pictures perturbed")
        )
        with contextlib.closing(outcomes):
            for records in outcomes:
                store_records(run=run, records=records)
                if run.completed_at is None:
                    run.facts = {**run.facts, SECONDS: before + time.perf_counter() - started}
                    run.save(update_fields=["facts"])
                done += len(records)
                progress(done, total, "pictures perturbed")
    file_store.publish(run.folder)
    finish(run)


def prepare(run: SearchRun) -> list[SearchShard]:
    """Shards of a run, after everything that could refuse it; the digests are stored.

    What is finished, and what people have judged, was made with the networks and the walk of then: with others a search
    does not go on.
    """
    ordered, originals = search_settings(run), search_originals(run)
    digests = check_before_work(ordered, originals)
    if run.digests != digests:
        if run.completed_at is not None:
            raise Conflict(
                f"{run} was finished with another classifier, generator or oracle than the ones of today: its results "
                "stay as they are. Search again under another name."
            )
        if run.rounds.exists():
            raise Conflict(
                f"The classifier or the generator of {run} is another one than when its first round was made: put the "
                "file back, or, after an upgrade, search again under another name."
            )
        run.digests = digests
        run.save(update_fields=["digests"])
    return list(cut_search(ordered, originals))


def finish(run: SearchRun) -> None:
    """Score a run whose pictures have all left the search."""
    complete(run=run, scores=_scores(run), facts=_facts(run))


def _scores(run: SearchRun) -> dict[str, Any]:
    found = records_of(run)
    scored = scores_by_class(
        [one.category for one in found],
        clean_correct=[one.clean_correct for one in found],
        valid=[one.valid for one in found],
        counterfactual_correct=[one.counterfactual_correct for one in found],
    )
    points = budget_study(found, range(run.budget + 1)) if any(one.valid for one in found) else []
    return {
        "pooled": scored.pooled.to_dict(),
        "classes": {label: one.to_dict() for label, one in scored.classes.items()},
        "intervals_are": SCORE_INTERVALS,
        "mean_class_oor": scored.mean_class_oor if scored.mean_class_oor == scored.mean_class_oor else None,
        "by_budget": [
            {
                "budget": point.budget,
                "mean_loss": point.mean_loss,
                "mean_steps": point.mean_steps,
                "oor": point.score.oor if point.score.oor == point.score.oor else None,
            }
            for point in points
        ],
    }


def _facts(run: SearchRun) -> dict[str, Any]:
    """Size and speed of the model, on pictures of this search."""
    target = search_settings(run).load_target()
    pictures = _some_originals(list(run.counterfactuals.select_related("source_image", "run")[:_SPEED_PICTURES]))
    target.classifier.predict(pictures[:1])
    started = time.perf_counter()
    target.classifier.predict(pictures)
    elapsed = time.perf_counter() - started
    network: Any = getattr(target.classifier, "forward", None)
    weights = sum(values.numel() for values in network.parameters()) if hasattr(network, "parameters") else None
    took = {SECONDS: run.facts[SECONDS]} if SECONDS in run.facts else {}
    return {"weights": weights, "pictures_per_s": len(pictures) / elapsed, "device": run.device, **took}


def _some_originals(rows: Sequence[Counterfactual]) -> Any:
    return np.stack([read_picture(media_path(row.original_file)) for row in rows])
