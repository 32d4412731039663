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
from analysis.findings.model.settings import Settings
from analysis.labels.files import read_labels_file
from analysis.labels.space import LabelSpace
from analysis.tables.comparisons import COMPARISONS
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
#: Tables that an analysis reads, besides the trials.
BESIDE: tuple[TableSchema, ...] = (PREDICTIONS, LEVEL_PREDICTIONS, ANSWERS, COMPARISONS, SESSIONS, STIMULI, FACTORS)
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
    exported = read_export(folder, **changes)
    found = analyse(
        exported.trials,
        exported.table(PREDICTIONS),
        exported.settings,
        labels=exported.labels,
        study=exported.study,
        sessions=exported.sessions,
        session_table=exported.table(SESSIONS),
        stimuli=exported.table(STIMULI),
        level_predictions=exported.table(LEVEL_PREDICTIONS),
        answers=exported.table(ANSWERS),
        comparisons=exported.table(COMPARISONS),
        factor_table=exported.table(FACTORS),
    )
    return {**found.to_json(), **exported.beside}


@dataclass(frozen=True)
class ExportedStudy:
    """What an export holds of a study.

    Parameters
    ----------
    folder : Path
    study : str
        Its name.
    settings : Settings
        Of its analysis.
    sessions : mapping or None
        Counts of sessions.
    beside : mapping
        Further keys of the findings, which no analysis computes.
    labels : LabelSpace or None
        None: those that an analysis takes unasked.
    trials : pandas.DataFrame
    tables : mapping of str to pandas.DataFrame
        Further tables that an analysis reads, by the name of their schema; those that the study has.
    """

    folder: Path
    study: str
    settings: Settings
    sessions: Mapping[str, object] | None
    beside: Mapping[str, JsonValue]
    labels: LabelSpace | None
    trials: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]

    def table(self, schema: TableSchema) -> pd.DataFrame | None:
        """A further table; None where the study has none."""
        return self.tables.get(schema.name)


def read_export(folder: Path, **changes: JsonValue) -> ExportedStudy:
    """Read what the command ``export`` wrote.

    Parameters
    ----------
    folder : Path
    **changes
        Settings to use instead of those of the export.

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
    path = table_file(folder, TRIALS)
    if path is None:
        raise InvalidInput(f"{folder} holds neither trials.parquet nor trials.csv: export the study again.")
    return ExportedStudy(
        folder=folder,
        study=study,
        settings=settings,
        sessions=description.get("sessions"),
        beside=description.get("beside", {}),
        labels=read_labels_file(folder / LABELS) if (folder / LABELS).is_file() else None,
        trials=TRIALS.read(path),
        tables={
            schema.name: schema.read(found) for schema in BESIDE if (found := table_file(folder, schema)) is not None
        },
    )


def table_file(folder: Path, schema: TableSchema) -> Path | None:
    """The file of a table in an export, Parquet where it is there; None where neither file is."""
    paths = (folder / f"{schema.name}.{suffix}" for suffix in ("parquet", "csv"))
    return next((path for path in paths if path.exists()), None)


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


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
