"""Predicting many stimuli: pictures read ahead, paths in and a Parquet file out, for any executor.

What is held at once is one shard's rows and one batch of pictures, whatever the number of stimuli.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import PROCESSOR_BATCH, Precision, is_accelerator
from analysis.classifiers.port import Classifier, RecordedPredictions
from analysis.errors import ClassifierUnavailable, PictureRefused
from analysis.labels.files import read_space
from analysis.labels.mapping import Answering, Decide, Decisions, Rule
from analysis.labels.space import LabelSpace

#: Stimuli a shard holds: what is lost when the process is killed.
SHARD_STIMULI = 512
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
    space : str
        Labels of the pictures as a TOML file, which any process reads; empty for the product's default.
    own_labels : bool
        Decide among the classifier's own labels instead of those of the pictures.
    """

    spec: str
    device: str = "cpu"
    rule: Rule = "mean"
    decide: Decide = "among"
    space: str = ""
    own_labels: bool = False
    labels: str = ""
    allow_code: bool = False
    allow_download: bool = False
    digest: str = ""
    precision: Precision = "float32"

    @property
    def how(self) -> Answering:
        """How its outputs become answers."""
        return Answering(self._labels, self.rule, self.decide, self.own_labels)

    @property
    def _labels(self) -> LabelSpace | None:
        return read_space(self.space)

    def load(self) -> Classifier | RecordedPredictions:
        """Load the classifier; errors as in `load_classifier`."""
        return load_classifier(
            self.spec,
            device=self.device,
            allow_code=self.allow_code,
            allow_download=self.allow_download,
            precision=self.precision,
            labels=Path(self.labels) if self.labels else None,
            space=self._labels,
        )


@dataclass(frozen=True, slots=True)
class ShownStimulus:
    """A stimulus as people saw it: its row's cells, its file and the digest of the file's bytes.

    `enlarged` says how many times its native pixels were enlarged, `accepted` which labels are right; empty: the
    category alone.
    """

    stimulus: str
    original: str
    category: str
    corruption: str
    visual_change: float
    file: str
    sha256: str
    enlarged: int = 1
    accepted: tuple[str, ...] = ()

    def is_right(self, response: str) -> bool:
        """Whether this answer is right."""
        return response in (self.accepted or (self.category,))


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
        if is_accelerator(asked.device):
            # An accelerator sums in another order, and in the precision asked for: a run never mixes such rows.
            digest.update(f"accelerator {asked.precision}".encode())
        else:
            # The number of pictures that go through at once decides how sums are rounded.
            digest.update(f"{PROCESSOR_BATCH} at once".encode())
        if asked.space or asked.decide != "among":
            digest.update(f"{asked.how.labels.identity} {asked.decide}".encode())
        for one in self.stimuli:
            digest.update(f"{one.stimulus} {one.category} {one.sha256} {one.visual_change!r}\n".encode())
            if one.enlarged > 1:
                digest.update(f"{one.enlarged}\n".encode())
            if one.accepted:
                digest.update(f"right: {' '.join(one.accepted)}\n".encode())
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


def write_shard(shard: PredictionShard, rows: Sequence[dict[str, Any]], seconds: float) -> None:
    """Write a shard's rows, and how long predicting them took, whole or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    from analysis.tables.stimuli import PREDICTIONS

    table = pa.Table.from_pandas(PREDICTIONS.frame(rows), preserve_index=False)
    path = shard.path
    # A killed process leaves a temporary file, never half a shard.
    unfinished = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    with unfinished.open("wb") as file:
        parquet.write_table(table.replace_schema_metadata({_SECONDS: repr(seconds).encode()}), file)
    unfinished.replace(path)


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


#: The classifiers that this process has loaded last, under what was asked for: a process predicts many shards.
_held: dict[Asked, Classifier | RecordedPredictions] = {}


def hold(classifiers: Mapping[Asked, Classifier | RecordedPredictions]) -> None:
    """Keep classifiers that are loaded already for the shards that this process will predict."""
    _held.clear()
    _held.update(classifiers)


def held(wanted: Sequence[Asked]) -> list[Classifier | RecordedPredictions]:
    """These classifiers, loaded unless this process holds them; others are let go.

    Raises
    ------
    ClassifierUnavailable
        If one of them cannot be loaded, or is not the one with which the work began.
    """
    if not all(asked in _held for asked in wanted):
        hold({asked: _held.get(asked) or _checked(asked) for asked in wanted})
    return [_held[asked] for asked in wanted]


def _checked(asked: Asked) -> Classifier | RecordedPredictions:
    classifier = asked.load()
    if asked.digest and classifier.digest != asked.digest:
        raise ClassifierUnavailable(
            f"{asked.spec} is another classifier here ({classifier.digest[:12]}) than where the work began "
            f"({asked.digest[:12]}): put the same files on every machine, and start again."
        )
    return classifier


def prediction_rows(name: str, batch: Sequence[ShownStimulus], decisions: Decisions) -> Iterator[dict[str, Any]]:
    """Rows of `analysis.tables.stimuli.PREDICTIONS` from the decisions on a batch."""
    for one, response, confidence in zip(batch, decisions.responses, decisions.confidence, strict=True):
        yield {
            "classifier": name,
            "stimulus": one.stimulus,
            "original": one.original,
            "category": one.category,
            "corruption": one.corruption,
            "visual_change": one.visual_change,
            "response": str(response),
            "correct": one.is_right(str(response)),
            "confidence": float(confidence),
            "label_space": decisions.label_space,
        }


def versions(classifier: Classifier | RecordedPredictions) -> dict[str, str]:
    """Versions of the libraries that have a part in the predictions, as far as they are loaded, the precision, and the
    number of pictures that go through at once where it is fixed.

    What else a classifier says of itself, such as what a readout was fitted on, is added.
    """
    import sys
    from importlib import metadata

    from analysis import __version__

    found = {"humanexp": __version__, "numpy": np.__version__}
    for name, distribution in _LIBRARIES.items():
        if name in sys.modules:
            found[name] = metadata.version(distribution)
    device = str(getattr(classifier, "device", ""))
    found |= {what: str(value) for what in ("precision", "batch") if (value := getattr(classifier, what, None))}
    if device.startswith("cuda"):
        found["accelerator"] = str(sys.modules["torch"].cuda.get_device_name(device))
    return found | getattr(classifier, "facts", {})


_LIBRARIES = {
    "torch": "torch",
    "torchvision": "torchvision",
    "timm": "timm",
    "transformers": "transformers",
    "open_clip": "open_clip_torch",
    "onnxruntime": "onnxruntime",
}


#: Batches that are decoded, or under way, while the network looks at one.
AHEAD = 2
#: Pictures that a thread takes at once.
_PIECE = 8


def read_ahead(
    batches: Iterable[Sequence[ShownStimulus]], *, threads: int, is_pinned: bool = False
) -> Generator[NDArray[np.uint8], None, None]:
    """Decoded pictures of each batch, uint8 (n, h, w, 3), in order; at most `AHEAD` batches and one are in memory.

    Parameters
    ----------
    batches : iterable of sequences of ShownStimulus
        Taken when they are needed, in the calling thread. An empty batch gives an array without pictures.
    threads : int
        That read and decode.
    is_pinned : bool
        Decode into memory that a CUDA device copies from without waiting.

    Raises
    ------
    PictureRefused
        If a file is gone, is not the one that was measured, or has another size than its neighbours.
    """
    under_way: deque[_Batch] = deque()
    queue = iter(batches)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="pictures")
    try:
        is_exhausted = False
        while True:
            while not is_exhausted and len(under_way) <= AHEAD:
                try:
                    under_way.append(_Batch(next(queue), pool, is_pinned=is_pinned))
                except StopIteration:
                    is_exhausted = True
            if not under_way:
                return
            yield under_way.popleft().pictures()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Batch:
    """A batch that threads fill; its memory is taken once the first picture tells the size."""

    def __init__(self, stimuli: Sequence[ShownStimulus], pool: ThreadPoolExecutor, *, is_pinned: bool) -> None:
        self._stimuli = stimuli
        self._is_pinned = is_pinned
        self._lock = Lock()
        self._array: NDArray[np.uint8] | None = None
        self._pieces: list[Future[None]] = [pool.submit(self._fill, start) for start in range(0, len(stimuli), _PIECE)]

    def pictures(self) -> NDArray[np.uint8]:
        for piece in self._pieces:
            piece.result()
        return np.zeros((0, 1, 1, 3), np.uint8) if self._array is None else self._array

    def _fill(self, start: int) -> None:
        for number, one in enumerate(self._stimuli[start : start + _PIECE], start):
            picture = read_picture(one.file, one.sha256, one.stimulus)
            array = self._memory(picture.shape)
            if picture.shape != array.shape[1:]:
                raise PictureRefused(
                    f"The stimulus {one.stimulus} is {picture.shape[1]} x {picture.shape[0]} px, and another of its "
                    f"set is {array.shape[2]} x {array.shape[1]} px: make the set again with one size."
                )
            array[number] = picture

    def _memory(self, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        with self._lock:
            if self._array is None:
                self._array = _empty((len(self._stimuli), *shape), is_pinned=self._is_pinned)
            return self._array


def _empty(shape: tuple[int, ...], *, is_pinned: bool) -> NDArray[Any]:
    if not is_pinned:
        return np.empty(shape, np.uint8)
    import torch

    return np.asarray(torch.empty(shape, dtype=torch.uint8, pin_memory=True).numpy())
