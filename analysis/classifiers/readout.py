"""Adapter ``readout:FILE.npz``: a logistic regression on features of a frozen network, with labels of its own.

The file holds the regression and what it was fitted on, without code: two arrays, and a text in JSON that names the
network (which is not in the file), its digest and layer, the labels with their identity, the digest of every picture
that was learned from, and the held-out accuracy.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.layers import Tap, tap
from analysis.classifiers.networks import TorchNetwork
from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace

FORMAT = 1
SUFFIX = ".npz"
_ARRAYS = ("weights", "bias", "about")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How many pictures were named right by a readout that had not learned from them.

    Attributes
    ----------
    n, n_right : int
    low, high : float
        95 % interval (Wilson), in [0, 1].
    folds, seed : int
        Of the cross-validation.
    """

    n: int
    n_right: int
    low: float
    high: float
    folds: int
    seed: int

    @property
    def accuracy(self) -> float:
        """Share that was named right."""
        return self.n_right / self.n

    def __str__(self) -> str:
        interval = f"95 % interval {self.low:.3f} to {self.high:.3f}"
        return f"{self.accuracy:.3f} ({interval}; {self.folds} parts, seed {self.seed})"


@dataclass(frozen=True, slots=True, eq=False)
class Readout:
    """A fitted readout, as its file says it.

    Attributes
    ----------
    weights : ndarray of float32, shape (k, d)
    bias : ndarray of float32, shape (k,)
    labels : tuple of str, length k
        Ids, in the order of the rows.
    labels_name, labels_identity : str
        Of the label space; see `LabelSpace.identity`.
    network, network_digest, layer : str
        Adapter string of the network, its digest, and the layer that is read.
    learned : frozenset of str
        Digests of the pictures that were learned from.
    strength : float
        Inverse weight of the penalty (C), as it was chosen.
    held_out : HeldOut
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    labels: tuple[str, ...]
    labels_name: str
    labels_identity: str
    network: str
    network_digest: str
    layer: str
    learned: frozenset[str]
    strength: float
    held_out: HeldOut

    @property
    def digest(self) -> str:
        """SHA-256 of all that determines the answers."""
        told = json.dumps([self.network_digest, self.layer, self.labels, self.labels_identity])
        return hashlib.sha256(told.encode() + self.weights.tobytes() + self.bias.tobytes()).hexdigest()

    def __str__(self) -> str:
        return (
            f"of {self.network}@{self.layer}, fitted on {len(self.learned)} pictures, held-out accuracy {self.held_out}"
        )

    def write(self, path: Path) -> None:
        """Write the file."""
        about = {
            "format": FORMAT,
            "network": self.network,
            "network_digest": self.network_digest,
            "layer": self.layer,
            "labels": list(self.labels),
            "labels_name": self.labels_name,
            "labels_identity": self.labels_identity,
            "strength": self.strength,
            "held_out": asdict(self.held_out),
            "learned": sorted(self.learned),
        }
        text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        content = io.BytesIO()
        np.savez_compressed(content, weights=self.weights, bias=self.bias, about=text)
        path.write_bytes(content.getvalue())

    @classmethod
    def read(cls, path: Path) -> Readout:
        """Read a file; nothing in it is run.

        Raises
        ------
        ClassifierUnavailable
            If there is no such file, or it is no readout.
        """
        if not path.is_file():
            raise ClassifierUnavailable(f"{path}: there is no such file. fit_readout writes one.")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                weights, bias, text = (arrays[name] for name in _ARRAYS)
            about = json.loads(text.tobytes())
            if about["format"] != FORMAT:
                raise ClassifierUnavailable(
                    f"{path} is a readout of format {about['format']}, and this version reads {FORMAT}: fit it again."
                )
            made = cls(
                weights=np.asarray(weights, np.float32),
                bias=np.asarray(bias, np.float32),
                labels=tuple(map(str, about["labels"])),
                held_out=HeldOut(**about["held_out"]),
                learned=frozenset(map(str, about["learned"])),
                strength=float(about["strength"]),
                **{name: str(about[name]) for name in _TEXTS},
            )
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise ClassifierUnavailable(f"{path} is no readout, or damaged ({error}). Fit it again.") from error
        k = len(made.labels)
        if made.weights.ndim != 2 or len(made.weights) != k or made.bias.shape != (k,) or not _is_finite(made):
            raise ClassifierUnavailable(f"{path}: its weights do not go with its {k} labels. Fit it again.")
        return made


_TEXTS = ("labels_name", "labels_identity", "network", "network_digest", "layer")


def _is_finite(made: Readout) -> bool:
    return bool(np.isfinite(made.weights).all() and np.isfinite(made.bias).all())


def load(
    reference: str, *, load_network: Callable[[str], object], space: LabelSpace | None = None, device: str = "cpu"
) -> TorchNetwork:
    """Load a readout, and the network that it reads.

    Parameters
    ----------
    reference : str
        The file.
    load_network : callable
        From an adapter string to a classifier.
    space : LabelSpace, optional
        Labels of the pictures; by default the product's.

    Raises
    ------
    ClassifierUnavailable
        If the file is no readout, is about other labels, or its network is missing or another one.
    """
    path = Path(reference)
    made = Readout.read(path)
    labels = space or default_labels()
    if made.labels_identity != labels.identity:
        raise ClassifierUnavailable(
            f"{path.name} answers with the labels {made.labels_name} ({made.labels_identity[:12]}), and the pictures "
            f"have {labels.name} ({labels.identity[:12]}), which mean something else. Fit a readout on pictures with "
            f"the labels {labels.name}."
        )
    network = require_layers(load_network(_beside(made.network, path.parent)), made.network)
    if network.digest != made.network_digest:
        raise ClassifierUnavailable(
            f"{path.name} was fitted on another {made.network} ({made.network_digest[:12]}) than there is here "
            f"({network.digest[:12]}). Bring the same weights, or fit it again."
        )
    tapped = tap(network, made.layer)
    if tapped.width != made.weights.shape[1]:
        raise ClassifierUnavailable(
            f"{path.name} reads {made.weights.shape[1]} numbers of {made.layer}, which has {tapped.width}: fit it "
            "again."
        )
    return TorchNetwork(
        name=path.stem,
        labels=made.labels,
        digest=made.digest,
        inputs=network.inputs,
        forward=_with_regression(tapped, made, device),
        device=device,
        learned=made.learned,
        facts={"readout": str(made)},
    )


def require_layers(classifier: object, spec: str) -> TorchNetwork:
    """The classifier as a torch network, whose layers can be read.

    Raises
    ------
    ClassifierUnavailable
        If it is none.
    """
    if isinstance(classifier, TorchNetwork):
        return classifier
    raise ClassifierUnavailable(
        f"{spec} is no torch network, so its layers cannot be read: use lite:, torchvision:, timm:, hf:, open_clip: or "
        "export: (an ONNX network can be exported by torch.export where it was trained)."
    )


def portable(spec: str, folder: Path) -> str:
    """The adapter string with a file in this folder by its name alone, so that both can be moved together."""
    head, file = _file_in(spec)
    return f"{head}{Path(file).name}" if file and Path(file).resolve().parent == folder.resolve() else spec


def _beside(spec: str, folder: Path) -> str:
    """The adapter string, with the whole path of a file that is in this folder and not where the string says."""
    head, file = _file_in(spec)
    found = folder / Path(file).name if file else folder
    return f"{head}{found}" if file and not Path(file).exists() and found.is_file() else spec


def _file_in(spec: str) -> tuple[str, str]:
    """What is before the file that an adapter string names, and the file; empty where it names none."""
    scheme, _, reference = spec.partition(":")
    if scheme == "export":
        return f"{scheme}:", reference
    network, at, file = reference.rpartition("@")
    return (f"{scheme}:{network}@", file) if at and Path(file).suffix else (spec, "")


def _with_regression(tapped: Tap, made: Readout, device: str) -> Any:
    """The network up to the layer, and the regression, as a module from pictures to logits."""
    import torch

    class Regression(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.features = tapped.forward
            self.linear = torch.nn.Linear(made.weights.shape[1], len(made.labels))
            with torch.no_grad():
                self.linear.weight.copy_(torch.from_numpy(made.weights))
                self.linear.bias.copy_(torch.from_numpy(made.bias))

        def forward(self, pictures: Any) -> Any:
            return self.linear(self.features(pictures).float())

    return Regression().eval().requires_grad_(False).to(device)
