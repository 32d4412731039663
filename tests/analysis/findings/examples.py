"""Findings made for a test: entries as they are stored, with what the test is about changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from analysis.entry import Entry
from analysis.findings.model.comparisons import Comparison
from analysis.findings.model.curves import Curve, Discrimination
from analysis.findings.model.findings import Findings

E = TypeVar("E", bound=Entry)
STORED = Findings.read((Path(__file__).parent / "stored" / "findings-3.json").read_bytes())


def like(entry: E, **changed: Any) -> E:
    """The entry with some of its values changed."""
    return type(entry).model_validate({**entry.to_json(), **changed})


def findings(**parts: Any) -> Findings:
    """Findings that hold these parts alone."""
    return Findings.model_validate(
        {"study": "s", "version": "v", "data_digest": "d", "seed": 1, "n_bootstrap": 0, **parts}
    )


def curve(**changed: Any) -> Curve:
    """A sound curve of people."""
    bins = [{"v": (k + 0.5) / 40, "n": 60, "rate": 0.5, "originals": 50, "thin": False} for k in range(40)]
    sound = {"withheld": False, "extrapolated": 0.0, "bins": bins, "empty_bins": [], "caveats": []}
    return like(STORED.curves[0], **{**sound, **changed})


def comparison(classifier: str, corruption: str = "gaussian_blur", hmri: float = 0.8, **changed: Any) -> Comparison:
    """A classifier beside people, with an interval and nowhere above them."""
    values = {
        "classifier": classifier,
        "corruption": corruption,
        "human_curve": corruption,
        "hmri": hmri,
        "hmri_interval": [hmri - 0.02, min(1.0, hmri + 0.02)],
        "level": 0.95,
        "exceeds": [],
        "withheld": False,
    }
    return like(STORED.comparisons[0], **{**values, **changed})


def told_apart(first: str, second: str, **changed: Any) -> Discrimination:
    """A pair that people cannot tell apart."""
    values = {
        "pair": [first, second], "form": "same-different", "trials": 104, "correct": 53, "accuracy": 53 / 104,
        "interval": [0.41, 0.609], "upper_bound": 0.594, "margin": 0.1, "d_prime": None, "p_adjusted": 1e-6,
        "verdict": "equivalent",
    }  # fmt: skip
    return like(STORED.discrimination[0], **{**values, **changed})
