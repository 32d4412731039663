"""What researchers fill in about people and money; each form turns into what one service takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.validators import MinLengthValidator

from analysis.errors import InvalidInput
from analysis.study.terms import USUAL_APPROVAL_PERCENT, USUAL_HITS_APPROVED, WorkerRequirements
from humanexp.core.errors import ApplicationError
from humanexp.ledger.pages.money import MoneyField
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import DAY_S
from humanexp.recruiters.people import ids_of
from humanexp.recruiting.launch import APPROVAL_DAYS, SMALL_HIT, LaunchTerms
from humanexp.recruiting.pages.links import LinkFields


def _recruiters() -> list[tuple[str, str]]:
    """What can be used first; what cannot says why."""
    offered = registry.offered().items()
    return [(name, registry.name_of(name) + (f" ({why})" if why else "")) for name, why in offered]


def _asked(cleaned: Mapping[str, Any]) -> frozenset[str]:
    """Fields that mean something to the recruiter that was chosen."""
    return registry.kind_of(cleaned["to"]).fields if cleaned.get("to") else frozenset()


#: What stands for a field of which the recruiter knows nothing, where the page suggests something for another one.
#: What a person has filled in is refused by the launch.
_UNASKED: dict[str, Any] = {"keywords": "", "approval_percent": None, "hits_approved": None, "reward": 0, "hits": ""}
#: Fields that a campaign takes over as they are.
_AS_TYPED = ("unpaid", "title", "description", "keywords", "estimated_minutes", "contact", "shared_computers")


class IdsField(forms.CharField):
    """Ids as people paste them: a line or a comma between two; of people also a column of a table, with its header."""

    def __init__(self, *, of_people: bool = False, **options: Any) -> None:
        self.of_people = of_people
        widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "autocapitalize": "none"})
        super().__init__(required=False, max_length=500_000, widget=widget, **options)

    def clean(self, value: Any) -> tuple[str, ...]:
        text = super().clean(value)
        if not self.of_people:
            return tuple(text.replace(",", " ").split())
        try:
            return tuple(ids_of(text.encode(), str(self.label)))
        except ApplicationError as error:
            raise forms.ValidationError(error.message) from error


class TermsForm(forms.Form):
    """What fixes the price of a launch."""

    SMALL, ONE = "small", "one"

    to = forms.ChoiceField(label="Where people are found", choices=_recruiters, widget=forms.RadioSelect)
    assignments = forms.IntegerField(label="Places", min_value=1, max_value=100_000)
    reward = MoneyField(label="Reward", required=False, help_text="For one person, in the currency of the account.")
    unpaid = forms.BooleanField(label="People are not paid", required=False)
    hits = forms.ChoiceField(
        label="How the places are offered",
        required=False,
        choices=[(SMALL, f"In HITs of {SMALL_HIT}"), (ONE, "In one HIT")],
        widget=forms.RadioSelect,
    )
    masters = forms.BooleanField(
        label="Masters only",
        required=False,
        help_text="Workers whom the recruiter has marked. No one else sees the work.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        asked = _asked(cleaned)
        cleaned |= {name: none for name, none in _UNASKED.items() if name in self.fields and name not in asked}
        if cleaned.get("unpaid") and not cleaned.get("reward"):
            cleaned["reward"] = 0
        elif "reward" in asked and cleaned.get("reward") is None and "reward" not in self.errors:
            self.add_error("reward", "Say what one person gets.")
        return cleaned

    @property
    def terms(self) -> dict[str, Any]:
        """Arguments of `launch.quote`."""
        given = self.cleaned_data
        return {
            "to": given["to"],
            "assignments": given["assignments"],
            "reward_cents": given["reward"],
            "assignments_per_hit": {self.ONE: given["assignments"], self.SMALL: SMALL_HIT}.get(given["hits"]),
            "masters": given["masters"],
        }


class LaunchForm(LinkFields, TermsForm):
    """Everything a campaign is launched with. `shown_total` is the price that stood on the page.

    `shown_campaigns`: how many the study had there, so that a second click launches no second one.
    """

    title = forms.CharField(label="Title", max_length=128)
    description = forms.CharField(label="Description", max_length=2_000, widget=forms.Textarea(attrs={"rows": 3}))
    keywords = forms.CharField(label="Keywords", max_length=1_000, required=False)
    estimated_minutes = forms.IntegerField(label="Minutes it takes", min_value=1, max_value=600)
    contact = forms.CharField(
        label="Contact",
        max_length=200,
        required=False,
        help_text="An address that participants can write to. People cannot be invited without one.",
    )
    shared_computers = forms.BooleanField(
        label="Several people use one computer: a class, or a lab",
        required=False,
        help_text=(
            "Their browsers then keep nothing with which the next person could go on with a session, and thirty can "
            "begin at once from one address. Otherwise one address holds at most a third of the free places."
        ),
    )
    approval_days = forms.IntegerField(
        label="Days until everyone is paid automatically",
        required=False,
        min_value=1,
        max_value=30,
        help_text="The safety net: if this machine dies, people are paid all the same.",
    )
    cap = MoneyField(
        label="Never spend more than",
        required=False,
        help_text="This campaign, bonuses and fees included. Empty: the cost shown, and no bonuses.",
    )

    approval_percent = forms.IntegerField(
        label="Approved work, at least %",
        required=False,
        min_value=0,
        max_value=100,
        help_text=f"{USUAL_APPROVAL_PERCENT} is usual. Empty: not asked.",
    )
    hits_approved = forms.IntegerField(
        label="Approved HITs, at least",
        required=False,
        min_value=0,
        max_value=1_000_000,
        help_text=f"{USUAL_HITS_APPROVED} is usual; thousands shut good newcomers out.",
    )
    countries = forms.CharField(
        label="Countries", required=False, max_length=200, help_text="Codes like US, DE. Empty: everywhere."
    )
    age_from = forms.IntegerField(label="Age from", required=False, min_value=18, max_value=100)
    age_to = forms.IntegerField(label="Age to", required=False, min_value=18, max_value=100)
    languages = forms.CharField(
        label="Fluent in one of",
        required=False,
        max_length=200,
        help_text="English names, like English, German. Empty: not asked.",
    )
    good_vision = forms.BooleanField(label="Normal or corrected-to-normal vision", required=False)
    balanced_sex = forms.BooleanField(label="As many women as men", required=False)
    took_part_in = IdsField(label="Only who began one of these studies", help_text="The recruiter's ids of them.")
    not_in = IdsField(
        label="Only who began none of these studies",
        help_text="Also whoever gave a place back counts as having begun.",
    )
    only_people = IdsField(
        of_people=True, label="Only these people", help_text="Ids, one a line, or a table with a column of them."
    )
    not_people = IdsField(
        of_people=True, label="None of these people", help_text="Ids, one a line. Empty: nobody is left out."
    )
    compared_with = forms.ChoiceField(
        label="What volunteers see next to their own curve",
        required=False,
        help_text=(
            "The curves of people and networks of a study that is over, as they are now. They are never taken from "
            "this study or another of its family."
        ),
    )

    shown_total = forms.IntegerField(widget=forms.HiddenInput, required=False)
    shown_campaigns = forms.IntegerField(widget=forms.HiddenInput, required=False)
    confirm_total = MoneyField(label="Type the total to confirm", required=False)

    def __init__(self, *args: Any, earlier: Sequence[tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.earlier = earlier
        compared_with: Any = self.fields["compared_with"]
        compared_with.choices = [("", "nothing: their own curve by itself"), *earlier]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        asked = _asked(cleaned)
        if "reward" in asked and "reward" not in self.errors:
            if cleaned.get("unpaid") and cleaned.get("reward"):
                self.add_error("unpaid", "A reward is set: take it away, or this mark.")
            elif not cleaned.get("unpaid") and cleaned.get("reward") == 0:
                text = (
                    "With a reward of 0 no one is paid: enter what one person gets, or mark that people are not paid."
                )
                self.add_error("reward", text)
        said = {name: cleaned[name] for name in WorkerRequirements.model_fields if name in cleaned}
        said |= {
            "countries": tuple(cleaned.get("countries", "").replace(",", " ").upper().split()),
            "languages": tuple(filter(None, map(str.strip, cleaned.get("languages", "").split(",")))),
        }
        try:
            self.requirements = WorkerRequirements(**said)
        except InvalidInput as error:
            for place, sentence in error.fields.items():
                name = place.partition(".")[0]
                self.add_error(name if name in self.fields else None, sentence)
        return cleaned

    @property
    def launch_terms(self) -> LaunchTerms:
        given, offer = self.cleaned_data, self.terms
        return LaunchTerms(
            to=given["to"],
            assignments=offer["assignments"],
            reward_cents=offer["reward_cents"],
            assignments_per_hit=offer["assignments_per_hit"],
            auto_approval_s=(given["approval_days"] or APPROVAL_DAYS) * DAY_S,
            **{name: given[name] for name in _AS_TYPED},
            cap_cents=given["cap"],
            requirements=self.requirements,
            link=self.link if "link_preset" in _asked(given) else None,
            compared_with=given["compared_with"],
        )

    @property
    def confirmed_cents(self) -> int | None:
        """Where money is real the total is typed; elsewhere the price that was seen has to be the price."""
        is_real = registry.capabilities_of(self.cleaned_data["to"]).asks_for_total
        total: int | None = self.cleaned_data["confirm_total" if is_real else "shown_total"]
        return total


class ExtensionForm(forms.Form):
    """More places of a campaign that runs. `shown_places`: how many it has on the page that asks for more."""

    places = forms.IntegerField(label="Places to add", min_value=1, max_value=100_000)
    confirm_total = MoneyField(label="Type the cost to confirm", required=False)
    shown_total = forms.IntegerField(widget=forms.HiddenInput, required=False)
    shown_places = forms.IntegerField(widget=forms.HiddenInput, required=False)


class ProlongingForm(forms.Form):
    """More time for a campaign that runs."""

    days = forms.IntegerField(label="Open for so many days from now", min_value=1, max_value=365)


class CapForm(forms.Form):
    """What a campaign may come to, bonuses included."""

    cap = MoneyField(label="Never spend more than")


class ApprovalForm(forms.Form):
    """Until when the ethics approval is in force; empty = it does not end."""

    until = forms.DateField(required=False)
    covers_shown_text = forms.BooleanField(required=False)


class LimitsForm(forms.Form):
    """What may be spent; empty = no limit."""

    currency = forms.ChoiceField(choices=[(one, one) for one in money.SIGNS], required=False)
    study_cap = MoneyField(label="This study, over all its campaigns", required=False)


class MessageForm(forms.Form):
    """A few words to people who took part."""

    EVERYBODY, UNDER_WAY, SUBMITTED, NAMED = "everybody", "opened", "listed", "named"

    to = forms.ChoiceField(
        label="To",
        choices=[
            (EVERYBODY, "Everybody who began"),
            (UNDER_WAY, "Who is under way"),
            (SUBMITTED, "Who has submitted"),
            (NAMED, "Those alone who are named here"),
        ],
        widget=forms.RadioSelect,
    )
    people = forms.CharField(
        label="Ids or codes, one a line",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )
    subject = forms.CharField(label="Subject", max_length=200)
    text = forms.CharField(label="Message", max_length=4_000, widget=forms.Textarea(attrs={"rows": 6}))


class RejectionForm(forms.Form):
    """A refusal to pay: its ground where the recruiter asks for one, what the worker reads, and what speaks for it."""

    category = forms.ChoiceField(label="Ground, in the recruiter's words")
    reason = forms.CharField(
        label="Reason, as the person will read it",
        min_length=20,
        max_length=900,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    evidence = forms.CharField(
        label="Your evidence, for the record",
        required=False,
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What you saw in addition to the signs above. It is required if fewer than two signs are listed.",
    )

    def __init__(self, environment: str, data: Any = None) -> None:
        super().__init__(data)
        kind = registry.kind_of(environment)
        if not kind.rejection_grounds:
            del self.fields["category"]
            return
        self.fields["category"].choices = [("", "–"), *kind.rejection_grounds.items()]  # type: ignore[attr-defined]
        reason, evidence = self.fields["reason"], self.fields["evidence"]
        reason.validators.append(MinLengthValidator(kind.least_reason))
        reason.widget.attrs["minlength"] = kind.least_reason
        reason.help_text = f"At least {kind.least_reason} characters."
        evidence.required = True
        evidence.help_text = "What you saw yourself. Missed checks, times and failed practice are no evidence here."


class ExclusionForm(forms.Form):
    """Why a session does not count, though its person is paid: one of the usual sentences, or one's own."""

    USUAL = (
        ("Several checks were missed and the answers look random.", "Several checks missed, answers look random"),
        ("The answers do not depend on the pictures.", "The answers do not depend on the pictures"),
        ("The pictures were not shown as planned on this screen.", "Pictures not shown as planned on this screen"),
        ("The person told us that something went wrong.", "The person told us that something went wrong"),
        ("", "Another reason:"),
    )

    # the sentence is chosen beforehand: the easy path is one press
    usual = forms.ChoiceField(label="Why it does not count", choices=USUAL, initial=USUAL[0][0], required=False)
    own = forms.CharField(
        label="In your own words",
        required=False,
        max_length=2_000,
        help_text="Only where no sentence of the list fits; it is stored with the verdict.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("usual") and len(cleaned.get("own", "").strip()) < 10:
            self.add_error("own", "Say why in a few words, or choose a sentence.")
        return cleaned

    @property
    def written_reason(self) -> str:
        return str(self.cleaned_data.get("own", "").strip() or self.cleaned_data["usual"])
