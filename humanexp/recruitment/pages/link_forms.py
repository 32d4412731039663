"""What researchers fill in about a link: which site sends the people, and how they go back."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.utils.translation import get_language, gettext_lazy as _

from analysis.errors import InvalidInput
from analysis.spec import Link
from analysis.spec.link import SITE_CODE_LENGTH, host_of_return
from humanexp.core.errors import InvalidRequest
from humanexp.recruitment import money
from humanexp.recruitment.models import SitePay
from humanexp.recruitment.recruiters.presets import presets

#: Where the fields of a link's settings are, by setting.
_FIELDS = {name: f"link_{name}" for name in Link.model_fields}
#: Currencies by site, where it has one of its own.
_CURRENCIES = {name: preset.currency for name, preset in presets().items() if preset.currency}


def _sites() -> list[tuple[str, str]]:
    language = get_language() or "en"
    named = [(name, preset.title_in(language)) for name, preset in presets().items()]
    return [("", str(_("No site: I hand the link out myself"))), *named]


class LinkFields(forms.Form):
    """The part of a launch that is about a link."""

    link_preset = forms.ChoiceField(
        label=_("Which site sends the people"), choices=_sites, required=False, widget=forms.RadioSelect
    )
    link_person = forms.CharField(
        label=_("Parameter with the person's id"),
        max_length=40,
        required=False,
        help_text=_("The name in the address, as in ?id=123. Empty: the name that the site uses."),
    )
    link_submission = forms.CharField(
        label=_("Parameter with the submission's id"),
        max_length=40,
        required=False,
        help_text=_("If the site gives each participation its own id. Empty: the name that the site uses, if any."),
    )
    link_return_address = forms.CharField(
        label=_("Return address"),
        max_length=500,
        required=False,
        help_text=_(
            "Where people go at the end, beginning with https://. {code} becomes the completion code, {person} and "
            "{submission} become their ids. Empty: the address of the site if it has one, otherwise people see a code."
        ),
    )
    link_site_code = forms.CharField(
        label=_("Completion code of the project there"),
        max_length=SITE_CODE_LENGTH,
        required=False,
        help_text=_(
            "This site makes the code itself. Make the project there first and leave it as a draft; then enter the "
            "code that it shows, or its completion address as the return address. Only people who finish see either."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    link_pay = forms.ChoiceField(
        label=_("What people get there"), choices=[("", _("as usual there")), *SitePay.choices], required=False
    )
    link_alternative = forms.CharField(
        label=_("Alternative for the same credit"),
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_(
            "What people can do instead that gives the same credit, takes about as long and needs no data of theirs. "
            "Needed where credit is given; it is part of the consent."
        ),
    )
    link_reward = forms.CharField(
        label=_("Paid there"),
        max_length=12,
        required=False,
        help_text=_("For one person, like 1.50. Empty: the consent names no amount."),
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    link_currency = forms.CharField(
        label=_("Currency"),
        max_length=3,
        required=False,
        help_text=_("Three letters, like GBP; as your account there has it."),
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
