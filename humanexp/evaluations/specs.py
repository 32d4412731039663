"""Adapter strings: which a web form may take, what they are called, and where a table of predictions lies."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from analysis.classifiers import onnx_network
from analysis.classifiers.loading import SCHEMES
from analysis.classifiers.onnx_network import is_installed
from analysis.examples import KINDS, NAMED, folder_of
from analysis.observers import vision_language
from analysis.plugins import CLASSIFIERS, plugin
from humanexp.core import file_store
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path

#: Files of networks that the operator of the server has put, or retraining has written, where the console may use them.
SHELF = "classifiers"
#: Which adapter reads a file of the shelf, by its suffix; of weights alone, the file beside them names the network.
_SHELVED = {".pt2": "export", ".onnx": "onnx", ".npz": "readout"}
#: Before the adapter string of a network that is shown pictures without colour.
GREY = "grey:"
_LIBRARIES = ("torchvision", "timm")
#: Tables of predictions that were uploaded.
TABLES = "evaluations/tables"
#: Classifiers that may be asked at once about the originals.
MOST_CLASSIFIERS = 20
_TABLE = re.compile(rf"{TABLES}/[0-9a-f]{{64}}\.(csv|parquet)")
_FILE = re.compile(r"(?<![\w/.\-])[\w.\-]+\.(?:pt2|onnx|pt|ckpt|npy)(?![\w/.])")
_NAME = re.compile(r"[A-Za-z0-9_.\-]+(/[A-Za-z0-9_.\-]+)?(@[A-Za-z0-9_.\-]+)?(#[a-z]+)?")


def default_name(spec: str) -> str:
    """Name on the dashboard when none is given: the last part of the adapter string, without folder and suffix."""
    if spec.startswith(GREY):
        return f"{default_name(spec.removeprefix(GREY))[:75]}-grey"
    if spec.startswith("lite:"):
        return f"efficientnet-lite{spec.removeprefix('lite:')}"[:80]
    reference = spec.split(":", 1)[-1]
    if reference.endswith(".safetensors"):
        return Path(reference.rpartition("@")[2]).stem[:80]
    if re.search(r"\.(pt2|onnx|npz|csv|parquet)$", reference):
        reference = Path(reference).stem
    return reference.replace(":", "/")[:80]


def check_spec(spec: str) -> str:
    """The adapter string, stripped, a file of the shelf with its folder; refuses what names no kind of classifier.

    Before anything is loaded.
    """
    spec = spec.strip()
    if spec.startswith(GREY):
        return f"{GREY}{check_spec(spec.removeprefix(GREY))}"
    scheme, _, reference = spec.partition(":")
    if not reference or (scheme not in SCHEMES and plugin(CLASSIFIERS, scheme) is None):
        raise InvalidRequest(
            f"{spec!r} names no classifier: write SCHEME:REFERENCE, where SCHEME is one of {', '.join(SCHEMES)}.",
            fields={"spec": "SCHEME:REFERENCE"},
        )
    return _with_folder(scheme, reference)


def _with_folder(scheme: str, reference: str) -> str:
    """A file of the shelf may be named by its name alone, as the shelf's folder lists it."""
    network, at, file = reference.rpartition("@") if scheme in _LIBRARIES else ("", "", reference)
    is_on_shelf = scheme in _SHELVED.values() or (at and file.endswith(".safetensors"))
    if is_on_shelf and Path(file).name == file and not Path(file).exists():
        own = media_path(SHELF) / file
        is_own = own.is_file() or f"{SHELF}/{file}" in file_store.published_below(SHELF)
        found = own if is_own else next((path for path in shelf_files() if Path(path).name == file), None)
        file = str(found or file)
    return f"{scheme}:{network}{at}{file}"


def shown(spec: str) -> str:
    """The adapter string for people: files of the shelf by their names, uploaded tables by the digest's beginning.

    Folders of models by their names.
    """
    scheme, _, reference = spec.partition(":")
    folder, _, name = reference.rpartition("/")
    if folder == TABLES:
        return f"{scheme}:{name[:8]}…"
    if scheme == vision_language.SCHEME:
        return f"{scheme}:{name}"
    return spec.replace(f"{media_path(SHELF)}/", "")


def check_safe(spec: str, *, field: str = "spec") -> str:
    """The adapter string of a web form: published networks by name, and files that the server's operator has put there.

    Nothing that runs code, and no path elsewhere on the server. A refusal names the form's field, and no folder.
    """
    spec = check_spec(spec)
    if spec.startswith(GREY):
        return f"{GREY}{check_safe(spec.removeprefix(GREY), field=field)}"
    scheme, _, reference = spec.partition(":")
    if scheme == "python" or scheme not in SCHEMES:
        raise InvalidRequest(
            f"{scheme}: runs code and is for the command line alone: use manage.py evaluate, select_gold or "
            "counterfactuals.",
            fields={field: f"no {scheme}: here"},
        )
    if spec in shelf_specs() or (scheme == "table" and _TABLE.fullmatch(reference)):
        return spec
    is_name = scheme in ("lite", "torchvision", "timm", "hf", "open_clip") and _NAME.fullmatch(reference)
    if not is_name or Path(reference.rpartition("@")[2]).exists() or Path(reference).exists():
        raise InvalidRequest(
            f"{shown(spec)}: the console takes published networks by name (timm:resnet50.a1_in1k) and the files in the "
            "server's shelf, by their names. Upload the model, upload its predictions, or use the command line.",
            fields={field: "a name, or a file of the shelf"},
        )
    return spec


def is_network_name(text: str) -> bool:
    """Whether this names a network of a library without weights, such as timm:resnet50."""
    scheme, _, name = text.partition(":")
    return scheme in _LIBRARIES and re.fullmatch(r"[A-Za-z0-9_.\-]+", name) is not None


def check_trainable(spec: str) -> str:
    """The adapter string of what may be a torch network; answers on record and ONNX files have no gradients."""
    scheme = check_spec(spec).removeprefix(GREY).partition(":")[0]
    if scheme == "readout":
        raise InvalidRequest(
            f"{shown(spec)} is a readout, whose network stays as it is: train that network, then fit a readout again.",
            fields={"spec": "a torch network"},
        )
    if scheme in ("onnx", "table"):
        raise InvalidRequest(
            f"{shown(spec)} gives no gradients, so it cannot be trained: use torchvision:, timm:, hf:, open_clip: or "
            "export:.",
            fields={"spec": "a torch network"},
        )
    return spec


def shelf_specs() -> list[str]:
    """Adapter strings of the network files that the console may use."""
    programs = [f"{_SHELVED[suffix]}:{file}" for file in shelf_files() if (suffix := Path(file).suffix) in _SHELVED]
    weights = [f"{network}@{path}" for path in _on_shelf("*.safetensors") if (network := _network_of(path))]
    return programs + weights


def offered_specs() -> list[str]:
    """The same for people, and networks that come as packages as far as they are installed."""
    return [*(spec for spec in onnx_network.SPECS if is_installed(spec)), *(shown(spec) for spec in shelf_specs())]


def from_shelf(specification: str) -> str:
    """A specification of a search, in which files of the shelf may be named by their names alone."""
    files = {Path(file).name: file for file in reversed(shelf_files())}
    return _FILE.sub(lambda found: files.get(found[0], found[0]), specification)


def _network_of(weights: Path) -> str:
    """The network that a file of weights names beside it, such as timm:resnet50; empty where it names none."""
    try:
        named = json.loads(media_path(f"{SHELF}/{weights.stem}.json").read_bytes()).get("architecture", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return named if isinstance(named, str) and named.partition(":")[0] in _LIBRARIES else ""


def shelf_files() -> list[str]:
    """Files that the console may use, as a specification writes them: those that ship with it, and the shelf's."""
    shipped = [(folder_of(kind), Path(NAMED) / kind) for kind in KINDS]
    patterns = ("*.pt2", "*.onnx", "*.npz", "*.pt", "*.ckpt", "*.npy")
    return [
        *(
            str(shown / path.name)
            for folder, shown in shipped
            for name in patterns
            for path in sorted(folder.glob(name))
        ),
        *(str(path) for name in patterns for path in _on_shelf(name)),
    ]


def _on_shelf(pattern: str) -> list[Path]:
    """Files of the shelf, also those that another machine has put there and this one has not fetched."""
    shelf = media_path(SHELF)
    elsewhere = (Path(path).name for path in file_store.published_below(SHELF))
    return sorted({*shelf.glob(pattern), *(shelf / name for name in elsewhere if fnmatch(name, pattern))})


def on_shelf(name: str) -> bool:
    """Whether a network's file or its description stands there under this name."""
    return any(
        path.stem == name for suffix in (".pt2", ".onnx", ".safetensors", ".json") for path in _on_shelf(f"*{suffix}")
    )


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
