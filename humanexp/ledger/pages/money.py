"""The money page of a study or of all; and what pages of a study share: who may see one, refusals, typed sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, get_args

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template.defaultfilters import capfirst
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_http_methods

from humanexp.core.errors import ApplicationError, InvalidRequest, NotAllowed
from humanexp.core.models import record
from humanexp.core.ownership import keeps_money
from humanexp.core.pages.rendering import Column, Table
from humanexp.core.selectors import user_of
from humanexp.ledger.figures import By, StatementLine, money_of, statement, statements, totals
from humanexp.ledger.owed import Owed, Why, owed, sums_of
from humanexp.ledger.payments import tally_of
from humanexp.ledger.terms import policy_of
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.money import shown
from humanexp.studies.models import Study
from humanexp.studies.selectors import visible_to

P = ParamSpec("P")
StudyView = Callable[Concatenate[HttpRequest, Study, P], HttpResponseBase]


def study_page(*methods: str) -> Callable[[StudyView[P]], Callable[..., HttpResponseBase]]:
    """A page of one study, for accounts that may see it; to all others that study is not there."""

    def decorate(view: StudyView[P]) -> Callable[..., HttpResponseBase]:
        @login_required
        @require_http_methods(methods)
        @wraps(view)
        def page(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            study = visible_to(request.user).filter(slug=slug).first()
            if study is None:
                raise Http404
            return view(request, study, *args, **kwargs)

        return page

    return decorate


def whole_number(text: str | None) -> int | None:
    """What a page has sent back; None for anything that is no number of ours."""
    return int(text) if text and text.isdecimal() and len(text) < 18 else None


@contextmanager
def refusals_told(request: HttpRequest) -> Iterator[None]:
    """A refusal becomes a sentence above the page that is shown next."""
    try:
        yield
    except ApplicationError as error:
        messages.error(request, error.message)


class MoneyField(forms.CharField):
    """Money as people type it; integer minor units as the program keeps it."""

    def __init__(self, **options: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        super().__init__(**{"widget": widget, **options})

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            return money.cents(text)
        except InvalidRequest as error:
            raise forms.ValidationError(error.message) from error


class EqualTopUpForm(forms.Form):
    """The total of a top-up: as the page showed it, and typed where money is real."""

    shown_total = forms.IntegerField(widget=forms.HiddenInput)
    confirm_total = MoneyField(label="Type the total to confirm", required=False)


def owed_lines(rows: Sequence[Owed]) -> list[tuple[str, int, dict[str, int]]]:
    """By what it is owed for: how many people, and what it comes to in each currency."""
    found = ((why, [row for row in rows if row.why is why]) for why in Why)
    return [(why.label, len(some), sums_of(some)) for why, some in found if some]


#: Lines of a statement on the page; its file has them all.
SHOWN = 50
#: Of a study, and of all together: people have a code in each family, so they are told study by study.
OF_STUDY: tuple[By, ...] = ("recruiter", "month", "person")
OF_ALL: tuple[By, ...] = ("recruiter", "month", "study")


def _money(head: str, name: str) -> Column:
    return Column(head, lambda line: shown(getattr(line, name), line.currency), "n", name, name)


def columns_of(by: By) -> list[Column]:
    """Of a statement: the first says what a line is about, which of a statement by recruiter is the recruiter."""
    about = Column(_HEADS[by], _ABOUT.get(by, lambda line: line.key or "–"), "row", by, "key")
    recruiter = Column("Recruiter", _recruiter, "row" if by == "recruiter" else "", "recruiter", "environment")
    return [
        *([] if by == "recruiter" else [about]),
        recruiter,
        Column(name="currency"),
        Column("Payments", lambda line: f"{line.payments:,}", "n", "payments", "payments"),
        _money("Promised", "promised_cents"),
        _money("Owed", "owed_cents"),
        _money("Paid", "paid_cents"),
        _money("Fees", "fee_cents"),
        _money("Tax", "tax_cents"),
        _money("Refused", "refused_cents"),
        _money("Owed or paid, with fees and tax", "total_cents"),
    ]


def _recruiter(line: StatementLine) -> str:
    return capfirst(registry.name_of(line.environment)) if line.environment else f"All in {line.currency}"


def _study(line: StatementLine) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse("recruitment:money", args=[line.key]), line.key)


_HEADS: Mapping[By, str] = {"recruiter": "Recruiter", "month": "Month (UTC)", "person": "Person", "study": "Study"}
_ABOUT: Mapping[By, Callable[[StatementLine], str]] = {"study": _study}


def page_of(study: Study | None) -> dict[str, Any]:
    """What a page shows; of all studies where none is given."""
    kinds = OF_STUDY if study is not None else OF_ALL
    lines = statements(kinds, study)
    by_recruiter = lines["recruiter"]
    sums = totals(by_recruiter)
    found = [_statement(by, lines[by], study, sums) for by in kinds]
    context: dict[str, Any] = {"study": study, "totals": sums, "statements": found}
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
        "pay": moneys,
        "pays": any(registry.asks(one, "reward") for one in environments),
    }


def _statement(
    by: By, lines: Sequence[StatementLine], study: Study | None, sums: Sequence[StatementLine]
) -> dict[str, Any]:
    """A table of the page, where its file is, and how many lines are only there."""
    return {
        "by": by,
        "table": Table(columns_of(by), lines[:SHOWN], sums if by == "recruiter" else ()),
        "beside": max(0, len(lines) - SHOWN),
        "address": reverse("recruitment:all-money-csv", args=[by])
        if study is None
        else reverse("recruitment:money-csv", args=[study.slug, by]),
    }


def _ways(environments: set[str]) -> Iterator[tuple[str, str]]:
    """How people are paid through each account, in words that are true there."""
    for environment in sorted(environments):
        if words := str(registry.kind_of(environment).words.approval):
            yield registry.name_of(environment), words


def _sites(study: Study) -> Iterator[tuple[str, str]]:
    """Links: their money moves at the site that sent the people, and never through the ledger."""
    by_link = Campaign.objects.filter(registry.asking("link_preset"), study=study)
    for terms in filter(None, (campaign.site for campaign in by_link.order_by("pk"))):
        said = {"money": "You pay people there.", "credit": "People get credit there, and no money."}.get(terms.pay)
        if terms.pay == "money":
            if terms.reward is not None:
                said = f"You pay people there, {shown(terms.reward, terms.currency)} each by the terms of the link."
            said = f"{said} None of it is in this ledger."
        yield terms.site.label, said or "People are not paid."


@study_page("GET")
def study_money(request: HttpRequest, study: Study) -> HttpResponse:
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
            "Only treasurers and administrators can see the money of all studies. Each study has its own page."
        )


def _file(named: str, kinds: tuple[By, ...], study: Study | None) -> StreamingHttpResponse:
    by = next((one for one in get_args(By) if one == named and one in kinds), None)
    if by is None:
        raise Http404
    return Table(columns_of(by), statement(by, study)).file(
        f"{study.slug if study else 'all-studies'}-money-by-{by}.csv"
    )
