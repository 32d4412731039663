"""From a string to a classifier, a researcher's own factory included.

It runs code, so only the command line allows it.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from analysis.classifiers import clip, exported, grey, huggingface, onnx_network, plugged, published, readout, recorded
from analysis.classifiers.decision import read_labels
from analysis.classifiers.networks import Precision, TorchNetwork, check_precision
from analysis.classifiers.onnx_network import OnnxNetwork, load_lite
from analysis.classifiers.port import Classifier, RecordedPredictions
from analysis.errors import ClassifierUnavailable, UnknownName
from analysis.labels.space import LabelSpace
from analysis.plugins import CLASSIFIERS, plugin


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What a caller allows and knows.

    Attributes
    ----------
    device : str
        "cpu", "cuda" or "cuda:1".
    allow_code : bool
        Whether a researcher's own Python may run: the command line's business, never a web form's.
    allow_download : bool
        Whether published weights may be fetched from the network.
    labels : tuple of str or None
        Labels of the outputs from a mapping file.
    space : LabelSpace or None
        Labels of the pictures; None for the product's default.
    precision : {"float32", "tf32", "float16", "bfloat16"}
        Numbers that a torch network computes with on CUDA.
    """

    device: str = "cpu"
    allow_code: bool = False
    allow_download: bool = False
    labels: tuple[str, ...] | None = None
    precision: Precision = "float32"
    space: LabelSpace | None = None


Loader = Callable[[str, LoadOptions], Classifier | RecordedPredictions]


Network = TorchNetwork | OnnxNetwork


def _from_file(load: Callable[..., Network]) -> Loader:
    return lambda reference, options: _as_asked(
        load(reference, device=options.device, labels=options.labels, space=options.space), options
    )


def _from_library(load: Callable[..., Network]) -> Loader:
    return lambda reference, options: _as_asked(
        load(reference, device=options.device, labels=options.labels, allow_download=options.allow_download), options
    )


def _in_space(load: Callable[..., Network]) -> Loader:
    """Of a library, and asked or described in the labels of the pictures."""
    return lambda reference, options: _from_library(partial(load, space=options.space))(reference, options)


def _as_asked(network: Network, options: LoadOptions) -> Network:
    """The network in this precision, with a digest that tells its mapping file, too: other labels are other answers."""
    if isinstance(network, TorchNetwork):
        network = replace(network, precision=options.precision)
    labels = options.labels
    if labels is None:
        return network
    named = "\x00".join((network.digest, *labels))
    return replace(network, digest=hashlib.sha256(named.encode()).hexdigest())


def _inner(options: LoadOptions, **given: Any) -> Callable[[str], Classifier | RecordedPredictions]:
    """Loads the network that another one is made from, with what the caller allows."""
    return partial(
        load_classifier,
        allow_code=options.allow_code,
        device=options.device,
        allow_download=options.allow_download,
        precision=options.precision,
        **given,
    )


def _readout(reference: str, options: LoadOptions) -> TorchNetwork:
    """The network that it reads is loaded with its own outputs, whatever labels the pictures have."""
    if options.labels is not None:
        raise ClassifierUnavailable(f"readout:{reference} has labels of its own: leave out the mapping file.")
    made = readout.load(reference, load_network=_inner(options), space=options.space, device=options.device)
    return replace(made, precision=options.precision)


def _grey(reference: str, options: LoadOptions) -> Network:
    """The mapping file, if any, names the outputs of the network that is shown pictures without colour."""
    return _as_asked(grey.load(reference, _inner(options, space=options.space)), options)


#: A new scheme is one function and one line here; one of another package is an entry point, see `plugged`.
SCHEMES: Mapping[str, Loader] = {
    "lite": _from_library(load_lite),
    "torchvision": _in_space(published.load_torchvision),
    "timm": _in_space(published.load_timm),
    "hf": _from_library(huggingface.load),
    "open_clip": _in_space(clip.load),
    "export": _from_file(exported.load),
    "onnx": _from_file(onnx_network.load),
    "python": lambda reference, options: load(reference, device=options.device, allow_code=options.allow_code),
    "grey": _grey,
    "readout": lambda reference, options: _readout(reference, options),
    "table": lambda reference, options: recorded.load(reference, options.space),
}


def load_classifier(
    spec: str,
    *,
    allow_code: bool = False,
    device: str = "cpu",
    allow_download: bool = False,
    labels: Path | None = None,
    precision: Precision = "float32",
    space: LabelSpace | None = None,
) -> Classifier | RecordedPredictions:
    """Load a classifier.

    Parameters
    ----------
    spec : str
        ``lite:0``, ``torchvision:NAME[@WEIGHTS]``, ``timm:NAME[@WEIGHTS]``, ``hf:FOLDER`` or ``hf:organisation/name``,
        ``open_clip:MODEL/TAG``, ``export:PATH.pt2``, ``onnx:PATH.onnx``, ``python:package.module:factory``,
        ``readout:PATH.npz``, ``grey:SPEC``, ``table:PATH.csv`` (``.parquet``), or a scheme of a plug-in. WEIGHTS is a
        file, ``random``, or (torchvision) the name of published weights.
    allow_code : bool
        Needed by ``python:``, which runs the named code, and by plug-ins.
    device : str
        Where a network computes: "cpu", "cuda", "cuda:1".
    allow_download : bool
        Whether published weights may be fetched; otherwise they must be on this machine.
    labels : Path, optional
        Mapping file of a network with its own labels: columns ``label`` and ``category``, one row an output.
    precision : {"float32", "tf32", "float16", "bfloat16"}
        Numbers that a torch network computes with on CUDA: exact float32 unless another precision is asked for.
    space : LabelSpace, optional
        Labels that a mapping file and a table of predictions name; by default the product's.

    Returns
    -------
    Classifier or RecordedPredictions
        The second for ``table:``. `classify` takes either.

    Raises
    ------
    UnknownName
        If there is no such scheme.
    ClassifierUnavailable
        If it cannot be loaded here; the message says what to install, fetch or allow.
    TableRefused
        If a table of predictions, or a mapping file, is not one.
    """
    scheme, colon, reference = spec.partition(":")
    found = SCHEMES.get(scheme) or plugged.loader(plugin(CLASSIFIERS, scheme))
    if not colon or not reference or found is None:
        raise UnknownName(
            f"{spec!r} names no classifier: write SCHEME:REFERENCE, where SCHEME is one of {', '.join(SCHEMES)} "
            "(for example export:model.pt2)."
        )
    check_precision(precision, device)
    own = read_labels(labels, space) if labels else None
    classifier = found(reference, LoadOptions(device, allow_code, allow_download, own, precision, space))
    if precision != "float32" and not isinstance(classifier, TorchNetwork):
        raise ClassifierUnavailable(f"{spec} is no torch network: its precision cannot be set. Leave out {precision}.")
    return classifier


def load(reference: str, *, device: str = "cpu", allow_code: bool = False) -> Classifier:
    """Call the factory with the device and return what it makes.

    Parameters
    ----------
    reference : str
        ``package.module:factory``; ``factory(device)`` returns a `Classifier`.

    Raises
    ------
    ClassifierUnavailable
        If code is not allowed, cannot be found, or makes something else.
    """
    if not allow_code:
        raise ClassifierUnavailable(
            f"python:{reference} runs code and is not allowed here: use manage.py evaluate on the command line."
        )
    module_name, colon, factory_name = reference.partition(":")
    if not colon or not module_name or not factory_name:
        raise ClassifierUnavailable(f"python:{reference}: write python:package.module:factory.")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ClassifierUnavailable(f"python:{reference}: {module_name} cannot be imported ({error}).") from error
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise ClassifierUnavailable(f"python:{reference}: {module_name} has no function {factory_name}.")
    made = factory(device)
    if not isinstance(made, Classifier):
        wanted = ("name", "labels", "label_space", "digest", "preprocessing", "predict")
        missing = [attribute for attribute in wanted if not hasattr(made, attribute)]
        raise ClassifierUnavailable(f"python:{reference} made something without {', '.join(missing)}.")
    return made
