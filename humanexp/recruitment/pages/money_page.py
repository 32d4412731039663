"""The money page of a study, or of all studies: what was promised, owed and paid, and its statements as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from humanexp.recruitment import money, recruiters, selectors
from humanexp.recruitment.models import Campaign, LinkTerms
from humanexp.recruitment.pages.monitor import owed_lines
from humanexp.recruitment.recruiters.presets import preset_called
from humanexp.recruitment.selectors.statements import By, StatementLine, statement, totals
from humanexp.studies.models import Study

#: Lines of a statement on the page; its file has them all.
SHOWN = 50
#: Of a study, and of all together: people have a code in each family, so they are told study by study.
OF_STUDY: tuple[By, ...] = ("recruiter", "month", "person")
OF_ALL: tuple[By, ...] = ("recruiter", "month", "study")
_TITLES: Mapping[By, tuple[str | Promise, str | Promise]] = {
    "recruiter": (_("By recruiter"), _("Recruiter")),
    "month": (_("By month"), _("Month (UTC)")),
    "person": (_("By person"), _("Person")),
    "study": (_("By study"), _("Study")),
}
COLUMNS = (
    "key",
    "recruiter",
    "currency",
    "payments",
    "promised_cents",
    "owed_cents",
    "paid_cents",
    "fee_cents",
    "tax_cents",
    "refused_cents",
    "total_cents",
)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A table of the page."""

    by: By
    lines: Sequence[StatementLine]
    #: lines of the file that are not on the page
    beside: int

    @property
    def title(self) -> str | Promise:
        return _TITLES[self.by][0]

    @property
    def head(self) -> str | Promise:
        return _TITLES[self.by][1]


@dataclass(frozen=True, kw_only=True)
class Way:
    """How people are paid through one account, in words that are true there."""

    name: str
    words: str | Promise


def page_of(study: Study | None) -> dict[str, Any]:
    """What a page shows; of all studies where none is given."""
    kinds = OF_STUDY if study is not None else OF_ALL
    by_recruiter = statement("recruiter", study)
    found = [_statement(by, by_recruiter if by == "recruiter" else statement(by, study)) for by in kinds]
    context: dict[str, Any] = {"study": study, "totals": totals(by_recruiter), "statements": found}
    if study is None:
        return {**context, "ways": _ways({line.environment for line in by_recruiter})}
    tally = selectors.tally_of(study)
    environments = {campaign.environment for campaign in tally.campaigns.values()}
    moneys = selectors.money_of(tally)
    return {
        **context,
        "ways": [*_ways(environments), *_sites(study)],
        "policy": selectors.policy_of(study).words(moneys[0].currency),
        "owed": owed_lines(selectors.owed(study)),
        "pay": [(one, selectors.wage_of(study, tally, one.currency)) for one in moneys],
        "pays": any(recruiters.capabilities_of(one).pays for one in environments),
    }


def rows_of(by: By, study: Study | None) -> Iterator[dict[str, Any]]:
    """A statement as columns for a file."""
    for line in statement(by, study):
        row = {name: getattr(line, name) for name in COLUMNS if name not in ("key", "recruiter")}
        yield {by: line.key, "recruiter": line.environment, **row}


def columns_of(by: By) -> list[str]:
    """The first names what a line is about; of a statement by recruiter that is the recruiter."""
    return list(dict.fromkeys([by, *COLUMNS[1:]]))


def _statement(by: By, lines: Sequence[StatementLine]) -> Statement:
    return Statement(by=by, lines=lines[:SHOWN], beside=max(0, len(lines) - SHOWN))


def _ways(environments: set[str]) -> Iterator[Way]:
    for environment in sorted(environments):
        can = recruiters.capabilities_of(environment)
        if not can.pays:
            continue
        words = (
            _("An approval pays the person: the recruiter hands the money out and charges the account.")
            if can.pays_out
            else _(
                "An approval is a debt. You pay it out in your own way, and write that down at the recruiter's desk."
            )
        )
        yield Way(name=recruiters.name_of(environment), words=words)


def _sites(study: Study) -> Iterator[Way]:
    """Links: their money moves at the site that sent the people, and never through the ledger."""
    by_link = Campaign.objects.filter(study=study).exclude(recruiters.at(pays=True))
    for terms in LinkTerms.objects.filter(campaign__in=by_link).order_by("pk"):
        name = preset_called(terms.preset).label
        if terms.pay == "money" and terms.reward is not None:
            amount = money.shown(terms.reward, terms.currency)
            said = _("You pay people there, %(amount)s each by the terms of the link. None of it is in this ledger.")
            yield Way(name=name, words=said % {"amount": amount})
        elif terms.pay == "money":
            yield Way(name=name, words=_("You pay people there. None of it is in this ledger."))
        elif terms.pay == "credit":
            yield Way(name=name, words=_("People get credit there, and no money."))
        else:
            yield Way(name=name, words=_("People are not paid."))
