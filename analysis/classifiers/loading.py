"""From a string to a classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis.classifiers import exported, factory, published, recorded
from analysis.classifiers.port import Classifier, RecordedPredictions
from analysis.errors import UnknownName


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What a caller allows.

    Attributes
    ----------
    device : str
        "cpu", "cuda" or "cuda:1".
    allow_code : bool
        Whether a researcher's own Python may run: the command line's business, never a web form's.
    allow_download : bool
        Whether published weights may be fetched from the network.
    """

    device: str = "cpu"
    allow_code: bool = False
    allow_download: bool = False


Loader = Callable[[str, LoadOptions], Classifier | RecordedPredictions]

#: A new scheme is one function and one line here.
SCHEMES: Mapping[str, Loader] = {
    "export": lambda reference, options: exported.load(reference, device=options.device),
    "table": lambda reference, options: recorded.load(reference),
    "python": lambda reference, options: factory.load(reference, device=options.device, allow_code=options.allow_code),
    "torchvision": lambda reference, options: published.load_torchvision(
        reference, device=options.device, allow_download=options.allow_download
    ),
    "timm": lambda reference, options: published.load_timm(
        reference, device=options.device, allow_download=options.allow_download
    ),
}


def load_classifier(
    spec: str, *, allow_code: bool = False, device: str = "cpu", allow_download: bool = False
) -> Classifier | RecordedPredictions:
    """Load a classifier.

    Parameters
    ----------
    spec : str
        ``export:PATH.pt2``, ``table:PATH.csv`` or ``.parquet``, ``python:package.module:factory``,
        ``torchvision:NAME[@WEIGHTS]``, ``timm:NAME[@WEIGHTS]``, where WEIGHTS is a file, ``random``, or (torchvision)
        the name of published weights.
    allow_code : bool
        Needed by ``python:``, which runs the named code.
    device : str
        Where a network computes: "cpu", "cuda", "cuda:1".
    allow_download : bool
        Whether published weights may be fetched; otherwise they must be on this machine.

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
        If a table of predictions is not one.
    """
    scheme, colon, reference = spec.partition(":")
    if not colon or not reference or scheme not in SCHEMES:
        raise UnknownName(
            f"{spec!r} names no classifier: write SCHEME:REFERENCE, where SCHEME is one of {', '.join(SCHEMES)} "
            "(for example export:model.pt2)."
        )
    return SCHEMES[scheme](reference, LoadOptions(device=device, allow_code=allow_code, allow_download=allow_download))
