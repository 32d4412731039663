"""Fitting a readout on labelled pictures: the way from a network to answers in labels of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analysis.classifiers.fitting import Example, check_examples, fit, interval
from analysis.classifiers.layers import PENULTIMATE, Tap, features_of, tap
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import BATCH, TorchNetwork
from analysis.classifiers.port import seen_by
from analysis.classifiers.readout import Readout, portable, require_layers
from analysis.generation.originals import inspect_originals, prepare_original
from analysis.labels.space import LabelSpace
from analysis.native_size import USUAL_PX, Enlargement, suggested_enlargement
from analysis.retraining.held_out import check_disjoint
from analysis.sets.set_file import FILE, document_beside, is_test_only
from humanexp.core import file_store
from humanexp.core.errors import InputRefused, InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations.programs import check_readout_out, write_readout
from humanexp.evaluations.services.prediction import contents_of
from humanexp.evaluations.services.training_material import check_contents_may_train
from humanexp.evaluations.specs import SHELF, check_spec
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.selectors.labels import space_named
from humanexp.stimuli.selectors.sets import bring_originals
from humanexp.stimuli.selectors.sources import enlargement_of
from humanexp.stimuli.services.imports import preview_import
from humanexp.stimuli.services.sources import ImportOrder

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Labelled:
    """Labelled pictures: an imported set, or a folder with one folder for each label."""

    name: str
    space: LabelSpace
    files: Sequence[Path]
    examples: Sequence[Example]
    #: how its pictures are shown
    shown: Enlargement

    @classmethod
    def of_set(cls, source_set: SourceSet) -> Labelled:
        images = list(source_set.images.order_by("key"))
        if not images:
            raise InvalidRequest(f"The set of pictures {source_set} is empty: import pictures first.")
        bring_originals(source_set)
        return cls(
            name=source_set.name,
            space=source_set.space,
            files=[media_path(image.file) for image in images],
            examples=[
                Example(content, image.category, tuple(image.accepted))
                for image, content in zip(images, contents_of(images), strict=True)
            ],
            shown=enlargement_of(source_set) or _USUAL,
        )

    @classmethod
    def of_folder(cls, folder: Path, label_space: str = "") -> Labelled:
        """Read as an import reads it; a file that is no picture is refused."""
        found = preview_import(source=folder, order=ImportOrder(name="readout", labels=label_space))
        files = [folder / one.name for one in found.files]
        looked = inspect_originals([str(file) for file in files], [one.name for one in found.files])
        refusal = next((one.refusal for one in looked if one.refusal), "")
        if refusal or not files:
            raise InputRefused(refusal or f"{folder} holds no pictures in folders that are called as labels.")
        return cls(
            name=folder.name,
            space=space_named(label_space),
            files=files,
            examples=[
                Example(one.pixel_sha256, file.category, tuple(file.accepted))
                for one, file in zip(looked, found.files, strict=True)
            ],
            shown=_shown({side for one in looked for side in (one.width_px, one.height_px)}),
        )

    @property
    def contents(self) -> frozenset[str]:
        """Digests of the pixels of its pictures."""
        return frozenset(one.content for one in self.examples)


_USUAL = Enlargement(USUAL_PX, 1)


def _shown(sides: Set[int]) -> Enlargement:
    """Small squares of one size are enlarged, as `enlargement_of` an imported set says."""
    return (suggested_enlargement(min(sides)) if len(sides) == 1 else None) or _USUAL


@dataclass(frozen=True)
class FittedReadout:
    """What was fitted, where the network is read, and how many pictures of another set it names right."""

    readout: Readout
    place: str
    width: int
    n_pictures: int
    #: name, pictures, those that are named right, and the 95 % interval of their share
    tested: tuple[str, int, int, tuple[float, float]] | None = None


def fit_readout(
    *,
    pictures: SourceSet | Path,
    spec: str,
    out: Path,
    progress: Progress,
    layer: str = PENULTIMATE,
    label_space: str = "",
    test_set: SourceSet | None = None,
    seed: int = 0,
    device: str = "cpu",
    allow_download: bool = False,
    allow_code: bool = False,
) -> FittedReadout:
    """Fit a readout of a network on a set or folder of pictures, write it, and test it on another set.

    `label_space`: of a folder. Refused before any picture is looked at: a file that cannot be written, sets that are
    for tests alone, labels with too few pictures, a network without that layer, and a test on pictures with other
    labels or on pictures that are learned from.
    """
    check_readout_out(out)
    spec = check_spec(spec)
    if isinstance(pictures, Path) and is_test_only(document_beside(pictures)):
        raise InputRefused(f"{pictures} is for tests alone, says the {FILE} beside it: fit on other pictures.")
    labelled = Labelled.of_folder(pictures, label_space) if isinstance(pictures, Path) else Labelled.of_set(pictures)
    check_contents_may_train(labelled.name, labelled.contents, field="images")
    check_examples(labelled.examples, labelled.space)
    tests = None
    if test_set is not None:
        tests = Labelled.of_set(test_set)
        if tests.space.identity != labelled.space.identity:
            raise InvalidRequest(
                f"The pictures {test_set} have the labels {tests.space.name}, and those of {labelled.name} "
                f"{labelled.space.name}: test on pictures with the same labels."
            )
        check_disjoint(labelled.contents, tests.contents)
    file_store.bring(SHELF)
    loaded = load_classifier(spec, device=device, allow_download=allow_download, allow_code=allow_code)
    network = require_layers(loaded, spec)
    tapped = tap(network, layer)
    total = len(labelled.files) + (len(tests.files) if tests else 0)
    features = _features(network, tapped, labelled, lambda done: progress(done, total, "pictures looked at"))
    fitted = fit(
        features,
        labelled.examples,
        labelled.space,
        seed=seed,
        tell=lambda done, of: progress(done, of, "readouts fitted"),
    )
    readout = Readout(
        weights=fitted.weights,
        bias=fitted.bias,
        labels=labelled.space.ids,
        labels_name=labelled.space.name,
        labels_identity=labelled.space.identity,
        network=portable(spec, out.parent),
        network_digest=network.digest,
        layer=layer,
        learned=labelled.contents,
        strength=fitted.strength,
        held_out=fitted.held_out,
    )
    write_readout(readout, out)
    tested = None
    if tests is not None:
        before = len(labelled.files)
        seen = _features(network, tapped, tests, lambda done: progress(before + done, total, "pictures looked at"))
        answers = np.array(labelled.space.ids)[(seen @ readout.weights.T + readout.bias).argmax(axis=1)].tolist()
        n_right = sum(said in (one.accepted or (one.label,)) for said, one in zip(answers, tests.examples, strict=True))
        tested = (tests.name, len(answers), n_right, interval(n_right, len(answers)))
    return FittedReadout(readout, tapped.place, tapped.width, len(labelled.files), tested)


def _features(
    network: TorchNetwork, tapped: Tap, labelled: Labelled, tell: Callable[[int], object]
) -> NDArray[np.float32]:
    """Of each picture, as people would be shown it."""
    parts = []
    shown = labelled.shown
    for start in range(0, len(labelled.files), BATCH):
        files = labelled.files[start : start + BATCH]
        pictures = np.stack([prepare_original(file, shown.size_px, enlarged=shown.enlarged) for file in files])
        parts.append(features_of(network, tapped, seen_by(network, pictures, shown.enlarged)))
        tell(start + len(files))
    return np.concatenate(parts)
