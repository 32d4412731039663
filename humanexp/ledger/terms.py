"""What a study says of money: terms that a launch starts from, what its pilot tells, and when people are paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum

from analysis.campaigns import quantile, reward_for
from analysis.study.link import Link
from analysis.study.terms import SettlePolicy, Terms
from humanexp.core import clock
from humanexp.ledger.models import CallKind, Payment
from humanexp.ledger.payments import Tally, free_sessions
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import ENOUGH, advertisement, estimated_minutes, minutes_worked, slow_minutes
from humanexp.recruiters.models import Assignment, Hit
from humanexp.recruiters.registry import currency_of
from humanexp.recruiters.states import AssignmentState, WriteState
from humanexp.screening.models import Verdict
from humanexp.studies.models import Population, Study
from humanexp.studies.selectors import configuration_of

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
        where = f" in {self.elsewhere.slug}" if self.elsewhere else ""
        counts = {"n": self.people, "where": where, "least": PILOT_FROM}
        if self.reward_cents is None or self.least_minutes is None:
            few = (
                "The time of %(n)d person is known%(where)s; from %(least)d people on, a reward is suggested."
                if self.people == 1
                else "The times of %(n)d people are known%(where)s; from %(least)d people on, a reward is suggested."
            )
            return few % counts
        text = (
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
    terms = configuration_of(study).recruitment if study.configuration else Terms()
    return terms.planned_hourly_cents


@dataclass(frozen=True, kw_only=True)
class SuggestedTerms:
    """What a launch starts from; everything can be changed on the page."""

    title: str
    description: str
    keywords: str
    estimated_minutes: int
    reward_cents: int
    assignments: int
    #: sessions of the plan that are free: as many as may be offered
    free_sessions: int
    #: whom a participant can write to
    contact: str
    #: of a link: which site sends the people
    link: Link


#: Offers that a form lists, newest first.
MOST_OFFERS = 200


def offers_that_choose_people(studies: QuerySet[Study]) -> list[Hit]:
    """Of these studies, published where a launch can be open to those alone who began an earlier one, or did not."""
    at_these = Hit.objects.filter(registry.asking("took_part_in"), campaign__study__in=studies).exclude(hit_id="")
    return list(at_these.select_related("campaign").order_by("-pk")[:MOST_OFFERS])


def suggested_terms(study: Study, tally: Tally | None = None) -> SuggestedTerms:
    """From the study's own `[recruitment]` table where it has one, else from the people before, else from its length.

    `tally`: as for `free_sessions`.
    """
    stated = study.configuration.get("recruitment") or {}
    minutes = int(stated.get("estimated_minutes") or estimated_minutes(study))
    free = free_sessions(study, tally)
    reward_cents = stated.get("reward_cents")
    if reward_cents is None:
        reward_cents = pilot_of(study).reward_cents
    if reward_cents is None:
        reward_cents = round(planned_hourly_cents(study) * minutes / 60 / 5) * 5
    places = int(stated.get("assignments") or free)
    most = planned_pilot(study)
    return SuggestedTerms(
        title=str(stated.get("title") or study.title)[:128],
        description=str(stated.get("description") or advertisement(study)),
        keywords=str(stated.get("keywords") or "research, psychology, vision, pictures, perception"),
        estimated_minutes=minutes,
        reward_cents=int(reward_cents),
        assignments=min(places, free, places if most is None else most),
        free_sessions=free,
        contact=str(stated.get("contact") or settings.CONTACT)[:200],
        link=Link.from_dict(stated.get("link") or {}),
    )


#: Whoever is due is paid within this.
WITHIN = timedelta(hours=1)
#: The cap of an hourly policy is on what was promised without a person since so long.
CAP_OVER = timedelta(hours=24)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Of one study."""

    kind: SettlePolicy = "hand"
    #: from the submission
    after: timedelta = timedelta()
    #: in each currency; None: no cap
    cap_cents: int | None = None

    def due(self, finished: str) -> Q:
        """Whom the job pays now; `finished`: the field that tells when somebody was done."""
        if self.kind == "verdict":
            # nobody judges what time cut short
            judged = Exists(Verdict.objects.filter(session=OuterRef("session"), is_current=True))
            return Q(judged) | Q(session__out_of_time=True)
        return Q(**{f"{finished}__lte": clock.now() - self.after})

    def words(self, currency: str) -> str:
        """What a person who launches the study should know; the cap in the currency of the launch."""
        match self.kind:
            case "hand":
                return (
                    "You release each payment in Monitor. Without you, people are paid after the days that the launch "
                    "sets."
                )
            case "verdict":
                return (
                    "Everyone is paid within an hour after their session has a verdict, whichever it is. If the "
                    "recruiter does not answer, within an hour after it does."
                )
        hours = round((self.after + WITHIN) / timedelta(hours=1))
        said = (
            f"Everyone is paid within {hours} hour{'' if hours == 1 else 's'} after they submitted. If the recruiter "
            "does not answer, within an hour after it does."
        )
        if self.cap_cents is None:
            return said
        cap = money.shown(self.cap_cents, currency)
        return f"{said} At most {cap} in 24 hours; what is beyond it waits for you."


def policy_of(study: Study) -> Policy:
    stated = study.configuration.get("recruitment") or {}
    return Policy(
        kind=cast(SettlePolicy, stated.get("settle", "hand")),
        after=timedelta(hours=stated.get("settle_after_hours", 0)),
        cap_cents=stated.get("settle_cap_cents"),
    )


def settled_by_jobs() -> QuerySet[Study]:
    """Studies in which a job pays and somebody has submitted, or ran out of time, who may not be paid yet."""
    automatic = Study.objects.filter(configuration__recruitment__settle__in=["verdict", "hourly"])
    unpaid = (AssignmentState.SUBMITTED, AssignmentState.TIMED_OUT)
    waiting = Assignment.objects.filter(campaign__study=OuterRef("pk"), state__in=unpaid)
    return automatic.filter(Exists(waiting)).order_by("pk")


def released_cents(study: Study, currency: str) -> int:
    """Rewards that were promised without a person in the last 24 hours, with fees."""
    return _released([study]).get((study.pk, currency), 0)


def _released(studies: Collection[Study]) -> Mapping[tuple[int, str], int]:
    rows = Payment.objects.filter(
        campaign__study__in=studies,
        kind=CallKind.REWARD,
        created_by=None,
        created_at__gt=clock.now() - CAP_OVER,
    ).exclude(state=WriteState.REFUSED)
    sums: Counter[tuple[int, str]] = Counter()
    groups = rows.order_by().values_list("campaign__study", "environment")
    for study, environment, cents in groups.annotate(cents=Sum(F("amount_cents") + F("fee_cents"))):
        sums[study, currency_of(environment)] += cents
    return sums
