"""What a search leaves on disk, shard by shard, and what may be done to originals before it.

A folder holds ``originals/KEY.png`` and ``pictures/KEY.png`` (the kept counterfactuals), ``shards/*.json`` (the
records) and, while people judge, ``rounds/``. All files are written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.port import Classifier
from analysis.counterfactuals.ascent import Trace
from analysis.counterfactuals.corrupting import beside
from analysis.counterfactuals.pixels import PixelGenerator
from analysis.counterfactuals.port import Generator, Oracle, Target
from analysis.counterfactuals.specifications import CROWD, load_generator, load_oracle
from analysis.errors import PictureRefused, SearchRefused
from analysis.examples import located
from analysis.generation.files import UNFINISHED, decode_png, digest, encode_png, is_intact, write_atomically
from analysis.generation.originals import prepare_original
from analysis.labels.files import read_space


@dataclass(frozen=True, slots=True)
class Control:
    """Preparation of originals.

    Parameters
    ----------
    greyscale : bool
        Take the colours away: 0.299 R + 0.587 G + 0.114 B, in all three channels.
    fgsm : float
        Size of one signed gradient step up the classifier's loss, of 1; 0 for none. After Goodfellow, Shlens and
        Szegedy (2015).
    """

    greyscale: bool = False
    fgsm: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.fgsm <= 1:
            raise SearchRefused(f"The initial signed step lies between 0 and 1, not {self.fgsm}.")

    @property
    def needs_gradients(self) -> bool:
        """Whether the classifier must be differentiable."""
        return self.fgsm > 0

    def prepare(self, pictures: NDArray[np.uint8], numbers: NDArray[np.intp], target: Target) -> NDArray[np.uint8]:
        """Prepared pictures, shape (n, h, w, 3)."""
        prepared = in_grey(pictures) if self.greyscale else pictures
        if not self.fgsm:
            return prepared
        signed = PixelGenerator(epsilon=self.fgsm, stride=self.fgsm)
        start = signed.start(prepared, np.zeros(len(prepared), np.int64))
        return signed.paint(signed.step(start, numbers, target)).pictures


#: Originals as they are.
AS_IT_IS = Control()


def in_grey(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pictures without colour, shape (n, h, w, 3)."""
    grey = np.rint(pictures.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32))
    return np.repeat(grey.astype(np.uint8)[..., None], 3, axis=3)


@dataclass(frozen=True, slots=True)
class SearchOriginal:
    """An original to perturb.

    Attributes
    ----------
    key : str
        Unique in the search; names its files.
    category : str
    path : str
        Where its file lies.
    sha256 : str
        Of the file.
    seed : int
    """

    key: str
    category: str
    path: str
    sha256: str
    seed: int


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Everything that a search is, but for its pictures.

    Attributes
    ----------
    classifier, generator, oracle : str
        Specifications.
    folder : str
        Where the files go.
    budget, batch, size_px : int
        Perturbations of a picture; pictures that advance together; side of the pictures.
    greyscale, fgsm : bool, float
        See `Control`.
    device : str
    allow_code : bool
        Whether ``python:`` may run a researcher's own classifier.
    labels : str
        Labels of the pictures as a TOML file, which any process reads; empty for the product's default.
    """

    classifier: str
    generator: str
    oracle: str
    folder: str
    budget: int = 10
    batch: int = 32
    size_px: int = 224
    greyscale: bool = False
    fgsm: float = 0.0
    device: str = "cpu"
    allow_code: bool = False
    labels: str = ""

    @property
    def control(self) -> Control:
        """What is done to originals first."""
        return Control(greyscale=self.greyscale, fgsm=self.fgsm)

    def load_target(self) -> Target:
        """The classifier under test; loaded once a process."""
        loaded = _classifier(self.classifier, self.device, self.allow_code, self.labels, _files_of(self.classifier))
        return Target(loaded, read_space(self.labels))

    def load_generator(self) -> Generator:
        """The generator, beside the oracle if that answers at once; loaded once a process."""
        generator = _generator(self.generator, self.device, self.allow_code, _files_of(self.generator))
        return generator if self.oracle == CROWD else beside(generator, self.load_oracle())

    def load_oracle(self) -> Oracle:
        """The oracle; loaded once a process."""
        return _oracle(self.oracle, self.device, self.allow_code, self.labels, _files_of(self.oracle))


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """What is stored of one picture; the fields of `Counterfactual`, and its files.

    Attributes
    ----------
    key, category : str
        Of the original.
    sha256 : str
        Of the kept picture's file; empty when the oracle refused step 0.
    """

    key: str
    category: str
    valid: bool
    accepted_steps: int
    ending: str
    clean_response: str
    clean_loss: float
    losses: tuple[float, ...]
    responses: tuple[str, ...]
    oracle_responses: tuple[str, ...]
    sha256: str

    @property
    def label(self) -> str:
        """The category, as `Counterfactual` calls it."""
        return self.category

    @property
    def clean_correct(self) -> bool:
        """Whether the classifier named the original."""
        return self.clean_response == self.category

    @property
    def response(self) -> str:
        """What the classifier answers to the kept picture; empty without one."""
        return self.responses[-1] if self.responses else ""

    @property
    def counterfactual_correct(self) -> bool:
        """Whether the classifier names the kept picture."""
        return self.response == self.category

    @classmethod
    def of(cls, key: str, trace: Trace, sha256: str) -> SearchRecord:
        """Record of a trace, finished or not."""
        return cls(
            key=key, category=trace.label, valid=trace.valid, accepted_steps=trace.accepted_steps, ending=trace.ending,
            clean_response=trace.clean_response, clean_loss=trace.clean_loss, losses=tuple(trace.losses),
            responses=tuple(trace.responses), oracle_responses=tuple(trace.oracle_responses), sha256=sha256,
        )  # fmt: skip

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> SearchRecord:
        """Read what `dataclasses.asdict` wrote."""
        lists = ("losses", "responses", "oracle_responses")
        values: dict[str, Any] = {name: tuple(value) if name in lists else value for name, value in fields.items()}
        return cls(**values)


def read_prepared(originals: Sequence[SearchOriginal], size_px: int) -> NDArray[np.uint8]:
    """Originals cut to the size of the search, shape (n, size_px, size_px, 3).

    Raises
    ------
    PictureRefused
        If a file is not the one that was imported, or no picture.
    """
    pictures = []
    for original in originals:
        path = Path(original.path)
        if path.is_file() and digest(path.read_bytes()) != original.sha256:
            raise PictureRefused(
                f"{path}: the file is not the one that was imported. Put it back, or import the pictures again."
            )
        pictures.append(prepare_original(path, size_px))
    return np.stack(pictures)


def write_picture(folder: Path, name: str, picture: NDArray[np.uint8]) -> str:
    """Write a PNG file; returns its SHA-256."""
    png = encode_png(picture)
    sha256 = digest(png)
    path = folder / name
    if not is_intact(path, sha256):
        write_atomically(path, png, beside=folder / UNFINISHED)
    return sha256


def read_picture(path: Path) -> NDArray[np.uint8]:
    """Picture of a PNG file, shape (h, w, 3)."""
    return decode_png(path.read_bytes())


def write_records(path: Path, records: Sequence[SearchRecord], *, beside: Path) -> None:
    """Write the records of a shard."""
    content = json.dumps([asdict(record) for record in records], indent=None, separators=(",", ":"))
    write_atomically(path, content.encode(), beside=beside)


def read_records(path: Path) -> list[SearchRecord] | None:
    """Read the records of a shard; None where there are none, or, after a loss of power, none that are whole."""
    try:
        return [SearchRecord.from_dict(fields) for fields in json.loads(path.read_text(encoding="utf-8"))]
    except (FileNotFoundError, ValueError):
        return None


def shard_name(settings: SearchSettings, originals: Sequence[SearchOriginal], digests: Sequence[str]) -> str:
    """Name by content: equal only where everything that determines the result is."""
    left_out = ("folder", "device", *(() if settings.labels else ("labels",)))
    wanted = {name: value for name, value in asdict(settings).items() if name not in left_out}
    pictures = [(original.key, original.category, original.sha256, original.seed) for original in originals]
    content = json.dumps([wanted, pictures, list(digests)], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def check_keys(originals: Sequence[SearchOriginal]) -> None:
    """Refuse keys that would share a file, or leave the folder.

    Raises
    ------
    SearchRefused
    """
    keys = [original.key for original in originals]
    twice = sorted({key for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []
    if twice:
        raise SearchRefused(f"The original {twice[0]} stands twice in the search.")
    for key in keys:
        if not key or Path(key).is_absolute() or ".." in Path(key).parts:
            raise SearchRefused(f"{key!r} cannot name a file.")


#: What tells a file from another one that was put in its place: path, inode, time, size.
_Standing = tuple[str, int, int, int]


def _files_of(spec: str) -> tuple[_Standing, ...]:
    """How the files stand that a specification names: a process that searches for days loads what has changed anew."""
    named = [located(Path(part)) for part in re.split(r"[:@|,=]", spec) if part]
    files = {
        file
        for path in named
        for file in (path.iterdir() if path.is_dir() else (path, path.with_suffix(".json")))
        if file.is_file()
    }
    return tuple(
        (str(file), found.st_ino, found.st_mtime_ns, found.st_size)
        for file, found in sorted((file, file.stat()) for file in files)
    )


@lru_cache(maxsize=4)
def _classifier(spec: str, device: str, allow_code: bool, labels: str, _files: tuple[_Standing, ...]) -> Classifier:
    return load_classifier(spec, device=device, allow_code=allow_code, space=read_space(labels))  # type: ignore[return-value]


@lru_cache(maxsize=4)
def _generator(spec: str, device: str, allow_code: bool, _files: tuple[_Standing, ...]) -> Generator:
    return load_generator(spec, device=device, allow_code=allow_code)


@lru_cache(maxsize=4)
def _oracle(spec: str, device: str, allow_code: bool, labels: str, _files: tuple[_Standing, ...]) -> Oracle:
    return load_oracle(spec, device=device, allow_code=allow_code, space=read_space(labels))
