"""Which sessions and trials an analysis counts, when an analyst asks for others than planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, JsonValue, field_validator

from analysis.categories import NO_ANSWER
from humanexp.core.errors import InputRefused

if TYPE_CHECKING:
    import pandas as pd

#: Self-report -> the answer that keeps a session. None of them ever excludes anybody by itself.
SELF_REPORTS = {"sight": "yes", "colour_sight": "yes", "corruption_knowledge": "no"}
CLEAN = "none"


class Selection(BaseModel):
    """A choice of sessions and trials; without arguments it is the planned one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: count sessions that the rules excluded, too
    all_sessions: bool = False
    #: only trials whose timing record is in order
    timing_ok: bool = False
    #: leave out answers that did not come in time, instead of counting them as wrong
    drop_misses: bool = False
    #: only people who reported so: names of `SELF_REPORTS`
    self_reports: tuple[str, ...] = ()
    #: only these corruptions; empty = all
    corruptions: tuple[str, ...] = ()

    @field_validator("self_reports")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in names if name not in SELF_REPORTS]
        if unknown:
            raise InputRefused(f"There is no self-report called {unknown[0]!r}; there are {', '.join(SELF_REPORTS)}.")
        return names

    @property
    def is_whole(self) -> bool:
        """Whether nothing was chosen: all that the study's rules count."""
        return self == Selection()

    def to_dict(self) -> dict[str, JsonValue]:
        """What was chosen, as JSON; `model_validate` is the inverse."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def sentences(self) -> list[str]:
        """What was chosen, in words; empty where nothing was."""
        reports = {
            "sight": _("people who report normal or corrected sight"),
            "colour_sight": _("people who report normal colour sight"),
            "corruption_knowledge": _("people who report no knowledge of image corruptions"),
        }
        corruptions = ", ".join(name.replace("_", " ") for name in self.corruptions)
        said = (
            (self.all_sessions, _("excluded sessions count too")),
            (self.timing_ok, _("only trials whose timing is in order")),
            (self.drop_misses, _("misses are left out")),
            *((True, _("only %(who)s") % {"who": reports[name]}) for name in self.self_reports),
            (self.corruptions, _("only %(corruptions)s") % {"corruptions": corruptions}),
        )
        return [sentence for is_chosen, sentence in said if is_chosen]

    def of_trials(self, trials: pd.DataFrame, reports: Mapping[str, Mapping[str, JsonValue]]) -> pd.DataFrame:
        """The chosen rows of a table of trials; `reports` are the self-reports by session."""
        keep = trials["session"].notna()
        for name in self.self_reports:
            wanted = SELF_REPORTS[name]
            chosen = {session for session, report in reports.items() if report.get(name) == wanted}
            keep &= trials["session"].isin(chosen)
        if self.timing_ok:
            keep &= trials["timing_ok"].fillna(False).astype(bool)
        if self.drop_misses:
            keep &= trials["response"] != NO_ANSWER
        trials = trials.loc[keep & self._of_corruptions(trials)].reset_index(drop=True)
        return trials.assign(accepted=True) if self.all_sessions else trials

    def of_predictions(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """The chosen rows of a table of predictions."""
        return predictions.loc[self._of_corruptions(predictions)].reset_index(drop=True)

    def _of_corruptions(self, table: pd.DataFrame) -> pd.Series[bool]:
        if not self.corruptions:
            return table["corruption"].notna()
        return table["corruption"].isin([*self.corruptions, CLEAN])
