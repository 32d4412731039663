"""Trials of people as a published set has them: who answered is numbered again, and no time of day is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.findings.agreement import conditions_of
from analysis.findings.lists import text_column
from analysis.findings.observations import counted_trials, read_trials
from analysis.labels.lists import ACCEPTED, COMPETING, OPTIONS
from analysis.published_trials import ORIGINAL

if TYPE_CHECKING:
    import pandas as pd

#: Columns of trial files by those of tables of trials; left out where no trial has any.
_LISTS = {"options": OPTIONS, "accepted": ACCEPTED, "competing": COMPETING}


def set_trials(trials: pd.DataFrame, pictures: Mapping[str, str], people: Sequence[str]) -> pd.DataFrame:
    """The answers that count, in the columns of `analysis.published_trials`.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.
    pictures : mapping of str to str
        The name of each stimulus in the set, without underscores.
    people : sequence of str
        Everyone who may have trials, in the order in which they are numbered: ``subject-01`` and so on.

    Returns
    -------
    pandas.DataFrame
        A row for each trial that `analysis.findings.observations.read_trials` reads, by subject, session and trial.
        ``condition`` is that of `analysis.findings.agreement.conditions_of`, ``rt`` in seconds, to the millisecond.

    Notes
    -----
    Codes of people and sessions, times of day, screens, and orders of choices are left out.
    """
    import pandas as pd

    counted = counted_trials(trials)
    width = max(2, len(str(len(people))))
    number = {code: f"{place:0{width}d}" for place, code in enumerate(people, start=1)}
    subject = [number[code] for code in text_column(counted, "participant").tolist()]
    named = [pictures[stimulus] for stimulus in text_column(counted, "stimulus").tolist()]
    table = pd.DataFrame(
        {
            "subj": [f"subject-{one}" for one in subject],
            "session": _numbered(subject, text_column(counted, "session").tolist()),
            "trial": counted["position"].astype(int).to_numpy() + 1,
            "rt": [_seconds(ms) for ms in counted["rt_ms"].astype("Float64").tolist()],
            "object_response": text_column(counted, "response"),
            "category": text_column(counted, "category"),
            "condition": conditions_of(read_trials(trials)),
            "imagename": [f"0000_set_s{one}_{name}.png" for one, name in zip(subject, named, strict=True)],
            ORIGINAL: text_column(counted, "original"),
            "visual_change": counted["visual_change"].to_numpy(),
        }
    )
    for name, column in _LISTS.items():
        cells = text_column(counted, column)
        if (cells != "").any():
            table[name] = cells
    return table.sort_values(["subj", "session", "trial"], ignore_index=True)


def _numbered(people: Sequence[str], sessions: Sequence[str]) -> list[int]:
    """The sessions of each person from 1."""
    seen: dict[str, dict[str, int]] = {}
    found = []
    for person, session in zip(people, sessions, strict=True):
        own = seen.setdefault(person, {})
        found.append(own.setdefault(session, len(own) + 1))
    return found


def _seconds(ms: object) -> str:
    """Seconds to the millisecond; NaN where no time was measured, or none that this resolves."""
    seconds = f"{ms / 1000:.3f}" if isinstance(ms, float) else "0.000"
    return "NaN" if seconds == "0.000" else seconds
