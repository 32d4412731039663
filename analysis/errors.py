"""Errors of the science house; a class's docstring is its default message.

AnalysisError
├── InvalidInput
│   ├── UnknownName
│   ├── ParameterOutOfDomain
│   ├── PictureRefused
│   ├── OriginalsOverlap
│   ├── SearchRefused
│   └── TableRefused
├── DesignRefused
├── FitError
│   ├── TooFewResponses
│   ├── GridMismatch
│   ├── LabelSpaceMismatch
│   └── BandsMissing
├── ComputeUnavailable
├── StorageFailed
├── GeneratorUnavailable
├── OracleUnavailable
├── ClassifierUnavailable
├── ObserverUnavailable
└── PluginUnavailable

What to install where a package is missing that only some of the work needs.
"""

from __future__ import annotations

from collections.abc import Mapping


class AnalysisError(Exception):
    """Something in the analysis could not be done."""

    def __init__(self, message: str = "", *, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().splitlines()[0])
        #: a sentence for each setting that is at fault, by its place in the file: ``design.sessions``
        self.fields = dict(fields or {})


class InvalidInput(AnalysisError):
    """An argument has a value that cannot be used."""


class UnknownName(InvalidInput):
    """Nothing is registered under this name."""


class ParameterOutOfDomain(InvalidInput):
    """The corruption parameter lies outside the function's domain."""


class PictureRefused(InvalidInput):
    """The picture cannot be used."""


class SearchRefused(InvalidInput):
    """A search for counterfactuals cannot start from this."""


class OriginalsOverlap(InvalidInput):
    """A network would be tested on pictures that it was trained on."""


class TableRefused(InvalidInput):
    """A table does not match its schema; nothing was read."""


class DesignRefused(AnalysisError):
    """The study cannot be planned from these originals."""

    def __init__(self, message: str = "", *, place: str = "stimuli") -> None:
        super().__init__(message)
        self.fields = {place: str(self)}


class FitError(AnalysisError):
    """A curve could not be fitted or compared."""


class TooFewResponses(FitError):
    """Not enough responses to fit a curve: collect more."""


class GridMismatch(FitError):
    """The two curves stand on different knots and cannot be compared."""


class LabelSpaceMismatch(FitError):
    """The two curves come from different label spaces (16-way against 1,000-way) or options, and cannot be compared."""


class BandsMissing(FitError):
    """A curve was fitted without bootstrap refits: fit it with n_bootstrap to compare it."""


class StorageFailed(AnalysisError):
    """A file could not be written."""


class ClassifierUnavailable(AnalysisError):
    """The classifier cannot be loaded here."""


class GeneratorUnavailable(AnalysisError):
    """The generator of counterfactuals cannot be loaded here."""


class OracleUnavailable(AnalysisError):
    """The oracle cannot be loaded here."""


class ComputeUnavailable(AnalysisError):
    """The place where long work should run cannot be used."""


class ObserverUnavailable(AnalysisError):
    """A model that is asked in words cannot be asked."""


class PluginUnavailable(AnalysisError):
    """What another package adds cannot be used."""


def install(extra: str) -> str:
    """The command that installs an extra of the distribution.

    Parameters
    ----------
    extra : str
        Its name in pyproject.toml; the file of its pins has the same name.
    """
    return f"pip install 'humanexp[{extra}]', or in a checkout pip install -r requirements/{extra}.txt"
