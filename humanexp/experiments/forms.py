from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from analysis.acceptance import RULE_SETS
from analysis.protocols import PROTOCOLS
from humanexp.experiments.drafting import fields
from humanexp.experiments.models import Population
from humanexp.stimuli.models import StimulusSet

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise

#: Most characters of a study file, pasted or uploaded.
LONGEST_FILE = 100_000


def _count(label: Text, default: object = "", help_text: Text = "") -> forms.IntegerField:
    """A number whose range the study checks; empty means the default, which stands in the field in grey."""
    widget = forms.NumberInput(attrs={"placeholder": str(default), "inputmode": "numeric"})
    return forms.IntegerField(label=label, required=False, widget=widget, help_text=help_text)


def _text(label: Text, *, rows: int = 0, help_text: Text = "", **attributes: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, **attributes}) if rows else forms.TextInput(attrs=attributes)
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text, max_length=20_000)


class StudyForm(forms.Form):
    """What most studies set. Whether it makes sense, the study itself says: the form knows no ranges of its own."""

    title = _text(_("Title"), help_text=_("Participants read it."))
    stimuli = forms.ChoiceField(label=_("Stimulus set"), required=False)
    task = forms.ChoiceField(
        label=_("Task"),
        required=False,
        widget=forms.RadioSelect,
        choices=[
            (fields.CATEGORISATION, _("Name what was shown")),
            (fields.BOTH, _("Name, then compare corruptions")),
            (fields.DISCRIMINATION, _("Compare corruptions")),
            (fields.VALIDATION, _("Is it really one?")),
        ],
    )
    sessions = _count(_("Sessions"), 40, _("One person each."))
    max_sessions_per_worker = _count(_("Sessions one person may do"), 1)
    population = forms.ChoiceField(
        label=_("Who takes part"), required=False, choices=Population.choices, widget=forms.RadioSelect
    )
    language = forms.ChoiceField(label=_("Language of the pages"), required=False, choices=settings.LANGUAGES)
    protocol = forms.CharField(label=_("Protocol"), required=False, widget=forms.Select)
    rules = forms.CharField(label=_("Rules for accepting sessions"), required=False, widget=forms.Select)
    contact = _text(_("Contact"), help_text=_("An address that participants can write to."))

    main_trials = _count(_("Corrupted pictures a session"), 40)
    practice_trials = _count(_("Practice, with feedback"), 10)
    qualification_trials = _count(_("Qualification"), 0, _("16 is one a category."))
    gold_trials = _count(_("Gold"), _("8, or 5 if short"))
    negative_trials = _count(_("Negative"), _("6, or none if short"))
    consistency_pairs = _count(_("Shown twice"), 4)
    clean_trials = _count(_("Clean"), _("worked out"))
    answers_per_stimulus = _count(_("Answers a picture"), 1)
    overlap = forms.FloatField(
        label=_("Share that everybody sees"),
        required=False,
        widget=forms.NumberInput(attrs={"placeholder": "0", "step": "0.05"}),
    )
    corruption_order = forms.ChoiceField(
        label=_("Corruptions"),
        required=False,
        choices=[("", _("interleaved")), ("blocked", _("one after the other"))],
    )

    discrimination_form = forms.ChoiceField(
        label=_("Question"),
        required=False,
        choices=[("", _("same or different")), ("abx", _("ABX: like A or like B"))],
    )
    discrimination_trials = _count(_("Comparisons"), 20)
    discrimination_sentinels = _count(_("Plain ones, to check attention"), 4)
    discrimination_practice = _count(_("Practice"), 4)

    new_pictures = _count(_("New pictures"), 16)
    second_showings = _count(_("Of these shown twice"), 2)
    positive = _count(_("Positive"), 1)
    negative = _count(_("Negative"), 1)
    validation_practice = _count(_("Practice"), 2)
    answers_per_picture = _count(_("People who judge a picture"), 10)
    shown = forms.ChoiceField(
        label=_("Which pictures"),
        required=False,
        choices=[("", _("all")), ("clean", _("clean ones")), ("corrupted", _("corrupted ones"))],
    )

    consent_version = _text(_("Version of the consent text"), placeholder="1")
    consent = _text(_("Consent text of your own"), rows=5, help_text=_("Empty: the house text."))
    debrief = _text(_("Shown after the last trial"), rows=3)
    slug = _text(_("Name in addresses"), help_text=_("Empty: from the title."))
    family = _text(_("Family"), help_text=_("Studies of one family never show a person the same picture twice."))
    seed = _count(_("Seed"), 0)
    block_trials = _count(_("Most trials between two breaks"), 40)
    calibrate_size = forms.BooleanField(label=_("Ask for the size of the screen"), required=False)
    more = _text(_("Further settings, as TOML"), rows=6, spellcheck="false")

    def __init__(self, *args: Any, sets: list[StimulusSet], **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        names = [one.name for one in sets]
        self._offer("stimuli", [(name, name) for name in names])
        self._offer("protocol", [(name, name) for name in PROTOCOLS])
        self._offer("rules", [(name, name) for name in RULE_SETS])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        """The choices, and what a file has said: what does not exist is refused by the study, in its words."""
        said = str(self[name].value() or "")
        if said and said not in dict(choices):
            choices = [*choices, (said, said)]
        field = self.fields[name]
        field.widget.choices = choices
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    @property
    def given(self) -> Mapping[str, Any]:
        """What the fields hold, as far as they can be read; call after `is_valid`."""
        return self.cleaned_data

    def _fields(self, names: Iterable[str]) -> list[BoundField]:
        return [self[name] for name in names]

    @property
    def of_naming(self) -> list[BoundField]:
        return self._fields(fields.OF_NAMING)

    @property
    def of_pairs(self) -> list[BoundField]:
        return self._fields(fields.OF_PAIRS)

    @property
    def of_validation(self) -> list[BoundField]:
        return self._fields(fields.OF_VALIDATION)

    @property
    def of_texts(self) -> list[BoundField]:
        return self._fields(("consent_version", "consent", "debrief"))

    @property
    def of_record(self) -> list[BoundField]:
        return self._fields(("slug", "family", "seed", "block_trials", "calibrate_size", "more"))


class StudyFileForm(forms.Form):
    """A study file, pasted or uploaded."""

    text = forms.CharField(
        label=_("Paste a study file"),
        strip=False,
        required=False,
        max_length=LONGEST_FILE,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "code"}),
    )
    file = forms.FileField(label=_("Or upload one"), required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        uploaded = cleaned.get("file")
        if uploaded is not None:
            if uploaded.size > LONGEST_FILE:
                raise forms.ValidationError(_("A study file is text of at most 100,000 characters."))
            try:
                cleaned["text"] = uploaded.read().decode("utf-8")
            except UnicodeDecodeError:
                raise forms.ValidationError(_("This file is not UTF-8 text: save it as UTF-8.")) from None
        if not (cleaned.get("text") or "").strip() and "text" not in self.errors:
            raise forms.ValidationError(_("Paste a study file, or choose one."))
        return cleaned
