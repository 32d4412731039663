"""Classifiers run on a stimulus set, in shards so that a stopped run continues, and on originals to choose gold."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from django.db.models import QuerySet
from threadpoolctl import threadpool_limits

from analysis import freed_memory
from analysis.classifiers import shards
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import is_accelerator
from analysis.classifiers.one_pass import Group, predict_group, predict_shards
from analysis.classifiers.port import Classifier, RecordedPredictions, rehearse, seen_by
from analysis.classifiers.shards import Asked, Joined, PredictionShard, ShownStimulus, hold, join_shards, versions
from analysis.compute import available_cores, executor, run_in_order_of_completion, setting_for
from analysis.energy import Meter
from analysis.errors import ClassifierUnavailable, PictureRefused
from analysis.generation.originals import inspect_originals, prepare_original
from analysis.labels.mapping import mapping_of
from analysis.labels.space import LabelSpace
from analysis.native_size import USUAL_PX, Enlargement
from humanexp.core import file_store
from humanexp.core.batches import batches_of
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path, write_whole
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.evaluations import complete
from humanexp.evaluations.specs import SHELF, located
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import SourceImage, SourceSet, StimulusSet
from humanexp.stimuli.selectors.sets import bring_originals, bring_stimuli, stimuli_of_curves
from humanexp.stimuli.selectors.sources import enlargement_of
from humanexp.stimuli.services.sources import Rating, check_ratings_open, store_ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: From so many shards on, child processes pay for loading the network once more each.
MANY_SHARDS = 8
#: Threads that read pictures for networks in this process: one processor keeps up with four, an accelerator wants all.
_READERS = 4


@dataclass(frozen=True)
class _Pass:
    """One classifier of those that look at the pictures together."""

    run: EvaluationRun
    #: as the run stores it, and as a shard loads it
    asked: Asked
    loads: Asked
    classifier: Classifier | RecordedPredictions
    folder: Path

    @property
    def predictions(self) -> Path:
        """File of all of them. What the run holds already stays: the same network may have decided by another rule."""
        how = self.asked
        also = "-own" if how.own_labels else "" if how.decide == "among" else f"-{how.decide}"
        return self.folder / f"predictions-{how.rule}{also}.parquet"


def predict_stimulus_set(wanted: Sequence[tuple[EvaluationRun, Asked]], progress: Progress) -> None:
    """Predict every stimulus of a set by each of these classifiers, and complete their runs.

    Each picture is read once. Nothing is written before all classifiers are loaded and all pictures are found.
    """
    file_store.bring(SHELF)
    passes = [_prepared(run, asked) for run, asked in wanted]
    hold({one.loads: one.classifier for one in passes})
    stimulus_set = wanted[0][0].stimulus_set
    bring_stimuli(stimulus_set)
    title = ", ".join(run.name for run, _ in wanted)
    total = stimuli_of_curves(stimulus_set).count()
    for one in passes:
        _check_unseen(one.classifier, stimulus_set)
        rehearse(one.classifier, stimulus_set.size_px, one.asked.how)
        _check_complete(stimulus_set, one.classifier, one.asked)
        one.folder.mkdir(parents=True, exist_ok=True)
    with Meter(passes[0].asked.device, settings.ENERGY) as meter:
        parts = _predicted(passes, total, title, progress)
    progress(max(0, total - 1), total, f"{title}: writing the predictions")
    joined = [join_shards([files[number] for files in parts], one.predictions) for number, one in enumerate(passes)]
    seconds = sum(one.seconds for one in joined)
    for one, found in zip(passes, joined, strict=True):
        is_network = isinstance(one.classifier, Classifier)
        _complete(one, found, meter.share(found.seconds / seconds if seconds else 0.0) if is_network else {})
    for files in parts:
        for part in files:
            part.unlink(missing_ok=True)
    progress(total, total, f"{title}: pictures classified")


def _check_unseen(classifier: Classifier | RecordedPredictions, stimulus_set: StimulusSet) -> None:
    """The same as `check_not_learned` of the originals of a set's stimuli."""
    if getattr(classifier, "learned", None):
        bring_originals(stimulus_set.source_set)
        shown = stimuli_of_curves(stimulus_set).values("source_image")
        check_not_learned(classifier, SourceImage.objects.filter(pk__in=shown))


def check_not_learned(classifier: Classifier | RecordedPredictions, images: QuerySet[SourceImage]) -> None:
    """Refuse to test a classifier on originals that it is known to have learned from; their files must be here."""
    learned: frozenset[str] = getattr(classifier, "learned", frozenset())
    if not learned:
        return
    shown = list(images.order_by("key"))
    shared = [image.key for image, content in zip(shown, contents_of(shown), strict=True) if content in learned]
    if shared:
        raise InvalidRequest(
            f"{classifier.name} has learned from {len(shared)} of these pictures, by their content (the first is "
            f"{shared[0]}): what it says of them shows nothing. Fit it on other pictures, or test it on others."
        )


def contents_of(images: Sequence[SourceImage]) -> list[str]:
    """Digests of the originals' pixels; looked for in their files where none is stored, as of published pictures."""
    unknown = [str(media_path(image.file)) for image in images if not image.pixel_sha256]
    found = iter(inspect_originals(unknown))
    return [image.pixel_sha256 or next(found).pixel_sha256 or image.sha256 for image in images]


def _prepared(run: EvaluationRun, asked: Asked) -> _Pass:
    labels = run.stimulus_set.source_set.labels
    asked = replace(asked, space=labels.document if labels else "")
    classifier = replace(asked, spec=located(asked.spec)).load()
    asked = replace(asked, digest=classifier.digest)
    folder = media_path(f"{run.folder}/{classifier.digest[:16]}")
    return _Pass(run, asked, replace(asked, spec=located(asked.spec)), classifier, folder)


def _complete(one: _Pass, joined: Joined, energy: dict[str, Any]) -> None:
    asked = one.asked
    complete(
        run=one.run,
        joined=joined,
        predictions_file=one.predictions,
        spec=asked.spec,
        device=asked.device,
        rule=asked.rule,
        decide=asked.decide,
        own_labels=asked.own_labels,
        labels_file=asked.labels[-300:],
        classifier_digest=asked.digest,
        preprocessing=one.classifier.preprocessing[:300],
        versions=versions(one.classifier),
        energy=energy,
    )


def shown_stimuli(
    stimulus_set: StimulusSet, *, own_labels: bool = False, corruptions: list[str] | None = None
) -> Iterator[ShownStimulus]:
    """Stimuli of a set in the order of their names, read a few hundred at a time.

    `corruptions` leaves only these functions, and the clean pictures.
    """
    label = "source_image__wnid" if own_labels else "source_image__category"
    accepted_labels = "source_image__accepted"
    columns = ("key", "source_image__key", label, "corruption", "visual_change", "file", "sha256", accepted_labels)
    rows = stimuli_of_curves(stimulus_set).order_by("key")
    if corruptions is not None:
        rows = rows.filter(corruption__in=["none", *corruptions])
    last = ""
    while batch := list(rows.filter(key__gt=last).values_list(*columns)[: shards.SHARD_STIMULI]):
        last = batch[-1][0]
        for key, original, category, corruption, visual_change, file, sha256, accepted in batch:
            path, enlarged = str(media_path(file)), stimulus_set.enlarged
            right = () if own_labels else tuple(accepted)
            yield ShownStimulus(key, original, category, corruption, visual_change, path, sha256, enlarged, right)


def _groups(passes: Sequence[_Pass]) -> Iterator[Group]:
    first = passes[0]
    shown = shown_stimuli(first.run.stimulus_set, own_labels=first.asked.own_labels)
    for stimuli in batches_of(shards.SHARD_STIMULI, shown):
        yield tuple(PredictionShard(one.loads, one.run.name, tuple(stimuli), str(one.folder)) for one in passes)


def _predicted(passes: Sequence[_Pass], total: int, title: str, progress: Progress) -> list[tuple[Path, ...]]:
    """Files of all shards, in order, one a classifier; those that an earlier attempt finished are taken as they are."""
    parts: list[tuple[Path, ...]] = []
    done = 0

    def unfinished() -> Iterator[Group]:
        nonlocal done
        for group in _groups(passes):
            parts.append(tuple(shard.path for shard in group))
            if all(shard.is_done for shard in group):
                done += len(group[0].stimuli)
            else:
                yield group

    def tell(more: int) -> None:
        nonlocal done
        done += more
        progress(min(done, total - 1), total, f"{title}: pictures classified")

    _predict(passes, total, unfinished(), tell)
    return parts


def _predict(passes: Sequence[_Pass], total: int, groups: Iterator[Group], tell: Callable[[int], None]) -> None:
    """Predict groups: in this process, unless there are many and the networks compute on the processor.

    `tell` is given how many stimuli more have been looked at. Linear algebra takes one thread in either case: with two,
    sums are rounded in another order.
    """
    device = passes[0].asked.device
    reads_pictures = any(isinstance(one.classifier, Classifier) for one in passes)
    is_worth_it = total >= MANY_SHARDS * shards.SHARD_STIMULI and reads_pictures
    wanted = settings.COMPUTE if is_worth_it or settings.COMPUTE.startswith("dask:") else "serial"
    setting = setting_for(wanted, device)
    if setting == "serial":
        threads = available_cores() if is_accelerator(device) else min(_READERS, available_cores())
        made = predict_shards(groups, threads=threads, tick=tell)
        with threadpool_limits(1, user_api="blas"), freed_memory.kept(), closing(made):
            for _group in made:
                pass
        return
    with executor(setting) as pool:
        done = run_in_order_of_completion(pool, predict_group, groups, tick=lambda: tell(0))
        with closing(done):
            for _files in done:
                tell(shards.SHARD_STIMULI)


def _check_complete(stimulus_set: StimulusSet, classifier: Classifier | RecordedPredictions, asked: Asked) -> None:
    """Refuse, before anything is written, what cannot be predicted whole: a file is gone, or a row is missing."""
    for batch in batches_of(shards.SHARD_STIMULI, shown_stimuli(stimulus_set)):
        if isinstance(classifier, RecordedPredictions):
            classifier.predictions([one.stimulus for one in batch], asked.how)
            continue
        gone = next((one for one in batch if not Path(one.file).is_file()), None)
        if gone is not None:
            raise PictureRefused(
                f"The stimulus {gone.stimulus} has no file {gone.file}: make the set again from the same description "
                "and seed."
            )


BATCH = 32
#: Pictures whose ratings are kept together: what is lost when the process is killed.
PART = 512


@dataclass(frozen=True)
class GoldReport:
    n_images: int
    #: pictures that every classifier named right
    n_agreed: int
    #: share of pictures that each classifier named right, in the order they were asked
    accuracies: dict[str, float]
    n_agreed_by_category: dict[str, int]


def rate_originals(
    source_set: SourceSet,
    specs: Sequence[str],
    progress: Progress,
    *,
    allow_code: bool,
    device: str,
    allow_download: bool = False,
) -> GoldReport:
    """Ask every classifier about every original, clean, as it is shown, and store what they said."""
    check_ratings_open(source_set)
    file_store.bring(SHELF)
    bring_originals(source_set)
    space = source_set.space
    allowed = {"allow_code": allow_code, "allow_download": allow_download}
    classifiers = [_load(spec, space, device=device, **allowed) for spec in specs]
    for classifier in classifiers:
        check_not_learned(classifier, source_set.images.all())
    # Pictures are shown to classifiers as to people, in the size of the usual protocol.
    shown = enlargement_of(source_set) or Enlargement(USUAL_PX, 1)
    total = source_set.images.count()
    folder = media_path(f"evaluations/gold-{source_set.pk}-{_digest(classifiers)}")
    parts: list[Path] = []
    done = 0
    for images in _parts(source_set):

        def told(count: int, before: int = done) -> None:
            progress(before + count, total, "pictures classified")

        parts.append(_rated_part(classifiers, images, space, shown, folder, told))
        done += len(images)
    store_ratings(source_set=source_set, classifiers=specs, ratings=_ratings(parts))
    report = _report(source_set, specs, parts)
    shutil.rmtree(folder, ignore_errors=True)
    return report


def _load(spec: str, space: LabelSpace, *, allow_code: bool, allow_download: bool, device: str) -> Classifier:
    loaded = load_classifier(spec, allow_code=allow_code, allow_download=allow_download, device=device, space=space)
    if not isinstance(loaded, Classifier):
        raise ClassifierUnavailable(f"{spec} holds answers to stimuli, and none to originals: give a network.")
    return loaded


def _parts(source_set: SourceSet) -> Iterator[list[SourceImage]]:
    """All originals in the order of their names, a part at a time."""
    last = ""
    while images := list(source_set.images.filter(key__gt=last).order_by("key")[:PART]):
        yield images
        last = images[-1].key


def _rated_part(
    classifiers: Sequence[Classifier],
    images: list[SourceImage],
    space: LabelSpace,
    shown: Enlargement,
    folder: Path,
    told: Callable[[int], None],
) -> Path:
    """File with the ratings of these pictures, named by their content: an interrupted job finds it again."""
    content = hashlib.sha256("".join(f"{image.pk}{image.category}{image.sha256}" for image in images).encode())
    path = folder / f"part-{content.hexdigest()[:24]}.json"
    if not path.exists():
        rows: list[dict[str, object]] = []
        for start in range(0, len(images), BATCH):
            rows += _rated(classifiers, images[start : start + BATCH], space, shown)
            told(min(start + BATCH, len(images)))
        write_whole(path, json.dumps(rows).encode())
    told(len(images))
    return path


def _rated(
    classifiers: Sequence[Classifier], images: list[SourceImage], space: LabelSpace, shown: Enlargement
) -> list[dict[str, object]]:
    pictures: NDArray[np.uint8] = np.stack(
        [prepare_original(media_path(image.file), shown.size_px, enlarged=shown.enlarged) for image in images]
    )
    categories = np.array([image.category for image in images])
    columns = space.places_of(categories)
    right_ones = [image.accepted or [image.category] for image in images]
    right = np.zeros((len(classifiers), len(images)), dtype=bool)
    shares = np.zeros((len(classifiers), len(images)))
    for row, classifier in enumerate(classifiers):
        probabilities = classifier.predict(seen_by(classifier, pictures, shown.enlarged))
        mapping = mapping_of(tuple(classifier.labels), space)
        scores = mapping.scores(probabilities)
        total = scores.sum(axis=1)
        own = scores[np.arange(len(images)), columns]
        shares[row] = np.divide(own, total, out=np.full(len(images), space.chance), where=total > 0)
        responses = mapping.answer(probabilities).responses.tolist()
        right[row] = [said in accepted for said, accepted in zip(responses, right_ones, strict=True)]
    return [
        {
            "pk": image.pk,
            "category": image.category,
            "right": [bool(one) for one in right[:, number]],
            "smallest": float(shares[:, number].min()),
        }
        for number, image in enumerate(images)
    ]


def _rows(parts: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for part in parts:
        yield from json.loads(part.read_bytes())


def _ratings(parts: Sequence[Path]) -> Iterator[Rating]:
    for row in _rows(parts):
        yield Rating(row["pk"], sum(row["right"]), row["smallest"])


def _report(source_set: SourceSet, specs: Sequence[str], parts: Sequence[Path]) -> GoldReport:
    n_images = 0
    n_right = [0] * len(specs)
    agreed: Counter[str] = Counter()
    for row in _rows(parts):
        n_images += 1
        n_right = [count + right for count, right in zip(n_right, row["right"], strict=True)]
        agreed[row["category"]] += all(row["right"])
    return GoldReport(
        n_images=n_images,
        n_agreed=agreed.total(),
        accuracies={spec: count / max(1, n_images) for spec, count in zip(specs, n_right, strict=True)},
        n_agreed_by_category=dict(sorted(agreed.items())),
    )


def _digest(classifiers: Sequence[Classifier]) -> str:
    return hashlib.sha256("".join(classifier.digest for classifier in classifiers).encode()).hexdigest()[:16]
