"""What is asked of a drawn figure, and studies whose analysis has other parts."""

from __future__ import annotations

import csv
import json
import secrets
from io import StringIO
from typing import Any

import numpy as np

from analysis.findings.model.findings import Findings
from humanexp.console.figures.figure import Drawn
from humanexp.console.figures.subjects import Analysed
from humanexp.core.storage import media_path
from humanexp.results.models import AnalysisRun
from humanexp.results.selectors import latest_run
from humanexp.studies.models import Study
from tests.results.large import MODELS

_POOLED = {"observed": 0.7, "expected": 0.5, "pictures": 400, "accuracies": [0.8, 0.7], "is_stratified": True}


def changed(study: Study, **parts: Any) -> Analysed:
    """The study with an analysis of which these parts are others."""
    run = latest_run(study)
    assert run is not None
    content = json.loads(media_path(run.findings_file).read_text(encoding="utf-8")) | parts
    # Findings are read once a file name.
    relative = f"{run.findings_file}.{secrets.token_hex(6)}"
    media_path(relative).write_text(json.dumps(content), encoding="utf-8")
    return Analysed(study, AnalysisRun(study=study, findings_file=relative, pk=run.pk))


def canvas(drawn: Drawn, width: str = "page") -> Any:
    made = drawn.draw(width)
    made.draw_without_rendering()
    return made


def drawn_by(axes: Any, gid: str) -> list[Any]:
    return [one for one in axes.get_children() if one.get_gid() == gid]


def rows(drawn: Drawn, table: int = 0) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(drawn.tables()[table].to_csv())))


def shown(drawn: Drawn, width: str = "page") -> list[tuple[np.ndarray, str]]:
    """Every picture of a figure, with the words below it, row by row."""
    canvas = drawn.draw(width)
    canvas.draw_without_rendering()
    places = [(axes.get_position(), axes.images[0].get_array()) for axes in canvas.axes if axes.images]
    words = [(text.get_position(), text.get_text()) for text in canvas.texts]
    found = []
    for place, pixels in places:
        below = [(y, said) for (x, y), said in words if abs(x - place.x0) < 1e-6 and y < place.y0]
        nearest = sorted(below, reverse=True)[:2]
        found.append((np.asarray(pixels), " ".join(said for _, said in nearest)))
    return found


def band(found: Findings, population: str, corruption: str, measure: str = "accuracy") -> Any:
    return next(
        one.band
        for one in found.curves
        if (one.population, one.corruption, one.property) == (population, corruption, measure)
    )


def agreeing(study: Study) -> Analysed:
    """People among themselves at .5, the models below; the last shares too few pictures."""
    means = {"accuracy_difference": None, "observed_consistency": None, "error_consistency": None, "pairs": 0}
    entries = [("humans", "humans", 0.82, 0.5)]
    entries += [(name, "classifier", 0.8 - 0.05 * n, 0.4 - 0.06 * n) for n, name in enumerate(MODELS[:9])]
    agreement = [
        {"observer": name, "kind": kind, "ood_accuracy": accuracy, **means, "pooled": _POOLED | {"kappa": kappa},
         "interval": [kappa - 0.04, kappa + 0.04], "n": 400, "conditions": []}
        for name, kind, accuracy, kappa in entries
    ]  # fmt: skip
    last = agreement[-1] | {"observer": MODELS[9], "pooled": None, "interval": None}
    return changed(study, agreement=[*agreement, last])
