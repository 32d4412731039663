"""The papers' figures of a study, a stimulus set, a search or a retraining: a page of them, and each as a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from analysis.errors import AnalysisError
from analysis.figures.drawing import WIDTHS
from humanexp.console.figures.figure import OPTIONS, PublishedFigure, Subject, names_in
from humanexp.console.figures.registry import figure_named, figures_of
from humanexp.console.figures.subjects import analysed, subject_of
from humanexp.core import ownership
from humanexp.core.errors import ApplicationError, NotFound
from humanexp.core.ownership import Right
from humanexp.core.pages.rendering import FIGURE_KINDS, attached
from humanexp.core.selectors import user_of
from humanexp.counterfactuals.selectors import search_by_name
from humanexp.results.pages.views import chosen_run
from humanexp.stimuli.selectors.sets import stimulus_set_by_name
from humanexp.studies.selectors import study_for

#: Of each kind of subject: the part of the address that names it, and the names of the addresses of page and file.
_ADDRESSES: dict[Subject, tuple[str, str, str]] = {
    "study": ("slug", "console:figures", "console:figure"),
    "stimulus set": ("name", "console:set-figures", "console:set-figure"),
    "search": ("name", "console:search-figures", "console:search-figure"),
    "retraining": ("pk", "console:retraining-figures", "console:retraining-figure"),
}
#: Addresses of the pages on which a subject itself is.
_BACK: dict[Subject, str] = {
    "study": "results:dashboard",
    "stimulus set": "stimuli:stimulus_set",
    "search": "counterfactuals:search",
    "retraining": "evaluations:retraining",
}


@dataclass(frozen=True)
class Choice:
    """What may be chosen in a figure, and what is chosen."""

    name: str
    value: str

    @property
    def options(self) -> tuple[str, ...]:
        """All that there is to choose; empty where it is typed."""
        return OPTIONS.get(self.name, ())


@dataclass(frozen=True)
class Shown:
    """A figure on the page: its picture, or why there is none."""

    figure: PublishedFigure
    choices: tuple[Choice, ...]
    #: address of the file without suffix and query, and the query
    address: str
    query: str
    caption: tuple[str, ...] = ()
    said: str = ""
    refusal: str = ""

    def file(self, suffix: str, **query: str) -> str:
        asked = urlencode(query)
        return f"{self.address}.{suffix}?{'&'.join(part for part in (self.query, asked) if part)}"

    @property
    def picture(self) -> str:
        return self.file("png", inline="1")

    @property
    def files(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """What they are, and a link for each kind."""
        sizes = (("One column, 89 mm", "column"), ("Whole page, 183 mm", "page"))
        kinds = ("pdf", "svg", "png")
        drawings = [(words, [(kind, self.file(kind, width=width)) for kind in kinds]) for words, width in sizes]
        further = [(table, self.file("csv", table=table)) for table in self.figure.tables]
        return [*drawings, ("Data", [("csv", self.file("csv")), *further])]


@login_required
@require_GET
def page(request: HttpRequest, kind: Subject, **key: Any) -> HttpResponse:
    """Every figure of a subject; `?figure=` and what it takes choose in one of them."""
    part, _page, file = _ADDRESSES[kind]
    given = request.GET.dict()
    try:
        subject, refusal = _subject(request, kind, key[part]), ""
    except ApplicationError as error:
        if isinstance(error, NotFound):
            raise
        # A study without an analysis: the figures say it, each with what it needs.
        subject, refusal = None, error.message
    shown = []
    for figure in figures_of(kind):
        chosen = given if given.get("figure") == figure.name else {}
        address = reverse(file, kwargs={part: key[part], "figure": figure.name, "suffix": "png"})
        shown.append(_shown(request, figure, subject, chosen, refusal, address))
    context = {"kind": kind, "name": key[part], "shown": shown, "back": reverse(_BACK[kind], args=[key[part]])}
    return render(request, "console/figures.html", context)


def _shown(
    request: HttpRequest, figure: PublishedFigure, subject: Any, given: dict[str, str], refusal: str, address: str
) -> Shown:
    asked = {name: given[name] for name in figure.choices if given.get(name)}
    run = {"run": request.GET["run"]} if "run" in request.GET else {}
    choices = tuple(Choice(name, asked.get(name, "")) for name in figure.choices)
    shown = Shown(figure, choices, address.removesuffix(".png"), urlencode(asked | run), refusal=refusal)
    if refusal:
        return shown
    try:
        _check_beside(request, asked)
        drawn = figure.drawn(subject, asked)
    except (ApplicationError, AnalysisError) as error:
        return Shown(figure, choices, shown.address, shown.query, refusal=str(error))
    return Shown(figure, choices, shown.address, shown.query, caption=drawn.caption, said=drawn.said or drawn.title)


@login_required
@require_GET
def file(request: HttpRequest, kind: Subject, figure: str, suffix: str, **key: Any) -> HttpResponse:
    """A figure as .pdf, .svg or .png, `?width=` and `?font=` say how; or the numbers behind it as .csv."""
    part = _ADDRESSES[kind][0]
    found = figure_named(figure)
    if found.of != kind or suffix not in (*FIGURE_KINDS, "csv"):
        raise NotFound(f"There is no {figure}.{suffix} of a {kind}. Figures come as .pdf, .svg and .png, data as .csv.")
    width = request.GET.get("width", "page")
    if width not in WIDTHS:
        raise NotFound(f"Figures come in the widths {', '.join(WIDTHS)}.")
    given = request.GET.dict()
    _check_beside(request, given)
    drawn = found.drawn(_subject(request, kind, key[part]), given)
    name = f"{key[part]}-{figure}"
    if suffix != "csv":
        content = drawn.content(suffix, width=width, font=given.get("font", ""))
        return attached(content, FIGURE_KINDS[suffix], f"{name}.{suffix}", inline="inline" in given)
    wanted = given.get("table", "")
    table = next((one for place, one in enumerate(drawn.tables()) if one.key == wanted or not (wanted or place)), None)
    if table is None:
        raise NotFound(f"The figure {figure} has no table {wanted!r}.")
    return attached(table.to_csv(), "text/csv; charset=utf-8", f"{name}{'-' + wanted if wanted else ''}.csv")


def _subject(request: HttpRequest, kind: Subject, key: Any) -> Any:
    if kind != "study":
        return subject_of(kind, str(key))
    study = study_for(request.user, key)
    return analysed(study, chosen_run(request, study))


def _check_beside(request: HttpRequest, given: dict[str, str]) -> None:
    """The second set of a figure, or its further searches, are read, too."""
    if given.get("beside"):
        ownership.check(user_of(request), Right.READ, stimulus_set_by_name(given["beside"]))
    for name in names_in(given.get("searches", "")):
        ownership.check(user_of(request), Right.READ, search_by_name(name))
