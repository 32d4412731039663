"""What pages say of a link to a site: what is pasted there, where people go back to, and who was turned away."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy as _

from humanexp.recruitment import money, selectors
from humanexp.recruitment.facts import pay_on_leaving
from humanexp.recruitment.models import Campaign, LinkTerms, OutcomeCode
from humanexp.recruitment.recruiters.presets import Preset, address_for_site
from humanexp.recruitment.recruiters.tickets import Outcome
from humanexp.recruitment.services.deliveries import entry_url

#: Outcomes as researchers read them.
OUTCOMES: dict[Outcome, Promise] = {
    Outcome.FINISHED: _("finished"),
    Outcome.PRACTICE_FAILED: _("ended after the practice"),
    Outcome.QUALIFICATION_FAILED: _("ended after the qualification"),
    Outcome.LEFT: _("stopped before the end"),
    Outcome.TECHNICAL_FAILURE: _("our technical failure"),
    Outcome.NO_CONSENT: _("no consent"),
    Outcome.WRONG_DEVICE: _("wrong device"),
    Outcome.ALREADY_TOOK_PART: _("took part before"),
    Outcome.FULL: _("no place left"),
    Outcome.CLOSED: _("study closed"),
    Outcome.INELIGIBLE: _("not eligible"),
}
_PAID = {
    "full": _("the full reward"),
    "nothing": _("nothing"),
    "decided": _("a bonus that you decide"),
    "leaving": _("nothing"),
}
_PAID_ON_LEAVING = {"share": _("a bonus for their time"), "full": _("the full reward, as a bonus")}


@dataclass(frozen=True, kw_only=True)
class Site:
    """A site in one line."""

    title: str
    host: str
    #: outcome and how often, where that is more than never
    turned_away: list[tuple[Promise, int]]


@dataclass(frozen=True, kw_only=True)
class SheetLine:
    """One completion code, and what is set for it there."""

    outcome: Promise
    code: str
    code_type: str
    action: str
    paid: Promise


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


def site_of(campaign: Campaign) -> Site | None:
    terms = LinkTerms.of(campaign)
    if terms is None:
        return None
    turned = campaign.outcome_codes.filter(turned_away__gt=0).values_list("outcome", "turned_away")
    return Site(
        title=_title(selectors.site_of(terms)),
        host=_host(terms),
        turned_away=[(OUTCOMES[Outcome(outcome)], count) for outcome, count in turned],
    )


def sheet_of(terms: LinkTerms) -> Sheet:
    preset = selectors.site_of(terms)
    leaving = pay_on_leaving(terms.campaign.study)
    rows = {Outcome(row.outcome): row for row in terms.campaign.outcome_codes.all()}
    return Sheet(
        campaign=terms.campaign,
        preset=preset,
        title=_title(preset),
        steps=preset.steps_in(get_language() or "en"),
        address=_address(terms, preset),
        return_address=terms.return_address,
        host=_host(terms),
        lines=[_line(preset, rows[outcome], leaving) for outcome in OUTCOMES] if preset.asks_for_codes else [],
        reward="" if terms.reward is None else f"{money.decimal(terms.reward)} {terms.currency}",
    )


def _address(terms: LinkTerms, preset: Preset) -> str:
    return address_for_site(entry_url(terms.campaign), terms.parameters, preset.placeholders)


def _line(preset: Preset, row: OutcomeCode, leaving: str) -> SheetLine:
    outcome = Outcome(row.outcome)
    is_leaving = row.paid == "leaving" and leaving in _PAID_ON_LEAVING
    return SheetLine(
        outcome=OUTCOMES[outcome],
        code=row.code,
        code_type=preset.code_types.get(outcome, ""),
        action=preset.actions[row.action],
        paid=_PAID_ON_LEAVING[leaving] if is_leaving else _PAID[row.paid],
    )


def _title(preset: Preset) -> str:
    return preset.title_in(get_language() or "en")


def _host(terms: LinkTerms) -> str:
    return urlsplit(terms.return_address).hostname or ""
