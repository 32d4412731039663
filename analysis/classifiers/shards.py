"""Predicting many stimuli: pure shard functions, paths in and a Parquet file out, for any executor.

What is held at once is one shard's rows and one batch of pictures, whatever the number of stimuli.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.decision import Decisions, Rule
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.port import Classifier, RecordedPredictions, classify
from analysis.errors import ClassifierUnavailable, PictureRefused

if TYPE_CHECKING:
    pass

#: Stimuli a shard holds: what is lost when the process is killed.
SHARD_STIMULI = 512
#: Pictures that are decoded and classified at once.
BATCH = 64
_SECONDS = b"seconds"


@dataclass(frozen=True, slots=True)
class Asked:
    """How to load a classifier in any process, and how it decides.

    Attributes
    ----------
    spec : str
        Adapter string.
    digest : str
        Of the classifier as it was first loaded; a process that finds another one does not predict.
    labels : str
        Path of a mapping file; empty for none.
    own_labels : bool
        Decide among the classifier's own labels instead of the 16 categories.
    """

    spec: str
    device: str = "cpu"
    rule: Rule = "mean"
    own_labels: bool = False
    labels: str = ""
    allow_code: bool = False
    allow_download: bool = False
    digest: str = ""

    def load(self) -> Classifier | RecordedPredictions:
        """Load the classifier; errors as in `load_classifier`."""
        return load_classifier(
            self.spec,
            device=self.device,
            allow_code=self.allow_code,
            allow_download=self.allow_download,
            labels=Path(self.labels) if self.labels else None,
        )


@dataclass(frozen=True, slots=True)
class ShownStimulus:
    """A stimulus as people saw it: its row's cells, its file and the digest of the file's bytes."""

    stimulus: str
    original: str
    category: str
    corruption: str
    visual_change: float
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PredictionShard:
    """Stimuli to predict, and the folder for the file of predictions."""

    asked: Asked
    name: str
    stimuli: tuple[ShownStimulus, ...]
    folder: str

    @property
    def path(self) -> Path:
        """File of this shard, named by all that decides its rows: it is used again only for the very same."""
        asked = self.asked
        digest = hashlib.sha256(f"{asked.digest} {asked.rule} {asked.own_labels} {self.name}".encode())
        if asked.device != "cpu":
            # An accelerator computes in another precision: rows of both never stand in one run.
            digest.update(b"accelerator")
        for one in self.stimuli:
            digest.update(f"{one.stimulus} {one.category} {one.sha256} {one.visual_change!r}\n".encode())
        return Path(self.folder) / f"part-{digest.hexdigest()[:24]}.parquet"

    @property
    def is_done(self) -> bool:
        """Whether its file is there and whole: after a loss of power a file may be empty or cut off."""
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return int(parquet.read_metadata(self.path).num_rows) == len(self.stimuli)
        except (OSError, pa.ArrowException):
            return False


def predict_shard(shard: PredictionShard) -> Path:
    """Predict a shard's stimuli and write them, unless its file is there already; returns the file.

    Raises
    ------
    PictureRefused
        If a stimulus's file is gone or is not the one that was measured and shown.
    ClassifierUnavailable, TableRefused
        If the classifier cannot be loaded or does not answer as it should.
    """
    path = shard.path
    if shard.is_done:
        return path
    import pyarrow as pa
    from pyarrow import parquet

    from analysis.tables import PREDICTIONS

    classifier = _loaded(shard.asked)
    started = time.perf_counter()
    rows: list[dict[str, Any]] = []
    for start in range(0, len(shard.stimuli), BATCH):
        batch = shard.stimuli[start : start + BATCH]
        decisions = _decided(classifier, shard.asked, batch)
        rows.extend(prediction_rows(shard.name, batch, decisions))
    frame = PREDICTIONS.frame(rows)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    # A killed process leaves a temporary file, never half a shard.
    unfinished = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    with unfinished.open("wb") as file:
        parquet.write_table(
            table.replace_schema_metadata({_SECONDS: repr(time.perf_counter() - started).encode()}), file
        )
    unfinished.replace(path)
    return path


@dataclass(frozen=True, slots=True)
class Joined:
    """What the joined file of predictions holds."""

    count: int
    n_clean: int
    n_clean_correct: int
    label_space: int
    #: time that predicting took, summed over shards; waiting and joining are not in it
    seconds: float
    sha256: str


def join_shards(parts: Sequence[Path], path: Path) -> Joined:
    """Write the shards' predictions into one file, a shard at a time, and count what it holds.

    Parameters
    ----------
    parts : sequence of Path
        Files of `predict_shard`, in the order wanted.
    path : Path
        Written whole or not at all.
    """
    import pyarrow.compute as pc
    from pyarrow import parquet

    count = n_clean = n_clean_correct = label_space = 0
    seconds = 0.0
    unfinished = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    writer: parquet.ParquetWriter | None = None
    try:
        for part in parts:
            table = parquet.read_table(part, use_threads=False)
            seconds += float((table.schema.metadata or {}).get(_SECONDS, b"0"))
            table = table.replace_schema_metadata(None)
            writer = writer or parquet.ParquetWriter(unfinished, table.schema)
            writer.write_table(table)
            clean = table.filter(pc.equal(table["corruption"], "none"))
            count += len(table)
            n_clean += len(clean)
            n_clean_correct += int(pc.sum(clean["correct"].cast("int64")).as_py() or 0)
            label_space = int(table["label_space"][0].as_py())
    finally:
        if writer is not None:
            writer.close()
    unfinished.replace(path)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Joined(count, n_clean, n_clean_correct, label_space, seconds, digest)


def read_picture(file: str, sha256: str, stimulus: str) -> NDArray[np.uint8]:
    """The decoded file, uint8 (h, w, 3) RGB: the very bytes that people were shown.

    Raises
    ------
    PictureRefused
        If the file is gone, or its digest is another.
    """
    import cv2

    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise PictureRefused(
            f"The stimulus {stimulus} has no file {file}: make the set again from the same description and seed."
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise PictureRefused(
            f"The file {file} is not the one that was measured for the stimulus {stimulus}: make the set again from "
            "the same description and seed (verify_stimuli names every such file)."
        )
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB)
    return np.asarray(decoded, dtype=np.uint8)


#: The classifier that this process has loaded last, under what was asked for: a process predicts many shards with it.
_held: dict[Asked, Classifier | RecordedPredictions] = {}


def hold(asked: Asked, classifier: Classifier | RecordedPredictions) -> None:
    """Keep a classifier that is loaded already for the shards that this process will predict."""
    _held.clear()
    _held[asked] = classifier


def _loaded(asked: Asked) -> Classifier | RecordedPredictions:
    if asked not in _held:
        classifier = asked.load()
        if asked.digest and classifier.digest != asked.digest:
            raise ClassifierUnavailable(
                f"{asked.spec} is another classifier here ({classifier.digest[:12]}) than where the work began "
                f"({asked.digest[:12]}): put the same files on every machine, and start again."
            )
        hold(asked, classifier)
    return _held[asked]


def _decided(classifier: Classifier | RecordedPredictions, asked: Asked, batch: Sequence[ShownStimulus]) -> Decisions:
    def pictures() -> NDArray[np.uint8]:
        return np.stack([read_picture(one.file, one.sha256, one.stimulus) for one in batch])

    names = [one.stimulus for one in batch]
    return classify(classifier, names, pictures, asked.rule, own_labels=asked.own_labels)


def prediction_rows(name: str, batch: Sequence[ShownStimulus], decisions: Decisions) -> Iterator[dict[str, Any]]:
    """Rows of `analysis.tables.PREDICTIONS` from the decisions on a batch."""
    for one, response, confidence in zip(batch, decisions.responses, decisions.confidence, strict=True):
        yield {
            "classifier": name,
            "stimulus": one.stimulus,
            "original": one.original,
            "category": one.category,
            "corruption": one.corruption,
            "visual_change": one.visual_change,
            "response": str(response),
            "correct": bool(response == one.category),
            "confidence": float(confidence),
            "label_space": decisions.label_space,
        }


def versions(classifier: Classifier | RecordedPredictions) -> dict[str, str]:
    """Versions of the libraries that have a part in the predictions, as far as they are loaded, and the precision."""
    import sys
    from importlib import metadata

    import analysis

    found = {"humanexp": analysis.__version__, "numpy": np.__version__}
    for name, distribution in _LIBRARIES.items():
        if name in sys.modules:
            found[name] = metadata.version(distribution)
    precision = getattr(classifier, "precision", "")
    return {**found, "precision": precision} if precision else found


_LIBRARIES = {
    "torch": "torch",
    "torchvision": "torchvision",
    "timm": "timm",
    "transformers": "transformers",
    "open_clip": "open_clip_torch",
    "onnxruntime": "onnxruntime",
}
