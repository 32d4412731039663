"""Training a small network from nothing on a set of clean pictures, with the labels of the set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.classifiers.networks import TorchNetwork
from analysis.generation.originals import prepare_original
from analysis.labels.mapping import Answering
from analysis.retraining.held_out import check_disjoint
from analysis.retraining.small_network import LARGEST_PX, SMALLEST_PX, Trained, TrainingRecipe, train_small_network
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations.programs import check_out, write_network
from humanexp.evaluations.services.training_material import check_may_train, check_same_labels
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.selectors.sets import bring_originals

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TestedPictures:
    """How many pictures of a set the network names right; an accepted label is right, too."""

    n: int
    n_right: int
    n_by_label: dict[str, int]
    n_right_by_label: dict[str, int]

    @property
    def accuracy(self) -> float:
        return self.n_right / self.n


def train_from_nothing(
    *,
    source_set: SourceSet,
    out: Path,
    recipe: TrainingRecipe,
    progress: Progress,
    test_set: SourceSet | None = None,
    size_px: int = 0,
) -> tuple[Trained, TestedPictures | None]:
    """Train on every picture of a set, write the network, and test it on another set.

    `size_px`: side to which pictures are brought; 0 for their own, where all of them have one. Refused before anything
    is trained: files that cannot be written, pictures of several sizes or large ones, and a test on pictures with other
    labels or on pictures that are trained on.
    """
    check_out(out)
    check_may_train(source_set, field="source_set")
    space = source_set.space
    images = _images(source_set)
    side = size_px or _native_side(source_set, images)
    if not SMALLEST_PX <= side <= LARGEST_PX:
        raise InvalidRequest(
            f"The small network takes pictures of {SMALLEST_PX} to {LARGEST_PX} px, not {side}: give --size."
        )
    tests = [] if test_set is None else _tests(source_set, test_set, images)
    pictures = _pictures(source_set, images, side)

    def tell(done: int, total: int, loss: float) -> None:
        progress(done, total, f"steps trained, loss {loss:.3f}")

    labels = [image.category for image in images]
    made = train_small_network(pictures, labels, space, recipe, name=out.stem, tell=tell)
    write_network(
        made.network,
        out,
        pictures=source_set.name,
        labels=space.name,
        labels_identity=space.identity,
        recipe={**asdict(recipe), "flips": made.flips},
        training_pictures=len(images),
    )
    return made, None if test_set is None else _tested(made.network, test_set, tests, side)


def _images(source_set: SourceSet) -> list[SourceImage]:
    images = list(source_set.images.order_by("key"))
    if not images:
        raise InvalidRequest(f"The set of pictures {source_set} is empty: import pictures first.")
    return images


def _native_side(source_set: SourceSet, images: Sequence[SourceImage]) -> int:
    sizes = sorted({(image.width_px or 0, image.height_px or 0) for image in images})
    width, height = sizes[0]
    if len(sizes) > 1 or width != height:
        shown = ", ".join(f"{width} x {height}" for width, height in sizes[:3])
        raise InvalidRequest(
            f"The pictures of {source_set} are not squares of one size ({shown} px): say with --size to which side "
            "they are brought.",
            fields={"size_px": "in pixels"},
        )
    return width


def _tests(source_set: SourceSet, test_set: SourceSet, images: Sequence[SourceImage]) -> list[SourceImage]:
    check_same_labels(source_set, test_set, field="test")
    tests = _images(test_set)
    check_disjoint(*([image.pixel_sha256 or image.sha256 for image in one] for one in (images, tests)))
    return tests


def _pictures(source_set: SourceSet, images: Sequence[SourceImage], side: int) -> NDArray[np.uint8]:
    bring_originals(source_set)
    return np.stack([prepare_original(media_path(image.file), side) for image in images])


def _tested(network: TorchNetwork, test_set: SourceSet, images: Sequence[SourceImage], side: int) -> TestedPictures:
    space = test_set.space
    probabilities = network.predict(_pictures(test_set, images, side))
    answers: Any = Answering(space).answer(probabilities, network.labels).responses.tolist()
    shown, right = dict.fromkeys(space.ids, 0), dict.fromkeys(space.ids, 0)
    for image, answer in zip(images, answers, strict=True):
        shown[image.category] += 1
        right[image.category] += answer in (image.accepted or [image.category])
    return TestedPictures(len(images), sum(right.values()), shown, right)
