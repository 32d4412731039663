"""What a network is trained on and tested on: stimuli of a set, labelled folders of clean pictures, or a mix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.port import seen_by
from analysis.classifiers.shards import ShownStimulus, read_picture
from analysis.errors import InvalidInput
from analysis.generation.originals import prepare_original
from analysis.labels.space import Label, LabelSpace
from analysis.native_size import USUAL_PX, Enlargement
from analysis.retraining.held_out import Split, check_disjoint, hold_out, sample_as, sample_evenly, split_originals
from analysis.sets.set_file import is_test_only
from humanexp.core.batches import batches_of
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.services.prediction import shown_stimuli
from humanexp.stimuli.models import SourceImage, SourceSet, StimulusSet
from humanexp.stimuli.selectors.sets import bring_originals
from humanexp.stimuli.selectors.sources import agreed_originals, enlargement_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Digests in one query: SQLite takes no more than some thousand variables.
_DIGESTS = 500


@dataclass(frozen=True)
class Folder:
    """Clean pictures of a set: all of them, or so many, evenly over its labels.

    Attributes
    ----------
    source_set : SourceSet
    count : int
        0 for all.
    easy : bool
        Those alone that every classifier named right that `select_gold` asked.
    like : Folder or None
        As many of each label as these are.
    """

    source_set: SourceSet
    count: int = 0
    easy: bool = False
    like: Folder | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "source_set": self.source_set.pk,
            "name": self.source_set.name,
            "count": self.count,
            **({"easy": True} if self.easy else {}),
            **({"like": self.like.to_json()} if self.like is not None else {}),
        }

    def by_label(self, seed: int) -> dict[str, int]:
        """Pictures that are taken, by label."""
        return dict(sorted(Counter(category for category, _ in _chosen(self, seed).values()).items()))


def folders_of(stored: Sequence[Mapping[str, Any]]) -> list[Folder]:
    """Folders of a row, in their order."""
    named = [one for given in stored for one in (given, given.get("like")) if one]
    sets = SourceSet.objects.select_related("labels").in_bulk([one["source_set"] for one in named])
    gone = [one["name"] for one in named if one["source_set"] not in sets]
    if gone:
        raise InvalidRequest(f"The set of pictures {gone[0]} was deleted in the meantime: start again without it.")

    def folder(one: Mapping[str, Any]) -> Folder:
        like = folder(one["like"]) if one.get("like") else None
        return Folder(sets[one["source_set"]], one.get("count", 0), one.get("easy", False), like)

    return [folder(one) for one in stored]


def check_may_train(source_set: SourceSet, *, field: str) -> None:
    """Refuse pictures of a published set that is for tests alone, also where they were imported under another name."""
    digests = source_set.images.exclude(pixel_sha256="").values_list("pixel_sha256", flat=True)
    check_contents_may_train(str(source_set), list(digests), field=field)


def check_contents_may_train(name: str, contents: Collection[str], *, field: str) -> None:
    """The same of pictures by the digests of their pixels."""
    for published in SourceSet.objects.exclude(set_document="").only("set_document", "name"):
        if not is_test_only(published.set_document):
            continue
        for some in batches_of(_DIGESTS, contents):
            if published.images.filter(pixel_sha256__in=some).exists():
                raise InvalidRequest(
                    f"Pictures of {name} belong to {published}, whose author allows tests alone: train and fit on "
                    "others.",
                    fields={field: "pictures that may be trained on"},
                )


def check_same_labels(training: SourceSet, evaluation: SourceSet, *, field: str) -> None:
    """Refuse to test on pictures whose labels mean something else than those of the training pictures."""
    if training.space.identity != evaluation.space.identity:
        raise InvalidRequest(
            f"The pictures {evaluation} have the labels {evaluation.space.name}, and those of {training} "
            f"{training.space.name}: test on pictures with the same labels.",
            fields={field: "with the same labels"},
        )


class NamedExamples(Protocol):
    """Examples of `analysis.retraining`, each with the name of its original."""

    @property
    def original_names(self) -> list[str]: ...

    def __len__(self) -> int: ...

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...


@dataclass(frozen=True)
class ShownExamples:
    """Pictures as examples that a network learns from; a batch is read at a time."""

    stimuli: list[ShownStimulus]
    network: TorchNetwork
    space: LabelSpace
    #: None for stimuli, which are files of pictures as they are shown; how originals are shown
    shown: Enlargement | None = None

    def __len__(self) -> int:
        return len(self.stimuli)

    @property
    def original_names(self) -> list[str]:
        return [one.original for one in self.stimuli]

    def pictures(self, chosen: Sequence[ShownStimulus]) -> NDArray[np.uint8]:
        """As the network sees them."""
        if self.shown is None:
            read = np.stack([read_picture(one.file, one.sha256, one.stimulus) for one in chosen])
            return seen_by(self.network, read, chosen[0].enlarged)
        size_px, enlarged = self.shown.size_px, self.shown.enlarged
        prepared = np.stack([prepare_original(media_path(one.file), size_px, enlarged=enlarged) for one in chosen])
        return seen_by(self.network, prepared, enlarged)

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        chosen = [self.stimuli[number] for number in numbers]
        return self.pictures(chosen), self.space.places_of([one.category for one in chosen])


@dataclass(frozen=True)
class MixedExamples:
    """Several kinds of examples as one, the first kind first."""

    parts: Sequence[NamedExamples]
    space: LabelSpace

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def original_names(self) -> list[str]:
        return [name for part in self.parts for name in part.original_names]

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """In the order that is asked for, whatever kind each is of."""
        edges = np.concatenate([[0], np.cumsum([len(part) for part in self.parts])])
        pictures: dict[int, NDArray[np.uint8]] = {}
        categories = np.zeros(len(numbers), np.int64)
        for part, (low, high) in zip(self.parts, pairwise(edges), strict=True):
            places = np.flatnonzero((numbers >= low) & (numbers < high))
            if len(places):
                found, categories[places] = part.batch(numbers[places] - low)
                pictures |= dict(zip(places.tolist(), found, strict=True))
        return np.stack([pictures[place] for place in range(len(numbers))]), categories


@dataclass(frozen=True)
class Sides:
    """Names of originals by what a retraining does with them; of folders, see `_name`."""

    trained_on: frozenset[str]
    held_out: frozenset[str]
    test: frozenset[str]


def sides_of(retraining: Retraining, *, held_out: float, seed: int) -> Sides:
    """What is trained on, what tells when to stop, and what tests; no content is on two sides."""
    stimulus_set, evaluation_set = retraining.stimulus_set, retraining.evaluation_set
    training: dict[str, tuple[str, str]] = {}
    test: dict[str, tuple[str, str]] = contents_of(evaluation_set.source_set) if evaluation_set is not None else {}
    if stimulus_set is not None:
        contents = contents_of(stimulus_set.source_set)
        split = split_of(stimulus_set, evaluation_set, share=retraining.share, seed=seed)
        training = {name: content for name, content in contents.items() if name in split.training}
        if evaluation_set is None:
            test = {name: content for name, content in contents.items() if name in split.evaluation}
    for folder in folders_of(retraining.pictures):
        training |= {_name(folder, key): content for key, content in _chosen(folder, seed).items()}
    tested = [digest for _, digest in test.values()]
    for folder in folders_of(retraining.tests):
        tested += [digest for _, digest in contents_of(folder.source_set).values()]
    if retraining.pictures or retraining.tests:
        check_disjoint((digest for _, digest in training.values()), tested)
    chosen = hold_out(training, share=held_out, seed=seed)
    return Sides(frozenset(training) - chosen, chosen, frozenset(test))


def split_of(stimulus_set: StimulusSet, evaluation_set: StimulusSet | None, *, share: float, seed: int) -> Split:
    """Originals of a stimulus set divided, or those of two sets, which share no content."""
    contents = contents_of(stimulus_set.source_set)
    if evaluation_set is None:
        return split_originals(contents, share=share, seed=seed)
    others = contents_of(evaluation_set.source_set)
    check_disjoint((digest for _, digest in contents.values()), (digest for _, digest in others.values()))
    return Split(frozenset(contents), frozenset(others))


def contents_of(source_set: SourceSet) -> dict[str, tuple[str, str]]:
    """Category and digest of every original: of its pixels where all of them have one, else of its file."""
    rows = list(source_set.images.order_by("key").values_list("key", "category", "pixel_sha256", "sha256"))
    by_pixels = all(pixels for _, _, pixels, _ in rows)
    return {key: (category, pixels if by_pixels else file) for key, category, pixels, file in rows}


def _chosen(folder: Folder, seed: int) -> dict[str, tuple[str, str]]:
    contents = contents_of(folder.source_set)
    if folder.easy:
        agreed = agreed_originals(folder.source_set) or frozenset()
        contents = {key: content for key, content in contents.items() if key in agreed}
    if folder.like is not None:
        wanted = sample_as(contents, counts=folder.like.by_label(seed), seed=seed)
    elif folder.count:
        wanted = sample_evenly(contents, count=folder.count, seed=seed)
    else:
        return contents
    return {key: content for key, content in contents.items() if key in wanted}


def _name(folder: Folder, key: str) -> str:
    """Of a folder's picture, apart from those of stimuli and of other folders."""
    return f"pictures of {folder.source_set.pk}: {key}"


def stimuli_to_learn(retraining: Retraining, *, own_labels: bool) -> list[ShownStimulus]:
    """Those of the functions that are trained on; sentinels of persons train no network and test none."""
    stimulus_set = retraining.stimulus_set
    if stimulus_set is None:
        return []
    wanted = list(retraining.corruptions)
    if stimulus_set.person_families:
        wanted = wanted or stimulus_set.corruptions
    return list(shown_stimuli(stimulus_set, own_labels=own_labels, corruptions=wanted or None))


def stimuli_of_test(stimulus_set: StimulusSet) -> list[ShownStimulus]:
    """All that test: see `stimuli_to_learn`."""
    functions = stimulus_set.corruptions if stimulus_set.person_families else None
    return list(shown_stimuli(stimulus_set, corruptions=functions))


def pictures_as_shown(
    folder: Folder, images: Sequence[SourceImage], *, own_labels: bool = False
) -> list[ShownStimulus]:
    """Originals as stimuli that nothing was done to."""
    return [
        ShownStimulus(
            image.key,
            _name(folder, image.key),
            image.wnid if own_labels else image.category,
            "none",
            0.0,
            image.file,
            image.sha256,
            accepted=() if own_labels else tuple(image.accepted),
        )
        for image in images
    ]


def shown_in(retraining: Retraining) -> Enlargement:
    """How originals are shown: as the stimuli beside them, else as is best for the first folder."""
    for stimulus_set in filter(None, (retraining.stimulus_set, retraining.evaluation_set)):
        return Enlargement(stimulus_set.size_px, stimulus_set.enlarged)
    first = folders_of(retraining.pictures)[0].source_set
    return enlargement_of(first) or Enlargement(USUAL_PX, 1)


def examples_of(
    retraining: Retraining, network: TorchNetwork, space: LabelSpace, names: Collection[str]
) -> MixedExamples:
    """Stimuli and pictures of these originals, in the order of the material."""
    own = retraining.own_labels
    stimuli = [one for one in stimuli_to_learn(retraining, own_labels=own) if one.original in names]
    parts: list[NamedExamples] = [ShownExamples(stimuli, network, space)] if stimuli else []
    for folder in folders_of(retraining.pictures):
        bring_originals(folder.source_set)
        shown = pictures_as_shown(folder, list(folder.source_set.images.order_by("key")), own_labels=own)
        found = [one for one in shown if one.original in names]
        parts.append(ShownExamples(found, network, space, shown_in(retraining)))
    return MixedExamples(parts, space)


def own_space(network: TorchNetwork) -> LabelSpace:
    """The outputs of a network as labels, for a loss among all of them."""
    try:
        return LabelSpace(name=f"outputs of {network.name}", labels=tuple(Label(id=one) for one in network.labels))
    except InvalidInput as error:
        raise InvalidRequest(
            f"The outputs of {network.name} cannot be labels of pictures ({error}): train it among the labels of the "
            "pictures."
        ) from error


def check_own_labels(source_sets: Sequence[SourceSet], outputs: Collection[str] | None = None) -> None:
    """Refuse a loss among a network's own outputs for pictures whose class is not known, or is none of them."""
    for source_set in source_sets:
        nameless = source_set.images.filter(wnid="").count()
        if nameless:
            raise InvalidRequest(
                f"{nameless} pictures of {source_set} have no WordNet id, so none of the network's own outputs is "
                "known to be right: import them from folders named by WordNet id, or train among the labels of the "
                "pictures.",
                fields={"own_labels": "pictures with WordNet ids"},
            )
        classes = set(source_set.images.order_by().values_list("wnid", flat=True).distinct())
        strange = sorted(classes - set(outputs)) if outputs is not None else []
        if strange:
            raise InvalidRequest(
                f"{strange[0]}, a class of pictures of {source_set}, is none of the network's {len(outputs or ())} "
                "outputs: train it among the labels of the pictures."
            )


def all_source_sets(retraining: Retraining) -> Iterator[SourceSet]:
    """Sets that are trained on."""
    if retraining.stimulus_set is not None:
        yield retraining.stimulus_set.source_set
    yield from (folder.source_set for folder in folders_of(retraining.pictures))
