"""Who counts and who does not: the flow from opened sessions to answers on the curves, as boxes."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils.translation import gettext as _, ngettext

from analysis.acceptance.rules import PRACTICE_NOT_PASSED
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import AskedObserver, Exclusion, Flow, SessionCounts


@dataclass(frozen=True)
class Leaving:
    """Sessions that leave the flow at a step."""

    label: str
    count: int
    #: reason by which the sessions can be listed; empty where they cannot
    shown: str = ""


@dataclass(frozen=True)
class Step:
    """A box of the flow: how many, of what, and who left before it."""

    label: str
    count: int
    unit: str
    left: tuple[Leaving, ...] = field(default=())
    #: what became of those who left
    left_label: str = ""

    @property
    def left_total(self) -> int:
        return sum(one.count for one in self.left)


def flow_of(findings: Findings, *, all_count: bool = False) -> list[Step]:
    """Steps from sessions that were opened to answers that stand in the curves; empty for imported trials.

    `all_count`: the analysis counts excluded sessions, too; they are told, and nobody leaves.
    """
    flow = findings.flow or _of_counts(findings.sessions)
    if flow is None:
        return []
    sessions = _("sessions")
    excluded = tuple(Leaving(one.reason, one.n, one.reason) for one in flow.excluded)
    steps = [
        Step(_("opened"), flow.opened, sessions),
        Step(
            _("finished"),
            flow.finished,
            sessions,
            left_label=_("left"),
            left=_some(
                Leaving(_("under way"), flow.unfinished - flow.left),
                Leaving(_("left before the end, answers kept"), flow.left),
                Leaving(_("withdrawn"), flow.withdrawn),
                Leaving(_("not listed by the recruiter"), flow.unverified),
                Leaving(_("practice not passed"), flow.practice_not_passed, PRACTICE_NOT_PASSED),
            ),
        ),
        Step(
            _("count"),
            flow.finished - flow.unjudged if all_count else flow.accepted,
            sessions,
            left_label=_("left"),
            left=(*_some(Leaving(_("not judged yet"), flow.unjudged)), *(() if all_count else excluded)),
        ),
    ]
    if findings.trials:
        persons = _some(Leaving(_("answers to sentinels of persons, in no curve"), findings.trials.persons))
        steps.append(Step(_("stand in the curves"), findings.trials.in_accepted_sessions, _("answers"), persons))
    return steps


def asked_flow_of(one: AskedObserver) -> list[Step]:
    """Steps from trials that a model was asked about to those that it answered; the others stay, as wrong answers."""
    trials, unit = one.trials, _("trials")
    return [
        Step(_("asked"), trials.asked, unit),
        Step(
            _("answered with a label"),
            trials.answered,
            unit,
            left_label=_("without a label, counted as wrong"),
            left=_some(
                Leaving(_("refused"), trials.refused),
                Leaving(_("unreadable"), trials.unreadable),
                Leaving(_("empty, or labels that score alike"), trials.missed),
            ),
        ),
    ]


def _some(*leaving: Leaving) -> tuple[Leaving, ...]:
    return tuple(one for one in leaving if one.count)


def _of_counts(sessions: SessionCounts | None) -> Flow | None:
    """The flow from the counts alone, as older analyses stored them."""
    if sessions is None or sessions.under_way is None or sessions.completed is None:
        return None
    judged = sessions.accepted + sum(sessions.excluded.values())
    return Flow(
        opened=sessions.opened,
        finished=sessions.completed,
        submitted=sessions.submitted or 0,
        withdrawn=sessions.withdrawn,
        unfinished=sessions.under_way,
        unjudged=max(0, sessions.completed - judged),
        accepted=sessions.accepted,
        excluded=tuple(Exclusion(reason=reason, n=count) for reason, count in sessions.excluded.items()),
    )


def withdrawn_sentence(count: int) -> str:
    """What stands wherever the numbers of an earlier analysis do; empty where nobody has withdrawn since."""
    if not count:
        return ""
    told = ngettext(
        "%(count)s session was withdrawn since: this analysis was made with it.",
        "%(count)s sessions were withdrawn since: this analysis was made with them.",
        count,
    )
    return told % {"count": count}
