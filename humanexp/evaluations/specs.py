"""Adapter strings: which a web form may take, what they are called, and where a table of predictions lies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from analysis import examples
from analysis.classifiers import SCHEMES
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path

#: Files of networks that the operator of the server has put, or retraining has written, where the console may use them.
SHELF = "classifiers"
#: Which adapter reads a file of the shelf, by its suffix.
_SHELVED = {".pt2": "export", ".onnx": "onnx"}
#: Tables of predictions that were uploaded.
TABLES = "evaluations/tables"
#: Classifiers that may be asked at once about the originals.
MOST_CLASSIFIERS = 20
_TABLE = re.compile(rf"{TABLES}/[0-9a-f]{{64}}\.(csv|parquet)")
_NAME = re.compile(r"[A-Za-z0-9_.\-]+(/[A-Za-z0-9_.\-]+)?(@[A-Za-z0-9_.\-]+)?")


def default_name(spec: str) -> str:
    """Name on the dashboard when none is given: the last part of the adapter string, without folder and suffix."""
    reference = spec.split(":", 1)[-1]
    if re.search(r"\.(pt2|onnx|csv|parquet)$", reference):
        reference = Path(reference).stem
    return reference.replace(":", "/")[:80]


def check_spec(spec: str) -> str:
    """The adapter string, stripped, a file of the shelf with its folder; refuses what names no kind of classifier.

    Before anything is loaded.
    """
    spec = spec.strip()
    scheme, _, reference = spec.partition(":")
    if scheme not in SCHEMES or not reference:
        raise InvalidRequest(
            f"{spec!r} names no classifier: write SCHEME:REFERENCE, where SCHEME is one of {', '.join(SCHEMES)}.",
            fields={"spec": "SCHEME:REFERENCE"},
        )
    return _with_folder(scheme, reference)


def _with_folder(scheme: str, reference: str) -> str:
    """A file of the shelf may be named by its name alone, as the shelf's folder lists it."""
    if scheme in _SHELVED.values() and Path(reference).name == reference and not Path(reference).exists():
        own = media_path(SHELF) / reference
        found = own if own.is_file() else next((file for file in shelf_files() if Path(file).name == reference), None)
        reference = str(found or reference)
    return f"{scheme}:{reference}"


def check_safe(spec: str, *, field: str = "spec") -> str:
    """The adapter string of a web form: published networks by name, and files that the server's operator has put there.

    Nothing that runs code, and no path elsewhere on the server. A refusal names the form's field.
    """
    spec = check_spec(spec)
    scheme, _, reference = spec.partition(":")
    if scheme == "python":
        raise InvalidRequest(
            "python: runs code and is for the command line alone: use manage.py evaluate, select_gold or "
            "counterfactuals.",
            fields={field: "no python: here"},
        )
    if spec in shelf_specs() or (scheme == "table" and _TABLE.fullmatch(reference)):
        return spec
    is_name = scheme in ("torchvision", "timm", "hf", "open_clip") and _NAME.fullmatch(reference)
    if not is_name or Path(reference.rpartition("@")[2]).exists() or Path(reference).exists():
        raise InvalidRequest(
            f"{spec}: the console takes published networks by name (timm:resnet50.a1_in1k) and the files in "
            f"{settings.MEDIA_ROOT}/{SHELF}. Put the file there, upload its predictions, or use the command line.",
            fields={field: "a name, or a file of the shelf"},
        )
    return spec


def check_trainable(spec: str) -> str:
    """The adapter string of what may be a torch network; answers on record and ONNX files have no gradients."""
    scheme = check_spec(spec).partition(":")[0]
    if scheme in ("onnx", "table"):
        raise InvalidRequest(
            f"{spec} gives no gradients, so it cannot be trained: use torchvision:, timm:, hf:, open_clip: or export:.",
            fields={"spec": "a torch network"},
        )
    return spec


def shelf_specs() -> list[str]:
    """Adapter strings of the network files that the console may use."""
    return [f"{_SHELVED[suffix]}:{file}" for file in shelf_files() if (suffix := Path(file).suffix) in _SHELVED]


def shelf_files() -> list[str]:
    """Files that the console may use, as a specification writes them: those that ship with it, and the shelf's."""
    shipped = [(examples.folder_of(kind), Path(examples.NAMED) / kind) for kind in examples.KINDS]
    return [
        str(shown / path.name)
        for folder, shown in (*shipped, (media_path(SHELF), media_path(SHELF)))
        for pattern in ("*.pt2", "*.onnx", "*.pt", "*.ckpt", "*.npy")
        for path in sorted(folder.glob(pattern))
    ]


def checked_specs(specs: Sequence[str], *, allow_code: bool) -> list[str]:
    """Classifiers to be asked, each once; refuses what names none before anything is loaded."""
    names = list(dict.fromkeys(spec.strip() for spec in specs if spec.strip()))
    if not names or len(names) > MOST_CLASSIFIERS:
        raise InvalidRequest(
            f"Name one to {MOST_CLASSIFIERS} classifiers, for example export:fixtures/classifiers/clean.pt2.",
            fields={"classifiers": "one a line"},
        )
    return [check_spec(spec) if allow_code else check_safe(spec) for spec in names]


def located(spec: str) -> str:
    """The adapter string with the place of an uploaded table, which is stored relative to MEDIA_ROOT."""
    scheme, _, reference = spec.partition(":")
    if scheme == "table" and reference.startswith(f"{TABLES}/"):
        return f"table:{media_path(reference)}"
    return spec
