"""What holds of every figure: its choices, the command, the page, the documents."""

from __future__ import annotations

import itertools
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from analysis.similarity.published import PUBLISHED_CLASSES
from humanexp.console.figures.registry import FIGURES, figures_of
from humanexp.console.figures.subjects import Analysed, analysed
from humanexp.core.errors import ApplicationError, InvalidRequest, StudyRefused
from humanexp.core.models import User
from humanexp.results.models import AnalysisRun
from humanexp.studies.models import Study
from tests.console.figures.parts import agreeing, canvas
from tests.results.large import MODELS, NAMES

pytestmark = pytest.mark.django_db


@pytest.mark.verify
def test_letters_are_readable_in_a_column(large: Study) -> None:
    subject = agreeing(large)
    for name in ("people-by-function", "indices", "consistency", "confusions"):
        made = canvas(FIGURES[name].drawn(subject, {}), "column")
        assert made.get_figwidth() == pytest.approx(3.5)
        from matplotlib.text import Text

        sizes = {text.get_fontsize() for text in made.findobj(Text) if text.get_text().strip() and text.get_visible()}
        assert min(sizes) >= 6.0, name


def test_choices_that_a_figure_does_not_take_are_refused(with_run: Analysed) -> None:
    for given, said in (
        ({"original": "cat"}, "Nothing can be chosen by original in this figure; it takes function, model, property"),
        ({"property": "speed"}, "accuracy or consistency, not 'speed'"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            FIGURES["leads"].drawn(with_run, given)
    with pytest.raises(InvalidRequest, match="numbers from 0 to 1 with a point, not '1,5'|not '5'"):
        FIGURES["confusions"].drawn(with_run, {"accuracy": "5"})


_OF_DEFINITIONS = ["definitions.csv", "definitions.pdf", "definitions.png", "definitions.svg"]


@pytest.mark.verify
def test_the_command_writes_the_figure_with_its_data(large: Study, tmp_path: Path) -> None:
    subject = agreeing(large)
    subject.run.pk = None
    subject.run.save()
    out = StringIO()
    call_command("figure", "definitions", "--to", str(tmp_path), "--format", "pdf,svg,png", stdout=out)
    call_command("figure", "consistency", "large", "--to", str(tmp_path), "--width", "column", stdout=out)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["consistency.csv", "consistency.pdf", "definitions-areas.csv", *_OF_DEFINITIONS]
    # A page of 183 mm, in points.
    assert b"/MediaBox [ 0 0 518.4" in (tmp_path / "definitions.pdf").read_bytes()
    for arguments, said in (
        (["leads"], "is drawn of a study"),
        (["leads", "nothing"], "nothing"),
        (["nothing", "large"], "There is no figure 'nothing'; there are: definitions"),
        (["leads", "large", "--format", "gif"], "not as 'gif'"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("figure", *arguments, "--to", str(tmp_path / "not"))
    assert not (tmp_path / "not").exists()


def test_the_list_names_every_figure_once() -> None:
    out = StringIO()
    call_command("figure", "--list", stdout=out)
    heads = [line for line in out.getvalue().splitlines() if not line.startswith(" ")]
    assert [line.partition(":")[0] for line in heads] == list(FIGURES)
    assert set(itertools.chain(*(PUBLISHED_CLASSES.values()))) <= set(NAMES)


def test_the_documents_name_every_figure_with_its_papers() -> None:
    text = (Path(__file__).parents[3] / "docs" / "results.md").read_text(encoding="utf-8")
    section = text.partition("## The papers' figures")[2].partition("\n## ")[0]
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `")]
    assert [(name.strip("`"), of, papers) for name, of, _, papers in told] == [
        (one.name, one.of, one.papers) for one in FIGURES.values()
    ]


@pytest.mark.verify
def test_the_page_shows_every_figure_or_says_what_it_lacks(client: Client, user: User, large: Study) -> None:
    client.force_login(user)
    body = client.get(reverse("console:figures", args=["large"])).content.decode()
    for figure in figures_of("study"):
        assert f'id="{figure.name}"' in body
        try:
            figure.drawn(analysed(large), {})
        except ApplicationError:
            assert f"It needs {escape(figure.needs)}." in body
        else:
            assert f"/studies/large/figures/{figure.name}.png?inline=1" in body
    csv_file = client.get(reverse("console:figure", args=["large", "leads", "csv"]), {"table": "areas"})
    assert len(csv_file.content.decode().splitlines()) == 1 + len(MODELS)
    assert client.get(reverse("console:figure", args=["large", "leads", "png"])).content.startswith(b"\x89PNG")
    assert client.get(reverse("console:figure", args=["large", "leads", "gif"])).status_code == 404
    assert client.get(reverse("console:figure", args=["large", "functions", "png"])).status_code == 404


def test_a_study_without_analysis_says_so(client: Client, user: User, large: Study) -> None:
    AnalysisRun.objects.all().delete()
    client.force_login(user)
    assert "has not been analysed" in client.get(reverse("console:figures", args=["large"])).content.decode()
    with pytest.raises(StudyRefused, match="humanexp analyse large"):
        analysed(large)
