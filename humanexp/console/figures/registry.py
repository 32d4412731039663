"""Every figure of the papers that can be drawn: the command, the pages, the documents and the tests read this list."""

from __future__ import annotations

from humanexp.console.figures import agreement, curves, models, pictures, searches, sets
from humanexp.console.figures.figure import PublishedFigure, Subject
from humanexp.core.errors import NotFound

_STUDY: Subject = "study"
_FIGURES = (
    PublishedFigure(
        name="definitions",
        title="What is measured: R̂a and R̂p, leads, HMRI and MRSI",
        of="nothing",
        papers="VCR Fig. 1, 2(b), S7",
        needs="nothing",
        build=curves.drawn_definitions,
        tables=("areas",),
    ),
    PublishedFigure(
        name="functions",
        title="Corruption functions on one picture, by class",
        of="stimulus set",
        papers="VCR Fig. 3, S10",
        needs="a stimulus set with its pictures",
        build=pictures.functions,
        choices=("original", "at"),
    ),
    PublishedFigure(
        name="strengths",
        title="One function at chosen visual changes",
        of="stimulus set",
        papers="VCR Fig. 10, S9",
        needs="a stimulus set with its pictures",
        build=pictures.strengths,
        choices=("function", "original", "at"),
    ),
    PublishedFigure(
        name="histograms",
        title="Histograms of visual change of two sets",
        of="stimulus set",
        papers="VCR Fig. 4, 11",
        needs="two stimulus sets with a function in common, for example one of ImageNet-C",
        build=sets.histograms,
        choices=("beside",),
        tables=(
            "coverage",
            "levels",
        ),
    ),
    PublishedFigure(
        name="people-by-function",
        title="People's curves of several functions with their 83 % bands",
        of=_STUDY,
        papers="VCR Fig. 8, 12",
        needs="an analysis with refits of answers over visual change",
        build=curves.people_by_function,
        choices=("property", "panels"),
    ),
    PublishedFigure(
        name="leads",
        title="Leads of people over models and of models over people",
        of=_STUDY,
        papers="VCR Fig. 2(a), S8",
        needs="models evaluated on the study's stimulus set",
        build=curves.leads,
        choices=("property", "function", "model"),
        tables=("areas",),
    ),
    PublishedFigure(
        name="indices",
        title="HMRI and MRSI of models, and their curves",
        of=_STUDY,
        papers="VCR Fig. 6, 7, 22 to 33",
        needs="models evaluated on the study's stimulus set",
        build=models.indices,
        choices=("property", "function"),
    ),
    PublishedFigure(
        name="levels",
        title="Accuracy at fixed levels beside areas, with places",
        of=_STUDY,
        papers="VCR Fig. 5, 13 to 21",
        needs="models evaluated on the study's stimulus set, and on a set of fixed levels of the same pictures",
        build=models.levels,
        choices=("function",),
    ),
    PublishedFigure(
        name="retraining",
        title="A network before and after retraining, and people",
        of="retraining",
        papers="VCR Tab. 3, S5, S6",
        needs="a retraining that is complete",
        build=models.before_and_after,
        choices=("property", "function"),
        tables=("numbers",),
    ),
    PublishedFigure(
        name="consistency",
        title="Error consistency against accuracy, with the ceiling of people",
        of=_STUDY,
        papers="Geirhos et al. 2020, 2021",
        needs="models evaluated on pictures that several people answered",
        build=agreement.consistency,
    ),
    PublishedFigure(
        name="kappas",
        title="Error consistency of every two observers, people framed",
        of=_STUDY,
        papers="Geirhos et al. 2020, 2021",
        needs="pictures of one condition that two observers or more answered",
        build=agreement.kappas,
        choices=("condition",),
    ),
    PublishedFigure(
        name="shape-bias",
        title="Shape bias by category",
        of=_STUDY,
        papers="Geirhos et al. 2019, 2021",
        needs="answers to pictures with the shape of one category and the texture of another",
        build=agreement.shape_bias,
    ),
    PublishedFigure(
        name="confusions",
        title="What people and a model answer instead, at matched accuracy",
        of=_STUDY,
        papers="Geirhos et al. 2021",
        needs="a model evaluated on the study's stimulus set",
        build=agreement.confusions,
        choices=("function", "model", "accuracy"),
    ),
    PublishedFigure(
        name="named",
        title="Pictures that people name and a model does not",
        of=_STUDY,
        papers="OOR §1",
        needs="a study with its pictures, several answers of people to each, and a model",
        build=pictures.named,
        choices=("model",),
    ),
    PublishedFigure(
        name="counterfactuals",
        title="Originals and counterfactuals with both answers",
        of="search",
        papers="OOR Fig. 2, 3, 5",
        needs="a search that has begun",
        build=searches.counterfactuals,
        choices=("original", "searches"),
    ),
    PublishedFigure(
        name="steps",
        title="OOR over the step size, mean and standard deviation over runs",
        of="step study",
        papers="OOR Fig. 4",
        needs="finished searches of step_study",
        build=searches.steps,
    ),
)
#: By name, in the order in which they are listed.
FIGURES: dict[str, PublishedFigure] = {one.name: one for one in _FIGURES}


def figure_named(name: str) -> PublishedFigure:
    if name not in FIGURES:
        raise NotFound(f"There is no figure {name!r}; there are: {', '.join(FIGURES)}.")
    return FIGURES[name]


def figures_of(kind: Subject) -> list[PublishedFigure]:
    """Figures of one kind of subject, in their order."""
    return [one for one in _FIGURES if one.of == kind]
