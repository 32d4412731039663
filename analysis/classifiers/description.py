"""The JSON file beside a network's file, which says what goes in and what comes out.

It holds ``labels`` (a list of names, "imagenet" for the 1,000 classes in their order, or the name of a mapping file
beside it: see `analysis.classifiers.decision`), ``input_px``, ``mean``, ``std``, ``outputs`` ("logits" or
"probabilities") and, if wanted, ``name``, ``provenance`` and ``channels`` (1 for a network whose input is grey; 3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.decision import read_labels
from analysis.classifiers.preprocessing import Preprocessing
from analysis.errors import ClassifierUnavailable, InvalidInput
from analysis.labels.imagenet import class_ids
from analysis.labels.space import LabelSpace

#: Quantised networks round their probabilities.
_ROUNDING = 0.02
_FIELDS = ("labels", "input_px", "mean", "std", "outputs")


@dataclass(frozen=True, slots=True)
class Description:
    """What a network's file does not say of itself."""

    name: str
    labels: tuple[str, ...]
    inputs: Preprocessing
    outputs: Literal["logits", "probabilities"]
    channels: int = 3

    def to_json(self, **provenance: Any) -> str:
        """The file's text."""
        fields = {
            "name": self.name,
            "labels": list(self.labels),
            "input_px": self.inputs.input_px,
            "mean": list(self.inputs.mean),
            "std": list(self.inputs.std),
            "outputs": self.outputs,
            "provenance": provenance,
        }
        return json.dumps(fields, indent=1) + "\n"


def read_beside(path: Path, *, how_to_make: str, space: LabelSpace | None = None) -> tuple[Description, bytes]:
    """Description of the network in ``path``, and its bytes, with the labels of the mapping file that it names.

    The mapping file names labels of ``space``, by default the product's.

    Raises
    ------
    ClassifierUnavailable
        If one of the two files is missing, or the description unusable, naming file and field.
    TableRefused
        If its mapping file is unusable.
    """
    beside = path.with_suffix(".json")
    for file, what in ((path, "program"), (beside, "description")):
        if not file.is_file():
            raise ClassifierUnavailable(
                f"{file}: there is no such {what}. {how_to_make} to {path.name} and write its labels, input_px, mean, "
                f"std and outputs to {beside.name}."
            )
    content = beside.read_bytes()
    fields = _parsed(content, beside)
    for field in _FIELDS:
        if field not in fields:
            raise ClassifierUnavailable(f"{beside}: field {field!r} is missing. Add it.")
    if fields["outputs"] not in ("logits", "probabilities"):
        raise ClassifierUnavailable(f"{beside}, field 'outputs': write logits or probabilities.")
    try:
        mean, std = (tuple(float(value) for value in fields[field]) for field in ("mean", "std"))
        inputs = Preprocessing(int(fields["input_px"]), mean, std)
    except (TypeError, ValueError, InvalidInput) as error:
        raise ClassifierUnavailable(f"{beside}: input_px, mean or std cannot be used: {error}") from error
    channels = fields.get("channels", 3)
    if channels not in (1, 3):
        raise ClassifierUnavailable(f"{beside}, field 'channels': write 1 for a grey input or 3 for a coloured one.")
    labels = _labels(fields["labels"], beside, space)
    if _is_mapping_file(fields["labels"]):
        content += "\x00".join(labels).encode()
    name = str(fields.get("name", "")) or path.stem
    return Description(name, labels, inputs, fields["outputs"], channels), content


def probing_pictures(side_px: int) -> NDArray[np.uint8]:
    """Four plain pictures, uint8 (4, side, side, 3), on which a network shows what kind of numbers it puts out."""
    ramp = np.linspace(0, 255, side_px).astype(np.uint8)
    pictures = np.zeros((4, side_px, side_px, 3), dtype=np.uint8)
    pictures[0] = 128
    pictures[1] = ramp[:, None]
    pictures[2, ..., 0], pictures[2, ..., 2] = ramp, ramp[::-1]
    pictures[3] = np.random.default_rng(0).integers(0, 256, (side_px, side_px, 3))
    return pictures


def check_outputs(outputs: NDArray[np.float32], said: str, path: Path) -> None:
    """Refuse a description whose ``outputs`` the network's own contradict: softmax taken twice, or never, goes unseen.

    Parameters
    ----------
    outputs : ndarray
        What the network puts out for `probing_pictures`; of another shape than (n, k) it is left to the first answer.
    said : {"logits", "probabilities"}
        Of the description.
    path : Path
        The network's file.

    Raises
    ------
    ClassifierUnavailable
        Naming file, field and remedy.
    """
    if outputs.ndim != 2 or outputs.shape[1] < 2 or not np.isfinite(outputs).all():
        return
    beside, sums = path.with_suffix(".json"), outputs.sum(axis=1)
    low, high = float(outputs.min()), float(outputs.max())
    in_range = low >= -_ROUNDING and high <= 1 + _ROUNDING
    are_probabilities = in_range and bool(np.abs(sums - 1).max() <= _ROUNDING)
    if said == "logits" and are_probabilities:
        raise ClassifierUnavailable(
            f"{beside}, field 'outputs': it says logits, but {path.name} puts out probabilities (from 0 to 1, with a "
            "sum of 1): the network ends with softmax, and another one would level its answers. Write probabilities."
        )
    if said == "probabilities" and not are_probabilities:
        what = f"with a sum of {sums[0]:.3g}" if in_range else f"from {low:.3g} to {high:.3g}"
        raise ClassifierUnavailable(
            f"{beside}, field 'outputs': it says probabilities, but {path.name} puts out numbers {what}. Write logits; "
            "if the network ends with a sigmoid for each label, export it without."
        )


def inputs_beside(path: Path, usual: Preprocessing) -> Preprocessing:
    """What a network of a library sees with the weights in ``path``: as the library says, unless a JSON file beside it
    names another ``input_px``, ``mean`` or ``std``.

    Raises
    ------
    ClassifierUnavailable
        If the JSON file cannot be used.
    """
    beside = path.with_suffix(".json")
    if not beside.is_file():
        return usual
    fields = _parsed(beside.read_bytes(), beside)
    given = {"input_px": usual.input_px, "mean": usual.mean, "std": usual.std, **fields}
    try:
        mean, std = (tuple(float(value) for value in given[field]) for field in ("mean", "std"))
        return Preprocessing(int(given["input_px"]), mean, std)
    except (TypeError, ValueError, InvalidInput) as error:
        raise ClassifierUnavailable(f"{beside}: input_px, mean or std cannot be used: {error}") from error


def labels_beside(path: Path, space: LabelSpace | None = None) -> tuple[str, ...] | None:
    """Labels that a JSON file beside a file of weights names; None where it names none, or there is no such file.

    Raises
    ------
    ClassifierUnavailable, TableRefused
        If the JSON file, or the mapping file that it names, cannot be used.
    """
    beside = path.with_suffix(".json")
    fields = _parsed(beside.read_bytes(), beside) if beside.is_file() else {}
    return _labels(fields["labels"], beside, space) if "labels" in fields else None


def weights_beside(path: Path) -> str:
    """Which of several sets of weights in a file is meant, as a JSON file beside it says; empty where it does not.

    Raises
    ------
    ClassifierUnavailable
        If the JSON file cannot be used.
    """
    beside = path.with_suffix(".json")
    return str(_parsed(beside.read_bytes(), beside).get("weights", "")) if beside.is_file() else ""


def _parsed(content: bytes, path: Path) -> Mapping[str, Any]:
    try:
        fields = json.loads(content)
    except ValueError as error:
        raise ClassifierUnavailable(f"{path} is not JSON: {error}. Correct it.") from error
    if not isinstance(fields, dict):
        raise ClassifierUnavailable(f"{path} is not a JSON object. Correct it.")
    return fields


def _labels(labels: object, path: Path, space: LabelSpace | None) -> tuple[str, ...]:
    if labels == "imagenet":
        return class_ids()
    if isinstance(labels, str) and _is_mapping_file(labels):
        return read_labels(path.parent / labels, space)
    if isinstance(labels, list) and len(labels) >= 2 and all(isinstance(label, str) for label in labels):
        return tuple(labels)
    raise ClassifierUnavailable(
        f"{path}, field 'labels': write a list of names, \"imagenet\", or the name of a mapping file (.csv)."
    )


def _is_mapping_file(labels: object) -> bool:
    return isinstance(labels, str) and labels.endswith(".csv")
