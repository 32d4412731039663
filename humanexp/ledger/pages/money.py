"""The money page of a study, or of all studies: what was promised, owed and paid, and its statements as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _
from django.views.decorators.http import require_GET

from humanexp.core.audit import record
from humanexp.core.errors import NotAllowed
from humanexp.core.ownership import keeps_money
from humanexp.core.pages.csv_files import csv_file
from humanexp.core.selectors import user_of
from humanexp.ledger.figures import By, StatementLine, money_of, statement, totals
from humanexp.ledger.owed import Owed, Why, owed, sums_of
from humanexp.ledger.pages.studies import study_page
from humanexp.ledger.payments import tally_of
from humanexp.ledger.terms import policy_of
from humanexp.ledger.wages import wage_of
from humanexp.recruiters import registry
from humanexp.recruiters.models.campaigns import Campaign
from humanexp.recruiters.money import shown
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class OwedLine:
    """Of one reason: how many people, and what it comes to in each currency."""

    label: str | Promise
    people: int
    sums: dict[str, int]


def owed_lines(rows: Sequence[Owed]) -> list[OwedLine]:
    """By what it is owed for."""
    found = ((why, [row for row in rows if row.why is why]) for why in Why)
    return [OwedLine(label=why.label, people=len(some), sums=sums_of(some)) for why, some in found if some]


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
    tally = tally_of(study)
    environments = {campaign.environment for campaign in tally.campaigns.values()}
    moneys = money_of(tally)
    return {
        **context,
        "ways": [*_ways(environments), *_sites(study)],
        "policy": policy_of(study).words(moneys[0].currency),
        "owed": owed_lines(owed(study)),
        "pay": [(one, wage_of(study, tally, one.currency)) for one in moneys],
        "pays": any(registry.asks(one, "reward") for one in environments),
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
        if words := str(registry.kind_of(environment).words.approval):
            yield Way(name=registry.name_of(environment), words=words)


def _sites(study: Study) -> Iterator[Way]:
    """Links: their money moves at the site that sent the people, and never through the ledger."""
    by_link = Campaign.objects.filter(registry.asking("link_preset"), study=study)
    for terms in filter(None, (campaign.site for campaign in by_link.order_by("pk"))):
        name = terms.site.label
        if terms.pay == "money" and terms.reward is not None:
            amount = shown(terms.reward, terms.currency)
            said = _("You pay people there, %(amount)s each by the terms of the link. None of it is in this ledger.")
            yield Way(name=name, words=said % {"amount": amount})
        elif terms.pay == "money":
            yield Way(name=name, words=_("You pay people there. None of it is in this ledger."))
        elif terms.pay == "credit":
            yield Way(name=name, words=_("People get credit there, and no money."))
        else:
            yield Way(name=name, words=_("People are not paid."))


@study_page("GET")
def money(request: HttpRequest, study: Study) -> HttpResponse:
    """What the study promised, owes and paid, by recruiter, month and person."""
    return render(request, "recruitment/money.html", page_of(study))


@study_page("GET")
def money_csv(request: HttpRequest, study: Study, by: str) -> StreamingHttpResponse:
    """A statement of the study; the table of addresses enters the download in the record."""
    return _file(by, OF_STUDY, study)


@login_required
@require_GET
def all_money(request: HttpRequest) -> HttpResponse:
    """The same over all studies."""
    _check_treasurer(request)
    return render(request, "recruitment/money.html", page_of(None))


@login_required
@require_GET
def all_money_csv(request: HttpRequest, by: str) -> StreamingHttpResponse:
    _check_treasurer(request)
    reply = _file(by, OF_ALL, None)
    record(action="export", subject="money.csv", by=user_of(request))
    return reply


def _check_treasurer(request: HttpRequest) -> None:
    if not keeps_money(request.user):
        raise NotAllowed(
            gettext("Only treasurers and administrators can see the money of all studies. Each study has its own page.")
        )


def _file(named: str, kinds: tuple[By, ...], study: Study | None) -> StreamingHttpResponse:
    by = next((one for one in get_args(By) if one == named and one in kinds), None)
    if by is None:
        raise Http404
    columns = columns_of(by)
    rows = ([row.get(column) for column in columns] for row in rows_of(by, study))
    return csv_file(f"{study.slug if study else 'all-studies'}-money-by-{by}.csv", columns, rows)
