"""A link to a site: what researchers fill in, the sheet for pasting, and who finished, by the ids of the site."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import get_language, gettext

from analysis.errors import InvalidInput
from analysis.study.link import SITE_CODE_LENGTH, Link, host_of_return
from humanexp.core.errors import InvalidRequest
from humanexp.core.pages.rendering import csv_file
from humanexp.core.selectors import user_of
from humanexp.ledger.hit_calls import entry_url
from humanexp.ledger.pages.money import study_page
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import campaigns_of, pay_on_leaving
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.presets import OutcomeCode, Preset, SiteTerms, address_for_site, presets
from humanexp.recruiters.tickets import Outcome
from humanexp.recruiting.people import SitePerson, list_credited, list_finished, look_up
from humanexp.studies.models import Study

#: Where the fields of a link's settings are, by setting.
_FIELDS = {name: f"link_{name}" for name in Link.model_fields}
#: Currencies by site, where it has one of its own.
_CURRENCIES = {name: preset.currency for name, preset in presets().items() if preset.currency}

_PAY = [("", "as usual there"), ("money", "money"), ("credit", "credit"), ("none", "nothing")]


def _sites() -> list[tuple[str, str]]:
    language = get_language() or "en"
    named = [(name, preset.title_in(language)) for name, preset in presets().items()]
    return [("", "No site: I hand the link out myself"), *named]


class LinkFields(forms.Form):
    """The part of a launch that is about a link."""

    link_preset = forms.ChoiceField(
        label="Which site sends the people", choices=_sites, required=False, widget=forms.RadioSelect
    )
    link_person = forms.CharField(
        label="Parameter with the person's id",
        max_length=40,
        required=False,
        help_text="The name in the address, as in ?id=123. Empty: the name that the site uses.",
    )
    link_submission = forms.CharField(
        label="Parameter with the submission's id",
        max_length=40,
        required=False,
        help_text="If the site gives each participation its own id. Empty: the name that the site uses, if any.",
    )
    link_return_address = forms.CharField(
        label="Return address",
        max_length=500,
        required=False,
        help_text=(
            "Where people go at the end, beginning with https://. {code} becomes the completion code, {person} and "
            "{submission} become their ids. Empty: the address of the site if it has one, otherwise people see a code."
        ),
    )
    link_site_code = forms.CharField(
        label="Completion code of the project there",
        max_length=SITE_CODE_LENGTH,
        required=False,
        help_text=(
            "This site makes the code itself. Make the project there first and leave it as a draft; then enter the "
            "code that it shows, or its completion address as the return address. Only people who finish see either."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    link_pay = forms.ChoiceField(label="What people get there", choices=_PAY, required=False)
    link_alternative = forms.CharField(
        label="Alternative for the same credit",
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=(
            "What people can do instead that gives the same credit, takes about as long and needs no data of theirs. "
            "Needed where credit is given; it is part of the consent."
        ),
    )
    link_reward = forms.CharField(
        label="Paid there",
        max_length=12,
        required=False,
        help_text="For one person, like 1.50. Empty: the consent names no amount.",
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    link_currency = forms.CharField(
        label="Currency",
        max_length=3,
        required=False,
        help_text="Three letters, like GBP; as your account there has it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "data-by-site": json.dumps(_CURRENCIES)}),
    )

    @property
    def credit_sites(self) -> str:
        """Sites at which credit is usual."""
        return " ".join(name for name, preset in presets().items() if preset.pay == "credit")

    @property
    def own_code_sites(self) -> str:
        """Sites that make the completion code of a project themselves."""
        return " ".join(name for name, preset in presets().items() if preset.shows_own_code)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self.link: Link | None = None
        try:
            self.link = Link.from_dict(_stated(cleaned)) if cleaned.get("link_preset") else Link()
        except InvalidInput as error:
            for place, sentence in error.fields.items():
                self.add_error(_FIELDS.get(place), sentence)
        except InvalidRequest as error:
            self.add_error("link_reward", error.message)
        return cleaned


def _stated(cleaned: dict[str, Any]) -> dict[str, Any]:
    """What was filled in, as the settings of a link are called."""
    given = {name: cleaned.get(field) for name, field in _FIELDS.items()}
    reward, currency = given.pop("reward"), str(given.pop("currency") or "").upper()
    stated = {name: value for name, value in given.items() if value}
    if reward:
        stated |= {"reward": money.cents(str(reward))}
    # the field has the site's currency, whether or not anybody is paid
    return stated | ({"currency": currency} if reward and currency else {})


def link_initial(link: Link) -> dict[str, Any]:
    """The fields as the study's file suggests them."""
    values = link.to_dict()
    reward = values.pop("reward", None)
    usual = {"link_currency": _CURRENCIES.get(link.preset, "")}
    return {**usual, **{_FIELDS[name]: value for name, value in values.items()}} | (
        {} if reward is None else {"link_reward": money.decimal(int(str(reward)))}
    )


def host_typed(data: Any) -> str:
    """Where people would go back to by what the form holds now; empty where it names no address that can be used."""
    preset = presets().get(data.get("link_preset") or "")
    address = data.get("link_return_address") or (preset.return_address if preset else "")
    try:
        return host_of_return(address) if preset and address else ""
    except ValueError:
        return ""


#: Outcomes as researchers read them.
OUTCOMES: dict[Outcome, str] = {
    Outcome.FINISHED: "finished",
    Outcome.PRACTICE_FAILED: "ended after the practice",
    Outcome.QUALIFICATION_FAILED: "ended after the qualification",
    Outcome.LEFT: "stopped before the end",
    Outcome.TECHNICAL_FAILURE: "our technical failure",
    Outcome.NO_CONSENT: "no consent",
    Outcome.WRONG_DEVICE: "wrong device",
    Outcome.ALREADY_TOOK_PART: "took part before",
    Outcome.FULL: "no place left",
    Outcome.CLOSED: "study closed",
    Outcome.INELIGIBLE: "not eligible",
}
_PAID = {
    "full": "the full reward",
    "nothing": "nothing",
    "decided": "a bonus that you decide",
    "leaving": "nothing",
}
_PAID_ON_LEAVING = {"share": "a bonus for their time", "full": "the full reward, as a bonus"}


@dataclass(frozen=True, kw_only=True)
class SheetLine:
    """One completion code, and what is set for it there."""

    outcome: str
    code: str
    code_type: str
    action: str
    paid: str


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Everything that is pasted at a site."""

    campaign: Campaign
    preset: Preset
    title: str
    steps: list[str]
    address: str
    return_address: str
    host: str
    lines: list[SheetLine]
    reward: str


def turned_away(campaign: Campaign) -> list[tuple[str, int]]:
    """Outcome and how often, where that is more than never."""
    return [(OUTCOMES[one], campaign.turned_away[one]) for one in Outcome if one in campaign.turned_away]


def sheet_of(campaign: Campaign, terms: SiteTerms) -> Sheet:
    preset, leaving = terms.site, pay_on_leaving(campaign.study)
    return Sheet(
        campaign=campaign,
        preset=preset,
        title=title_of(preset),
        steps=preset.steps_in(get_language() or "en"),
        address=address_for_site(entry_url(campaign), terms.parameters, preset.placeholders),
        return_address=terms.return_address,
        host=terms.host,
        lines=[_line(preset, one, terms.codes[one], leaving) for one in OUTCOMES] if preset.asks_for_codes else [],
        reward=terms.reward_told,
    )


def _line(preset: Preset, outcome: Outcome, row: OutcomeCode, leaving: str) -> SheetLine:
    is_leaving = row.paid == "leaving" and leaving in _PAID_ON_LEAVING
    return SheetLine(
        outcome=OUTCOMES[outcome],
        code=row.code,
        code_type=preset.code_types.get(outcome, ""),
        action=preset.actions[row.action],
        paid=_PAID_ON_LEAVING[leaving] if is_leaving else _PAID[row.paid],
    )


def title_of(preset: Preset) -> str:
    return preset.title_in(get_language() or "en")


COLUMNS = ("id", "submission", "finished", "code", "suggested_bonus", "currency")


@study_page("GET")
def sheet(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """What is pasted at the site, and in which order."""
    return render(request, "recruitment/sheet.html", {"study": study, "sheet": sheet_of(*_sent(study, pk))})


@study_page("GET", "POST")
def finished(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Whether somebody has finished, by an id that comes in a form's body: no address holds one."""
    campaign, terms = _sent(study, pk)
    context: dict[str, Any] = {"study": study, "campaign": campaign, "terms": terms}
    status = 200
    if request.method == "POST":
        said = request.POST.get("id", "").strip()[:80]
        context |= {"said": said, "is_asked": True}
        try:
            found = look_up(campaign=campaign, said=said, by=user_of(request))
        except InvalidRequest as error:
            context["complaint"], status = gettext(error.message), 422
        else:
            context |= {"found": found, "bonus": _amount(found.bonus) if found else ""}
    return render(request, "recruitment/finished.html", context, status=status)


@study_page("POST")
def finished_csv(request: HttpRequest, study: Study, pk: int) -> StreamingHttpResponse:
    """Everybody as a file. Of a course, only who has earned credit."""
    campaign, terms = _sent(study, pk)
    if terms.pay == "credit":
        ids = list_credited(campaign=campaign, by=user_of(request))
        return csv_file(f"{study.slug}-credit.csv", ("id", "credit"), [(one, "yes") for one in ids])
    people = list_finished(campaign=campaign, by=user_of(request))
    return csv_file(f"{study.slug}-finished.csv", COLUMNS, [_row(terms, one) for one in people])


def _sent(study: Study, pk: int) -> tuple[Campaign, SiteTerms]:
    """A campaign by a link to a site, and how people come and go there."""
    campaign = get_object_or_404(campaigns_of(study).select_related("study"), pk=pk)
    terms = campaign.site
    if terms is None or not registry.asks(campaign.environment, "link_preset"):
        raise Http404
    return campaign, terms


def _row(terms: SiteTerms, one: SitePerson) -> tuple[str, ...]:
    said = {True: "yes", False: "no", None: "under way"}[one.is_finished]
    bonus = "decide" if one.bonus is None else _amount(one.bonus)
    return one.person, one.submission, said, one.code, bonus, terms.currency if bonus else ""


def _amount(bonus: int | None) -> str:
    return money.decimal(bonus) if bonus else ""
