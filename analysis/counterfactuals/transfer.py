"""Pictures made against one model, tested on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.port import Classifier
from analysis.clusters import exact_bound
from analysis.counterfactuals.files import SearchOriginal, SearchSettings, read_picture, read_prepared
from analysis.counterfactuals.port import Target
from analysis.counterfactuals.search import Counterfactual
from analysis.counterfactuals.shards import kept_file
from analysis.errors import ClassifierUnavailable, PictureRefused
from analysis.generation.files import is_intact
from analysis.study.analysis_plan import LEVEL


@dataclass(frozen=True, slots=True, eq=False)
class TransferMatrix:
    """How many of the pictures made against each model every model names.

    Attributes
    ----------
    made_against, tested : tuple of str
        Names of the rows and of the columns.
    correct : ndarray of int, shape (rows, columns)
        Validated pictures of the row that the model of the column names.
    n_valid : tuple of int
        Validated pictures of each row.

    Notes
    -----
    OOR paper, table on transferability.
    """

    made_against: tuple[str, ...]
    tested: tuple[str, ...]
    correct: NDArray[np.int64]
    n_valid: tuple[int, ...]

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Counterfactual accuracy over the validated pictures, shape (rows, columns); NaN where none is."""
        n = np.array(self.n_valid, np.float64).reshape(-1, 1)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.correct / n, dtype=np.float64)

    def intervals(self, level: float = LEVEL) -> NDArray[np.float64]:
        """Exact binomial intervals of the accuracies (Clopper and Pearson), shape (rows, columns, 2)."""
        ends = np.full((*self.correct.shape, 2), np.nan)
        for row, n in enumerate(self.n_valid):
            for column, correct in enumerate(self.correct[row] if n else ()):
                ends[row, column] = exact_bound(int(correct), n, (1.0 - level) / 2.0)
        return ends


def transfer_matrix(
    searches: Mapping[str, Sequence[Counterfactual]], classifiers: Mapping[str, Classifier]
) -> TransferMatrix:
    """Test pictures that were made against one model on others.

    Parameters
    ----------
    searches : mapping of str to sequence of Counterfactual
        Finished searches by the name of the model they were made against.
    classifiers : mapping of str to Classifier
        Models to test.
    """
    correct = np.zeros((len(searches), len(classifiers)), np.int64)
    n_valid = []
    for row, found in enumerate(searches.values()):
        kept = [(one.picture, one.label) for one in found if one.picture is not None]
        n_valid.append(len(kept))
        if not kept:
            continue
        pictures = np.stack([picture for picture, _label in kept])
        for column, classifier in enumerate(classifiers.values()):
            correct[row, column] = _named(Target(classifier), pictures, [label for _picture, label in kept]).sum()
    return TransferMatrix(tuple(searches), tuple(classifiers), correct, tuple(n_valid))


def crossed_oor(correct: int, n_valid: int, clean: float | None) -> float | None:
    """OOR of a model on pictures made against another one: its accuracy on them over its own on clean pictures.

    Parameters
    ----------
    correct, n_valid : int
        Validated pictures that it names, and how many there are.
    clean : float or None
        Share of the clean originals that it names, in [0, 1]; None where unknown.

    Returns
    -------
    float or None
        CA / SA; None without validated pictures, or if it names no clean one.

    Notes
    -----
    OOR paper, section 3.3 (OOR = CA / SA) and Tables 4, 6, 7 and 8, which print SA and OOR of each tested model.
    """
    return correct / n_valid / clean if n_valid and clean else None


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """A validated counterfactual in its search's folder."""

    key: str
    category: str
    sha256: str


@dataclass(frozen=True, slots=True)
class TransferCell:
    """Work of testing one model on the pictures made against another.

    Attributes
    ----------
    place : tuple of int
        Where the caller puts the result.
    folder : str
        Of the search that made the pictures.
    kept : tuple of KeptPicture
    tested : SearchSettings
        Of any search against the tested model.
    digest : str
        Of the network that was searched.
    """

    place: tuple[int, ...]
    folder: str
    kept: tuple[KeptPicture, ...]
    tested: SearchSettings
    digest: str


def count_cell(cell: TransferCell) -> tuple[tuple[int, ...], int]:
    """Place of a cell, and how many of its pictures the model names; pictures are read a batch at a time.

    Raises
    ------
    ClassifierUnavailable
        If the specification no longer names the network that was searched.
    PictureRefused
        If a file is not the one that the search kept.
    """
    target = cell.tested.load_target()
    if target.digest != cell.digest:
        raise ClassifierUnavailable(
            f"{cell.tested.classifier} is not the network that was searched: put its file back, or search again."
        )
    return cell.place, int(named_kept(target, cell.folder, cell.kept, batch=cell.tested.batch).sum())


def named_kept(target: Target, folder: str, kept: Sequence[KeptPicture], *, batch: int) -> NDArray[np.bool_]:
    """Which of a search's counterfactuals a model names, shape (n,); pictures are read a batch at a time.

    Raises
    ------
    PictureRefused
        If a file is not the one that the search kept.
    """
    parts = [np.zeros(0, bool)]
    for start in range(0, len(kept), batch):
        some = kept[start : start + batch]
        pictures = np.stack([_read_kept(Path(folder), one) for one in some])
        parts.append(_named(target, pictures, [one.category for one in some]))
    return np.concatenate(parts)


def named_originals(target: Target, settings: SearchSettings, originals: Sequence[SearchOriginal]) -> NDArray[np.bool_]:
    """Which originals a model names, shape (n,), prepared as a search of it with these settings would.

    Raises
    ------
    PictureRefused
        If a file is not the one that was imported.
    """
    parts = [np.zeros(0, bool)]
    for start in range(0, len(originals), settings.batch):
        some = originals[start : start + settings.batch]
        labels = [one.category for one in some]
        pictures = read_prepared(some, settings.size_px)
        parts.append(_named(target, settings.control.prepare(pictures, target.numbers(labels), target), labels))
    return np.concatenate(parts)


def _read_kept(folder: Path, one: KeptPicture) -> NDArray[np.uint8]:
    path = kept_file(folder, one.key)
    if not is_intact(path, one.sha256):
        raise PictureRefused(f"{path}: the file is not the one that the search kept. Put it back, or search again.")
    return read_picture(path)


def _named(target: Target, pictures: NDArray[np.uint8], labels: Sequence[str]) -> NDArray[np.bool_]:
    responses = target.look(pictures, target.numbers(labels)).responses
    return np.asarray(responses == np.asarray(labels), dtype=bool)
