"""Label spaces: those of this installation and those that the product ships; send, look at, take and delete them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language_info
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.errors import InvalidInput
from analysis.labels.files import labels_of_words, labels_to_toml
from analysis.labels.space import MOST_FOR_PEOPLE, Label, LabelSpace
from humanexp.core import ownership
from humanexp.core.errors import ApplicationError, Conflict, NotFound
from humanexp.core.names import NameField
from humanexp.core.ownership import Right
from humanexp.core.pages.rendering import attached
from humanexp.core.selectors import user_of
from humanexp.stimuli.choices import choices_of_labels, columns_of_labels
from humanexp.stimuli.label_files import labels_of_file, packed_labels
from humanexp.stimuli.selectors.labels import listed_labels, own_labels, pictures_with, space_named
from humanexp.stimuli.services.label_sets import delete_labels, store_labels

LABELS_A_PAGE = 50
_CLASSES_SHOWN = 4


class LabelsForm(forms.Form):
    """A file, or a name and words."""

    name = NameField(required=False)
    words = forms.CharField(
        label="Labels, one a line",
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="As people will read them: Apple, Pear, Quince. Ten are enough; with up to 30, people can take part.",
    )
    language = forms.CharField(
        label="Language of these words",
        required=False,
        initial="en",
        max_length=20,
        help_text="A code such as en, de or pt-BR.",
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        widget=forms.FileInput(attrs={"accept": ".toml,.zip,application/zip", "data-drop": ""}),
    )
    mends = forms.BooleanField(label="Replace the labels that have this name already", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        self.fields["name"].help_text += " With a file, leave it empty to take the name that the file states."
        self.fields[
            "file"
        ].help_text = f"A TOML file, or a zip archive of one with its icons as SVG. At most {most_kb()} kB."

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        file, words, name = cleaned.get("file"), cleaned["words"].splitlines(), cleaned["name"]
        language = cleaned["language"] or "en"
        if bool(file) == any(word.strip() for word in words):
            raise forms.ValidationError("Give either labels, one a line, or a file.")
        if file and file.size > most_kb() * 1000:
            self.add_error("file", f"This file has {file.size // 1000:,} kB; labels take at most {most_kb()} kB.")
        elif not file and not name:
            self.add_error("name", "Give the labels a name.")
        else:
            try:
                found = labels_of_file(file.name, file) if file else labels_of_words(name, words, language)
                cleaned["space"] = replace(found, name=name) if name else found
            except InvalidInput as error:
                self.add_error("file" if file else "words", str(error))
        return cleaned


def most_kb() -> int:
    """Largest file: the form around it needs room within the longest body."""
    return int(settings.BODY_MAX_KB * 0.9)


@dataclass(frozen=True, kw_only=True)
class LabelRow:
    """A label as the table shows it."""

    label: Label
    number: int
    words: tuple[tuple[str, str], ...]
    synonyms: str
    groups: str
    classes: tuple[str, ...]
    n_more_classes: int


@login_required
@require_GET
def label_spaces(request: HttpRequest) -> HttpResponse:
    """What pictures can be called."""
    return render(request, "stimuli/labels/list.html", {"rows": listed_labels(request.user)})


@login_required
@require_http_methods(["GET", "POST"])
def new_labels(request: HttpRequest) -> HttpResponse:
    """Store labels of one's own."""
    form = LabelsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            stored = store_labels(form.cleaned_data["space"], by=user_of(request), mends=form.cleaned_data["mends"])
        except ApplicationError as error:
            form.add_error("name" if "name" in error.fields or not form.cleaned_data["mends"] else None, error.message)
        else:
            messages.success(request, f"The labels {stored.name} are stored. Pictures can be imported under them.")
            return redirect("stimuli:label_space", name=stored.name)
    context = {"form": form, "most_kb": most_kb(), "most_mb": most_kb() / 1000}
    return render(request, "stimuli/labels/new.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
def label_space(request: HttpRequest, name: str) -> HttpResponse:
    """What labels mean, how participants see them, and which pictures have them."""
    space, stored = space_named(name), own_labels(name)
    languages = _languages(space)
    chosen = request.GET.get("language", "")
    language = chosen if chosen in languages else next(iter(languages), "en")
    pictures = list(pictures_with(name))
    seen = [one for one in pictures if ownership.may(request.user, Right.READ, one)]
    rows, query = _rows(space), " ".join(request.GET.get("q", "").split())
    page = Paginator(_found(rows, query), LABELS_A_PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "space": space,
        "stored": stored,
        "may_change": stored is not None and ownership.may(request.user, Right.CHANGE, stored),
        "pictures": seen,
        "n_others": len(pictures) - len(seen),
        "languages": languages,
        "language": language,
        "page": page,
        "query": query,
        "most": MOST_FOR_PEOPLE,
        "is_shown": len(space) <= MOST_FOR_PEOPLE,
        "has": {
            "words": any(row.words for row in rows),
            "synonyms": any(row.synonyms for row in rows),
            "groups": bool(space.partitions),
            "definition": any(label.definition for label in space.labels),
            "page": any(label.page for label in space.labels),
            "classes": any(row.classes and row.classes != (row.label.id,) for row in rows),
        },
    }
    if context["is_shown"]:
        choices = [choice.to_json() for choice in choices_of_labels(space, language)]
        context["grid"] = {"choices": choices, "columns": columns_of_labels(space)}
    return render(request, "stimuli/labels/label_space.html", context)


@login_required
@require_GET
def labels_file(request: HttpRequest, name: str, suffix: str) -> HttpResponse:
    """Labels as a file that can be changed and sent again; with icons of their own as an archive."""
    space = space_named(name)
    if suffix == "toml":
        return attached(labels_to_toml(space), "application/toml; charset=utf-8", f"{name}.toml")
    if suffix == "zip" and space.drawings:
        return attached(packed_labels(space), "application/zip", f"{name}.zip")
    raise NotFound("Labels come as .toml, and with icons of their own as .zip.")


@login_required
@require_POST
def delete_label_space(request: HttpRequest, name: str) -> HttpResponse:
    """Remove labels of one's own that no pictures have."""
    stored = own_labels(name)
    if stored is None:
        space_named(name)
        raise Conflict(f"The product ships the labels {name}: they stay.")
    delete_labels(stored, by=user_of(request))
    messages.success(request, f"The labels {name} are deleted.")
    return redirect("stimuli:labels")


def _languages(space: LabelSpace) -> Mapping[str, str]:
    """Languages of the words, by code."""
    codes = dict.fromkeys(code for label in space.labels for code in label.words)
    return {code: _language_name(code) for code in codes}


def _language_name(code: str) -> str:
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        return code


def _rows(space: LabelSpace) -> list[LabelRow]:
    return [
        LabelRow(
            label=label,
            number=number,
            words=tuple(label.words.items()),
            synonyms=", ".join(word for words in label.synonyms.values() for word in words),
            groups=", ".join(filter(None, (space.group(label.id, name) for name in space.partitions))),
            classes=label.classes[:_CLASSES_SHOWN],
            n_more_classes=len(label.classes[_CLASSES_SHOWN:]),
        )
        for number, label in enumerate(space.labels)
    ]


def _found(rows: list[LabelRow], query: str) -> list[LabelRow]:
    wanted = query.casefold()
    return [row for row in rows if any(wanted in reading for reading in row.label.readings())]
