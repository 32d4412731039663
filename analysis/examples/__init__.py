"""Drawn pictures, and the small networks trained on them: made for this project, for trying things out and for tests.

`analysis.examples.pictures.draw` draws. The networks keep one name on every machine, wherever HumanExp is installed:
``fixtures/classifiers/clean.pt2`` or ``robust.pt2``, and ``fixtures/counterfactuals/adversarial.pt2``, ``oracle.pt2``
or ``autoencoder.pt``.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
#: The first part of those names. Evaluations and searches that were stored name them, too.
NAMED = "fixtures"
KINDS = ("classifiers", "counterfactuals")


def folder_of(kind: str) -> Path:
    """Where the networks of a kind are, here."""
    return _FOLDER / kind


def located(path: Path) -> Path:
    """The file of a network that comes with HumanExp, when the path is its name; every other path as it is."""
    if path.parts[:1] != (NAMED,) or path.exists():
        return path
    own = _FOLDER.joinpath(*path.parts[1:])
    return own if own.parent.name in KINDS and own.is_file() else path
