"""What the first people of a study, or of an earlier one of its family, tell about its reward and its time limit."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _, ngettext

from analysis.campaigns import quantile, reward_for
from analysis.spec.terms import Terms
from humanexp.recruitment import money
from humanexp.recruitment.selectors.campaigns import ENOUGH, minutes_worked, slow_minutes
from humanexp.studies import selectors as studies
from humanexp.studies.models import Population, Study

#: From so many people on, their times suggest something.
PILOT_FROM = 5
#: The reward pays the planned hour to those who take as long as this share of the people, or less.
REWARDED = 0.65
#: Whom a recruiter ends after the time of a place, it ends after so many times what nine of ten took.
ROOM = 3


@dataclass(frozen=True, kw_only=True)
class Pilot:
    """Times of the people who were measured first. Without enough of them, there are no figures."""

    #: whose time is known
    people: int
    #: the earlier study that they took part in; None: this one, where they count
    elsewhere: Study | None
    #: planned pay of an hour, in the smallest unit of a currency
    hourly_cents: int
    #: of work, without breaks: 65 of 100 took at most as long
    working_minutes: float | None = None
    #: from opening to the end: 9 of 10 took at most as long
    slow_minutes: float | None = None

    @property
    def reward_cents(self) -> int | None:
        """What the planned hour comes to in the time that 65 of 100 took at most."""
        if self.working_minutes is None:
            return None
        return reward_for(self.working_minutes, self.hourly_cents)

    @property
    def least_minutes(self) -> float | None:
        """Time that a place lasts at least."""
        return None if self.slow_minutes is None else ROOM * self.slow_minutes

    def words(self, currency: str) -> str:
        """With all its numbers; that it suggests nothing, where too few people are known."""
        where = _(" in %(study)s") % {"study": self.elsewhere.slug} if self.elsewhere else ""
        counts = {"n": self.people, "where": where, "least": PILOT_FROM}
        if self.reward_cents is None or self.least_minutes is None:
            few = ngettext(
                "The time of %(n)d person is known%(where)s; from %(least)d people on, a reward is suggested.",
                "The times of %(n)d people are known%(where)s; from %(least)d people on, a reward is suggested.",
                self.people,
            )
            return few % counts
        text = _(
            "Of %(n)d people%(where)s, 65 %% worked at most %(working)s minutes: at %(hourly)s an hour this is "
            "%(reward)s. 90 %% needed at most %(slow)s minutes with breaks: a place should last %(allowed)d minutes."
        )
        return text % {
            **counts,
            "working": f"{self.working_minutes:.1f}",
            "hourly": money.shown(self.hourly_cents, currency),
            "reward": money.shown(self.reward_cents, currency),
            "slow": f"{self.slow_minutes:.1f}",
            "allowed": -int(-self.least_minutes // 1),
        }


def pilot_of(study: Study) -> Pilot:
    """Of this study where enough have finished it, else of the newest other one of its family with enough."""
    hourly, most = planned_hourly_cents(study), Pilot(people=0, elsewhere=None, hourly_cents=0)
    others = Study.objects.filter(family=study.family_id, population=Population.PEOPLE).exclude(pk=study.pk)
    for one in (study, *others.order_by("-version", "-pk")):
        minutes = sorted(minutes_worked(one, ENOUGH).values())
        elsewhere = None if one.pk == study.pk else one
        if len(minutes) >= PILOT_FROM:
            return Pilot(
                people=len(minutes),
                elsewhere=elsewhere,
                hourly_cents=hourly,
                working_minutes=quantile(minutes, REWARDED),
                slow_minutes=slow_minutes(study),
            )
        if len(minutes) > most.people:
            most = Pilot(people=len(minutes), elsewhere=elsewhere, hourly_cents=hourly)
    return most


def planned_pilot(study: Study) -> int | None:
    """Places of the pilot that a study's plan begins with, as long as too few times are known; None: no pilot now."""
    places = (study.configuration.get("recruitment") or {}).get("pilot_places")
    if not places or study.population != Population.PEOPLE or pilot_of(study).people >= PILOT_FROM:
        return None
    return int(places)


def planned_hourly_cents(study: Study) -> int:
    """As the plan says it, or as its reward and its minutes give it; in the smallest unit of a currency."""
    terms = studies.configuration_of(study).recruitment if study.configuration else Terms()
    return terms.planned_hourly_cents
