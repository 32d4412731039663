"""`set.toml`: what a published set of pictures is, and beside it the pictures, their digests, and perhaps trials."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, Strict, field_validator, model_validator

from analysis.errors import InvalidInput
from analysis.file_names import without_litter
from analysis.study.base import Must, Names, Number, Spec, refusal
from analysis.study.toml import from_toml
from analysis.trial_meaning import Unit

FILE = "set.toml"
#: Version of the format.
FORMAT = 1
Use = Literal["any", "test-only", "no-redistribution"]
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LINE = re.compile(r"([0-9a-fA-F]{64})[ \t][ *]?(.+)")
_LARGEST_FILE, _READ_AT_ONCE = 1_000_000, 1 << 20
#: Names in one sentence; the rest is counted.
_TOLD = 3


def _is_inside(name: str) -> bool:
    """Whether a path leads below the folder that it is read from: files of a set are claims of whoever made it."""
    parts = PurePosixPath(name.replace("\\", "/"))
    return not (parts.is_absolute() or ".." in parts.parts or re.match("[A-Za-z]:", name))


def _inside(name: str) -> str:
    if not _is_inside(name):
        raise refusal(f"{{place}} must be a path below the folder of {FILE}, not {name!r}.")
    return name


Text = Annotated[str, Field(max_length=2000)]
ShortText = Annotated[str, Field(max_length=200)]
Below = Annotated[str, Field(max_length=200), AfterValidator(_inside)]
Place = Annotated[Below, Field(min_length=1)]
Patterns = Annotated[tuple[Place, ...], Strict(False), Must("a list of names")]


class Pictures(Spec):
    """Where the pictures are, below the folder of the file.

    Attributes
    ----------
    path : str
        A folder or a zip archive.
    digests : str
        What `sha256sum` prints for the files of the folder, or for the archive: ``digest  path`` a line.
    table : str
        CSV file with ``path,category`` where folders do not name the labels; paths as in the folder.
    factors : tuple of str
        Columns of the table that are kept.
    size_px : int or None
        Side at which pictures are shown; pictures of another size are framed as the product frames photographs. None:
        they are squares of one size, and stay as they are.
    """

    path: Place = "pictures"
    digests: Place = "pictures.sha256"
    table: Below = ""
    factors: Names = ()
    size_px: Annotated[int | None, Field(ge=16, le=2048)] = None


class Trials(Spec):
    """Trial files of people, and of models that answered already, and what people saw.

    Attributes
    ----------
    files : tuple of str
        Patterns below the folder of the file, such as ``trials/*.csv``.
    people, task, mask : str
        In words, for the head of the page.
    exposure_ms, visual_angle_deg : float or None
        None: not known.
    answers : tuple of str
        Patterns of files of texts that models gave; with `letters`, of lettered options.
    only_pictured : bool
        The set has the pictures of some of the trials alone: the others, and texts about them, are left out.
    humans, classifiers, times_in, none_offered
        As the options of ``import_trials``.
    """

    files: Annotated[Patterns, Field(min_length=1)]
    people: ShortText = ""
    task: ShortText = "forced choice"
    mask: ShortText = ""
    exposure_ms: Annotated[float | None, Field(gt=0, le=60_000), Number] = None
    visual_angle_deg: Annotated[float | None, Field(gt=0, le=180), Number] = None
    answers: Patterns = ()
    letters: bool = False
    only_pictured: bool = False
    humans: ShortText = ""
    classifiers: ShortText = ""
    times_in: Unit = "s"
    none_offered: bool = False


class Conditions(Spec):
    """Conditions that means over conditions leave out: unchanged pictures, and what the authors exclude."""

    control: Names = ()
    excluded: Names = ()

    @model_validator(mode="after")
    def _different(self) -> Conditions:
        both = sorted(set(self.control) & set(self.excluded))
        if both:
            raise refusal(f"{{place}} names {both[0]!r}, which is a control already. Name it once.", "excluded")
        return self


class SetFile(Spec):
    """A published set of pictures.

    Attributes
    ----------
    format : int
        Of the file; 1.
    name, version : str
        The same name and version are the same pictures for ever.
    title, citation, licence, contamination : str
        For the head of the page; the last says whether models may have been trained on the pictures.
    use : {"any", "test-only", "no-redistribution"}
        Nothing is trained or fitted on a set that is for tests alone; pictures that may not be passed on are in no
        export.
    labels : str
        What pictures are called: a label space of the product or of the installation, or a TOML file beside this one.
    reference : str
        Name of the set from whose accuracy the drop is measured.
    """

    format: Annotated[Literal[1], Must(f"{FORMAT}, the only format that there is")] = 1
    name: Annotated[str, Field(max_length=60)]
    version: Annotated[str, Field(min_length=1, max_length=20)]
    title: ShortText = ""
    citation: Text = ""
    licence: ShortText = ""
    use: Use = "any"
    labels: Below = ""
    contamination: Text = ""
    reference: ShortText = ""
    pictures: Pictures = Pictures()
    trials: Trials | None = None
    conditions: Conditions = Conditions()

    @classmethod
    def called(cls) -> str:
        return "The set"

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise refusal(f"{{place}} must be small letters, digits and single hyphens, such as edges, not {name!r}.")
        return name

    @model_validator(mode="after")
    def _another(self) -> SetFile:
        if self.reference == self.name:
            raise refusal("{place} must be another set than this one.", "reference")
        return self

    @classmethod
    def from_toml(cls, text: str, *, source: str = FILE) -> SetFile:
        """Read the text of a file.

        Raises
        ------
        InvalidInput
            With a sentence for every setting that is at fault, and its line.
        """
        return from_toml(cls.from_dict, text, source=source)


@dataclass(frozen=True)
class PublishedSet:
    """A set of pictures in its folder; `read` checks what the file says against what is there.

    Attributes
    ----------
    folder : Path
    text : str
        Of the file.
    file : SetFile
    digest : str
        Of the file and of all digests that it rests on.
    """

    folder: Path
    text: str
    file: SetFile
    digest: str

    @classmethod
    def read(cls, path: Path, *, tell: Callable[[int, int], object] = lambda done, total: None) -> PublishedSet:
        """Read a folder that holds a ``set.toml``, or that file, and compare every picture with its digest.

        Parameters
        ----------
        path : Path
        tell : callable
            Called with the pictures compared so far, and all of them.

        Raises
        ------
        InvalidInput
            Naming the file, the line or field, and the remedy.
        """
        file = path / FILE if path.is_dir() else path
        text = _text(file)
        described = SetFile.from_toml(text, source=str(file))
        digests = _listed(file.parent / described.pictures.digests)
        one = cls(file.parent, text, described, _joined(text, digests))
        one._compare(digests, tell)
        return one

    @property
    def key(self) -> str:
        """What its study and its pictures are called here."""
        return f"{self.file.name}-{re.sub('[^a-z0-9]+', '-', self.file.version.lower()).strip('-')}"

    @property
    def pictures(self) -> Path:
        """Folder or archive of the pictures."""
        return self.folder / self.file.pictures.path

    @cached_property
    def trial_files(self) -> tuple[Path, ...]:
        """Files of trials, in order of their names; none where there are no people."""
        return () if self.file.trials is None else self._found(self.file.trials.files, "trials.files")

    @cached_property
    def answer_files(self) -> tuple[Path, ...]:
        """Files of texts that models gave."""
        return () if self.file.trials is None else self._found(self.file.trials.answers, "trials.answers")

    def _found(self, patterns: tuple[str, ...], place: str) -> tuple[Path, ...]:
        files: dict[Path, None] = {}
        for pattern in patterns:
            new = [path for path in sorted(self.folder.glob(pattern)) if path.is_file()]
            if not new:
                raise InvalidInput(f"{self.folder / FILE}, {place}: {pattern!r} names no file. Correct the pattern.")
            files |= dict.fromkeys(new)
        return tuple(files)

    def _compare(self, digests: dict[str, str], tell: Callable[[int, int], object]) -> None:
        """Refuse pictures that are missing, changed, or not listed."""
        listed = self.folder / self.file.pictures.digests
        if not self.pictures.exists():
            raise InvalidInput(f"{self.folder / FILE}, pictures.path: there is no {self.file.pictures.path} beside it.")
        there = {path.relative_to(self.folder).as_posix(): path for path in _files(self.pictures)}
        missing, further = sorted(set(digests) - set(there)), sorted(set(there) - set(digests))
        if missing:
            raise InvalidInput(f"{listed} lists {_some(missing)}, which is not there. Get the pictures again.")
        if further:
            raise InvalidInput(f"{listed} does not list {_some(further)}. Remove it, or list it with sha256sum.")
        changed = []
        for number, (name, path) in enumerate(sorted(there.items()), start=1):
            if _sha256(path) != digests[name]:
                changed.append(name)
            tell(number, len(there))
        if changed:
            raise InvalidInput(f"{_some(changed)}: not the picture that {listed.name} lists. Get the pictures again.")


def document_beside(pictures: Path) -> str:
    """The text of the ``set.toml`` in or above a folder of pictures; empty where there is none.

    Raises
    ------
    InvalidInput
        If it cannot be read: what it allows would not be known.
    """
    for file in (pictures / FILE, pictures.parent / FILE):
        if file.is_file():
            text = _text(file)
            SetFile.from_toml(text, source=str(file))
            return text
    return ""


def is_test_only(document: str) -> bool:
    """Whether the text of a ``set.toml`` says that nothing may be trained on the pictures; empty: no."""
    return bool(document) and SetFile.from_toml(document).use == "test-only"


def may_be_passed_on(document: str) -> bool:
    """Whether the text of a ``set.toml`` lets its pictures be passed on; empty: it does not forbid it."""
    return not document or SetFile.from_toml(document).use != "no-redistribution"


#: Words of licences under which a picture, or one that was made from it, is not passed on.
_KEPT_BACK = re.compile(
    r"\bND\b|no[- ]?deriv|no[- ]?redistribut|not\b.{0,30}\bredistribut|all rights reserved", re.IGNORECASE
)


def licence_forbids(licence: str) -> bool:
    """Whether a licence says in so many words that pictures made from it are not passed on, as CC BY-ND does."""
    return _KEPT_BACK.search(licence) is not None


def _files(place: Path) -> Iterator[Path]:
    """Files of a folder without what systems add to it; an archive is one file."""
    if place.is_file():
        yield place
        return
    names = [path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()]
    kept, _ = without_litter(names)
    yield from (place / name for name in kept)


def _listed(path: Path) -> dict[str, str]:
    """Digest by path, as ``sha256sum`` writes them."""
    digests: dict[str, str] = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise InvalidInput(
                f"{path}, line {number}: {line[:60]!r} is no digest with a path. Write the file with: sha256sum FILES"
            )
        name = PurePosixPath(found[2].strip().replace("\\", "/")).as_posix()
        if not _is_inside(name):
            raise InvalidInput(f"{path}, line {number}: {name!r} must be a path below the folder of {FILE}.")
        if name in digests:
            raise InvalidInput(f"{path}, line {number}: {name} is listed twice. Remove one of the lines.")
        digests[name] = found[1].lower()
    if not digests:
        raise InvalidInput(f"{path} lists no picture. Write it with: sha256sum FILES")
    return digests


def _text(path: Path) -> str:
    if not path.is_file():
        raise InvalidInput(f"{path}: there is no such file. A set is a folder with {FILE} and what this file names.")
    if path.name == FILE and path.stat().st_size > _LARGEST_FILE:
        raise InvalidInput(f"{path} has {path.stat().st_size:,} bytes; such a file has at most {_LARGEST_FILE:,}.")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not written in UTF-8: save it as UTF-8.") from error


def _joined(text: str, digests: dict[str, str]) -> str:
    """Digest of the file and of the list: of what decides what the set is."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(f"{text}\0{lines}".encode()).hexdigest()


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_AT_ONCE):
            found.update(block)
    return found.hexdigest()


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return f"{', '.join(names[:_TOLD])}{more}"
