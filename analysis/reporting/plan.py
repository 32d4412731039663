"""The analysis plan: what would be done, frozen and hashed before the first response, and what was done otherwise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TypeAlias, cast

from pydantic import JsonValue

from analysis.errors import InvalidInput
from analysis.findings.model.findings import Findings

#: `study` (the snapshot) and `analysis` (its settings).
Content: TypeAlias = dict[str, dict[str, JsonValue]]
#: Settings whose value depends on the machine or on nothing that is reported.
_SILENT = frozenset({"seed"})
#: In words, for the list of deviations.
_WORDS = {
    "n_bootstrap": "bootstrap refits per resampled unit",
    "level": "level of intervals",
    "margin": "margin of equivalence of areas",
    "band_margin": "margin of equivalence of curves",
    "discrimination_margin": "margin of equivalence of discrimination",
    "d_prime_margin": "margin of equivalence of discrimination, as d'",
    "observer_model": "observer model of discrimination",
    "change_weights": "weights over visual change",
    "change_weights_name": "name of the weights over visual change",
    "borrow": "borrowed human curves",
    "curve": "how curves are drawn",
    "recruiter_weights": "weights of recruiters",
    "seed": "seed of the resampling",
    "selection": "choice of sessions and trials",
    "version": "version of the analysis",
}


@dataclass(frozen=True)
class FrozenPlan:
    """A plan and the digest by which it can be shown later that it is unchanged.

    Parameters
    ----------
    content : dict
        ``study`` (the snapshot of what is asked, of whom, and how) and ``analysis`` (settings of the analysis).
    digest : str
        sha256 of the canonical JSON of the content.
    """

    content: Content
    digest: str

    def to_dict(self) -> dict[str, Content | str]:
        """Plain values from which `from_dict` makes an equal plan."""
        return {"content": self.content, "digest": self.digest}

    @classmethod
    def from_dict(cls, values: Mapping[str, Content | str]) -> FrozenPlan:
        """Undo `to_dict`.

        Raises
        ------
        InvalidInput
            If the digest is not that of the content: the plan was changed after it was frozen.
        """
        plan = cls(cast(Content, values["content"]), str(values["digest"]))
        if _digest(plan.content) != plan.digest:
            raise InvalidInput("The plan's digest does not fit its content: it was changed after it was frozen.")
        return plan


@dataclass(frozen=True)
class Deviation:
    """Something that was done otherwise than planned.

    Parameters
    ----------
    what, planned, done : str
    """

    what: str
    planned: str
    done: str

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return asdict(self)


def freeze_plan(snapshot: Mapping[str, object], settings: Mapping[str, object]) -> FrozenPlan:
    """Freeze what is asked and how it will be analysed.

    Parameters
    ----------
    snapshot : mapping
        The study: design, protocol, rules, stimuli; plain values.
    settings : mapping
        Settings of `analysis.findings.analysing.analyse`, and rules that are the lab's own; plain values.

    Returns
    -------
    FrozenPlan
        The same for equal content, whatever the order of keys.

    Raises
    ------
    InvalidInput
        If a value is not plain (text, number, truth value, list, mapping).
    """
    try:
        content = json.loads(_canonical({"study": dict(snapshot), "analysis": dict(settings)}))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"A plan holds plain values only: {error}.") from error
    return FrozenPlan(content, _digest(content))


def deviations(
    plan: FrozenPlan, findings: Findings, *, snapshot: Mapping[str, object] | None = None
) -> list[Deviation]:
    """Compare what was done with the plan.

    Parameters
    ----------
    plan : FrozenPlan
    findings : Findings
        Result of `findings.analysing.analyse`: its ``settings``, ``selection`` where the trials were chosen otherwise,
        and sessions on which a person decided otherwise than the rules.
    snapshot : mapping, optional
        The study as it stands now.

    Returns
    -------
    list of Deviation
        Settings first, then the study, then decisions by hand. A setting the plan does not name is none.
    """
    planned_settings = plan.content.get("analysis", {})
    done_settings = findings.settings.to_json() if findings.settings else {}
    if findings.selection:
        done_settings["selection"] = findings.selection
    found = []
    for name in sorted(set(planned_settings) | ({"selection"} & set(done_settings))):
        planned, done = planned_settings.get(name), done_settings.get(name)
        if name in _SILENT or (name not in done_settings and name != "selection") or planned == done:
            continue
        found.append(Deviation(_WORDS.get(name, name.replace("_", " ")), _said(planned), _said(done)))
    if snapshot is not None:
        now = json.loads(_canonical(dict(snapshot)))
        found.extend(_differing(plan.content.get("study", {}), now, ()))
    if findings.flow:
        for n, words in ((findings.flow.accepted_by_hand, "counted"), (findings.flow.excluded_by_hand, "excluded")):
            if n:
                found.append(Deviation(f"sessions {words} by hand", "the rules decide", f"{n} sessions"))
    return found


def _differing(planned: object, done: object, path: tuple[str, ...]) -> list[Deviation]:
    """Leaves that differ, named by their path."""
    if isinstance(planned, Mapping) and isinstance(done, Mapping):
        found = []
        for name in sorted(set(planned) | set(done)):
            found.extend(_differing(planned.get(name), done.get(name), (*path, str(name))))
        return found
    if planned == done:
        return []
    return [Deviation(" / ".join(path).replace("_", " "), _said(planned), _said(done))]


def _said(value: object) -> str:
    if value is None or value == {} or value == []:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _canonical(content: Mapping[str, object]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _digest(content: Mapping[str, object]) -> str:
    return hashlib.sha256(_canonical(content).encode()).hexdigest()
