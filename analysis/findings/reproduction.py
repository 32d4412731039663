"""Findings made again from an exported folder alone: no database, no web, no project.

``python -m analysis.findings FOLDER --json FILE`` computes every number; ``--check`` compares with those of the export.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from pydantic import JsonValue

from analysis.errors import InvalidInput
from analysis.findings.analysing import analyse
from analysis.findings.model.people import Settings
from analysis.labels.files import read_labels_file
from analysis.tables.schema import TableSchema
from analysis.tables.sessions import SESSIONS
from analysis.tables.stimuli import FACTORS, LEVEL_PREDICTIONS, PREDICTIONS, STIMULI
from analysis.tables.trials import ANSWERS, TRIALS

if TYPE_CHECKING:
    import pandas as pd

#: What was computed how, beside the tables of an export.
DESCRIPTION = "analysis.json"
FINDINGS = "findings.json"
#: The labels, where they are not those that the analysis takes unasked.
LABELS = "labels.toml"
#: Largest difference between numbers computed on different platforms.
TOLERANCE = 1e-9
_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow")


@dataclass(frozen=True)
class Difference:
    """A value that came out otherwise.

    Parameters
    ----------
    path : str
        Where in the JSON, e.g. ``curves/3/area``.
    stored, computed : object
    size : float
        Absolute difference of two numbers; infinite where the values are no two numbers.
    """

    path: str
    stored: object
    computed: object
    size: float


def describe_analysis(
    *,
    study: str,
    settings: Mapping[str, object],
    sessions: Mapping[str, object] | None = None,
    beside: Mapping[str, object] | None = None,
    plan: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Content of `DESCRIPTION`.

    Parameters
    ----------
    study : str
    settings : mapping
        As in the findings.
    sessions : mapping, optional
        Counts of sessions.
    beside : mapping, optional
        Further keys of the JSON that no analysis computes.
    plan : mapping, optional
        The frozen analysis plan.
    """
    return {
        "study": study,
        "again": "python -m analysis.findings . --json again.json --check",
        "settings": dict(settings),
        "sessions": None if sessions is None else dict(sessions),
        "beside": dict(beside or {}),
        "plan": None if plan is None else dict(plan),
        "made_with": {"python": platform.python_version(), "machine": platform.machine(), **_versions()},
    }


def analyse_export(folder: Path, **changes: JsonValue) -> dict[str, JsonValue]:
    """Compute every number of an exported study again.

    Parameters
    ----------
    folder : Path
        Written by the command ``export``: tables as Parquet or CSV, and how they were analysed.
    **changes
        Settings of `analyse` to use instead of those of the export.

    Returns
    -------
    dict
        The same JSON as `FINDINGS` there: equal on the platform of the export, within `TOLERANCE` elsewhere.

    Raises
    ------
    InvalidInput
        If the folder is no export.
    TableRefused
        If a table is damaged.
    """
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        settings, study = Settings.model_validate({**description["settings"], **changes}), description["study"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{folder} is no exported study: {DESCRIPTION} is missing or damaged ({error}).") from error
    trials = _read(folder, TRIALS)
    if trials is None:
        raise InvalidInput(f"{folder} holds neither trials.parquet nor trials.csv: export the study again.")
    found = analyse(
        trials,
        _read(folder, PREDICTIONS),
        settings,
        labels=read_labels_file(folder / LABELS) if (folder / LABELS).is_file() else None,
        study=study,
        sessions=description.get("sessions"),
        session_table=_read(folder, SESSIONS),
        stimuli=_read(folder, STIMULI),
        level_predictions=_read(folder, LEVEL_PREDICTIONS),
        answers=_read(folder, ANSWERS),
        factor_table=_read(folder, FACTORS),
    )
    return {**found.to_json(), **description.get("beside", {})}


def differences(stored: object, computed: object, path: str = "") -> Iterator[Difference]:
    """Every value that is not the same, in order; equal numbers of another type are the same."""
    if isinstance(stored, Mapping) and isinstance(computed, Mapping):
        for name in [*stored, *(name for name in computed if name not in stored)]:
            yield from differences(stored.get(name), computed.get(name), f"{path}/{name}".lstrip("/"))
    elif isinstance(stored, list) and isinstance(computed, list) and len(stored) == len(computed):
        for place, (one, other) in enumerate(zip(stored, computed, strict=True)):
            yield from differences(one, other, f"{path}/{place}")
    elif stored != computed:
        size = math.inf
        if _is_number(stored) and _is_number(computed):
            size = abs(stored - computed)
        yield Difference(path, stored, computed, size)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read(folder: Path, schema: TableSchema) -> pd.DataFrame | None:
    """A table of the export, from Parquet where it is there; None where neither file is."""
    for suffix in ("parquet", "csv"):
        path = folder / f"{schema.name}.{suffix}"
        if path.exists():
            return schema.read(path)
    return None


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
