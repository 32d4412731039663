"""Adapter ``export:PATH.pt2``: a torch.export program and, beside it, PATH.json, which says what goes in and out.

The JSON holds ``labels`` (a list, or "imagenet" for the 1,000 classes in their order), ``input_px``, ``mean``, ``std``,
``outputs`` ("logits" or "probabilities") and, if wanted, ``name`` and ``provenance``.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from analysis.categories import IMAGENET_WNIDS
from analysis.classifiers.networks import TorchNetwork, check_device
from analysis.classifiers.port import Preprocessing
from analysis.errors import ClassifierUnavailable, InvalidInput


def load(reference: str, *, device: str = "cpu") -> TorchNetwork:
    """Load a program and its description.

    Raises
    ------
    ClassifierUnavailable
        If a file is missing or unreadable, naming it and the field.
    """
    program_path = Path(reference)
    description_path = program_path.with_suffix(".json")
    if program_path.suffix != ".pt2":
        raise ClassifierUnavailable(f"{program_path}: a torch.export program is a .pt2 file.")
    for path, what in ((program_path, "program"), (description_path, "description")):
        if not path.is_file():
            raise ClassifierUnavailable(
                f"{path}: there is no such {what}. Save the network with torch.export.save to {program_path.name} and "
                f"write its labels, input_px, mean, std and outputs to {description_path.name}."
            )
    check_device(device)
    description = description_path.read_bytes()
    fields = _fields(description, description_path)
    name, labels, inputs, outputs = _described(fields, description_path)

    import torch

    if not zipfile.is_zipfile(program_path):
        raise ClassifierUnavailable(f"{program_path}: torch.export cannot read it (no archive). Export it again.")
    try:
        program = torch.export.load(program_path)
    except (RuntimeError, ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise ClassifierUnavailable(
            f"{program_path}: torch.export cannot read it ({error}). Export it again."
        ) from error
    module = program.module()
    if device != "cpu":
        module = module.to(device)
    return TorchNetwork(
        name=name or program_path.stem,
        labels=labels,
        digest=hashlib.sha256(program_path.read_bytes() + description).hexdigest(),
        inputs=inputs,
        forward=module,
        device=device,
        outputs=outputs,
    )


def _fields(description: bytes, path: Path) -> Mapping[str, Any]:
    try:
        fields = json.loads(description)
    except ValueError as error:
        raise ClassifierUnavailable(f"{path} is not JSON: {error}. Correct it.") from error
    if not isinstance(fields, dict):
        raise ClassifierUnavailable(f"{path} is not a JSON object. Correct it.")
    return fields


def _described(
    fields: Mapping[str, Any], path: Path
) -> tuple[str, tuple[str, ...], Preprocessing, Literal["logits", "probabilities"]]:
    for field in ("labels", "input_px", "mean", "std", "outputs"):
        if field not in fields:
            raise ClassifierUnavailable(f"{path}: field {field!r} is missing. Add it.")
    labels = IMAGENET_WNIDS if fields["labels"] == "imagenet" else fields["labels"]
    if not isinstance(labels, list | tuple) or len(labels) < 2 or not all(isinstance(label, str) for label in labels):
        raise ClassifierUnavailable(f"{path}, field 'labels': write a list of names, or \"imagenet\".")
    if fields["outputs"] not in ("logits", "probabilities"):
        raise ClassifierUnavailable(f"{path}, field 'outputs': write logits or probabilities.")
    try:
        mean, std = (tuple(float(value) for value in fields[field]) for field in ("mean", "std"))
        inputs = Preprocessing(
            input_px=int(fields["input_px"]),
            mean=mean,
            std=std,
        )
    except (TypeError, ValueError, InvalidInput) as error:
        raise ClassifierUnavailable(f"{path}: input_px, mean or std cannot be used: {error}") from error
    return str(fields.get("name", "")), tuple(labels), inputs, fields["outputs"]
