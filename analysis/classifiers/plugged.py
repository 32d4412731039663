"""Classifier schemes of other packages: entry points of the group ``humanexp.classifiers``.

The entry's name is the scheme, and its object a function from the reference and `LoadOptions` to a `Classifier`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.port import Classifier
from analysis.errors import AnalysisError, ClassifierUnavailable
from analysis.plugins import Plugin


def loader(found: Plugin | None) -> Callable[[str, Any], Classifier] | None:
    """The scheme of a plug-in, which is imported only once code is allowed."""
    return None if found is None else lambda reference, options: _loaded(found, reference, options)


def _loaded(found: Plugin, reference: str, options: Any) -> Classifier:
    spec = f"{found.name}:{reference}"
    if not options.allow_code:
        raise ClassifierUnavailable(
            f"{spec} runs code of {found.title} and is not allowed here: use manage.py evaluate on the command line."
        )
    load = found.load()
    try:
        made = load(reference, options)
    except AnalysisError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  the code of others may raise anything
        raise ClassifierUnavailable(f"{spec} of {found.title} fails ({type(error).__name__}: {error}).") from error
    if not isinstance(made, Classifier):
        wanted = ("name", "labels", "label_space", "digest", "preprocessing", "predict")
        missing = [attribute for attribute in wanted if not hasattr(made, attribute)]
        raise ClassifierUnavailable(f"{spec} of {found.title} makes something without {', '.join(missing)}.")
    digest = hashlib.sha256(f"{made.digest} {found.package} {found.version}".encode()).hexdigest()
    facts = {"plug-in": f"{found.title} ({found.name}:)"}
    if isinstance(made, TorchNetwork):
        return replace(made, digest=digest, facts=made.facts | facts)
    return OfPlugin(made, digest, facts)


@dataclass(frozen=True, slots=True)
class OfPlugin:
    """A classifier of another package, whose digest tells the package's version: another version may answer otherwise.

    Attributes
    ----------
    made : Classifier
        As the package made it.
    digest : str
        Of the classifier, the package and its version.
    facts : mapping of str to str
        Kept with its predictions.
    """

    made: Classifier
    digest: str
    facts: Mapping[str, str]

    @property
    def name(self) -> str:
        """Short name for figures."""
        return self.made.name

    @property
    def labels(self) -> tuple[str, ...]:
        """One a column of `predict`."""
        return tuple(self.made.labels)

    @property
    def label_space(self) -> int:
        """Number of outputs."""
        return self.made.label_space

    @property
    def preprocessing(self) -> str:
        """What is done to a picture, in words."""
        return self.made.preprocessing

    @property
    def inputs(self) -> Any:
        """How large its input is, where it says so; see `analysis.classifiers.port.seen_by`."""
        return getattr(self.made, "inputs", None)

    @property
    def device(self) -> str:
        """Where it computes, where it says so."""
        return str(getattr(self.made, "device", "cpu"))

    def predict(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probabilities, shape (n, k), of RGB pictures, shape (n, h, w, 3)."""
        try:
            return self.made.predict(images)
        except AnalysisError:
            raise
        except Exception as error:  # noqa: BLE001  the code of others may raise anything
            raise ClassifierUnavailable(
                f"{self.name} ({self.facts['plug-in']}) fails ({type(error).__name__}: {error})."
            ) from error
