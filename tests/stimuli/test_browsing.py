"""Looking at stimuli one by one: pages without loss or repeat, indexes used, sentences for what cannot be shown."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from humanexp.stimuli.models import SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.pages import set_browser
from humanexp.stimuli.pages.set_browser import cursor_of, ends_of, query_of
from humanexp.stimuli.selectors import sets
from humanexp.stimuli.selectors.sets import Cursor, Filters
from tests.markup import words

pytestmark = pytest.mark.django_db

#: Twelve stimuli share one visual change, as saturated or clean ones do.
CHANGES = [0.9, 0.1, 0.3, *[0.5] * 12, 0.2, 0.7, 1.0, 0.0, 0.4]


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    stimulus_set = StimulusSet.objects.create(
        name="rows",
        source_set=source_set,
        corruptions=["gaussian_noise", "frost"],
        count_per_corruption=len(CHANGES),
        metric="vif-wavelet-1",
        pilots={"frost": {"reach": 0.45, "worst_reach": 0.4}},
    )
    images = list(source_set.images.order_by("key"))
    for image in images:
        add(stimulus_set, f"none-{image.key}", image, "none", 0.0)
    for number, change in enumerate(CHANGES):
        add(stimulus_set, f"noise-{number}", images[number % 8], "gaussian_noise", change, reached=number % 7 != 6)
    add(stimulus_set, "frost-0", images[0], "frost", 0.44)
    return stimulus_set


def add(stimulus_set, key, image, corruption, change, *, reached=True) -> Stimulus:  # noqa: ANN001
    return Stimulus.objects.create(
        stimulus_set=stimulus_set,
        key=key,
        source_image=image,
        corruption=corruption,
        corruption_version="1",
        parameter=1.0,
        seed=7,
        target=min(1.0, change + (0 if reached else 0.1)),
        visual_change=change,
        reached=reached,
        reach_low=None if reached else 0.0,
        reach_high=None if reached else change,
        file=f"stimuli/rows/{key}.png",
    )


def walk(stimulus_set: StimulusSet, filters: Filters, size: int) -> list[list[int]]:
    """Every page from the first to the last."""
    found, cursor = [], None
    while True:
        page = sets.page_of_stimuli(stimulus_set, filters, cursor, size)
        found.append([stimulus.pk for stimulus in page.stimuli])
        ends = ends_of(page.stimuli)
        if not page.has_higher or ends is None:
            return found
        cursor = ends[1]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 19, 20, 21])
@pytest.mark.parametrize(
    "filters",
    [
        Filters("gaussian_noise"),
        Filters("gaussian_noise", category="cat"),
        Filters("gaussian_noise", only="unreached"),
        Filters("gaussian_noise", low=0.2, high=0.5, includes_high=False),
        Filters("gaussian_noise", low=0.5, high=0.5),
        Filters("none"),
    ],
)
def test_pages_show_everything_once_in_order(stimulus_set: StimulusSet, filters: Filters, size: int) -> None:
    wanted = [
        stimulus.pk
        for stimulus in Stimulus.objects.select_related("source_image").order_by("visual_change", "pk")
        if stimulus.corruption == filters.corruption
        and filters.low <= stimulus.visual_change
        and (stimulus.visual_change < filters.high or filters.includes_high and stimulus.visual_change == filters.high)
        and filters.category in ("", stimulus.source_image.category)
        and (not filters.only or stimulus.reached == (filters.only == "reached"))
    ]
    assert wanted
    found = walk(stimulus_set, filters, size)
    assert [pk for page in found for pk in page] == wanted
    assert all(len(page) == size for page in found[:-1])


@pytest.mark.parametrize("size", [1, 4, 7])
def test_pages_lead_back_the_same_way(stimulus_set: StimulusSet, size: int) -> None:
    filters = Filters("gaussian_noise")
    there = walk(stimulus_set, filters, size)
    last = Stimulus.objects.get(pk=there[-1][0])
    cursor, back = Cursor(last.visual_change, last.pk, backwards=True), []
    while True:
        page = sets.page_of_stimuli(stimulus_set, filters, cursor, size)
        assert page.has_higher
        back.append([stimulus.pk for stimulus in page.stimuli])
        if not page.has_lower:
            break
        cursor = ends_of(page.stimuli)[0]
    assert back[::-1] == there[:-1]


def test_a_stimulus_that_comes_in_between_moves_no_other(stimulus_set: StimulusSet) -> None:
    filters = Filters("gaussian_noise")
    first = sets.page_of_stimuli(stimulus_set, filters, None, 5)
    wanted = sets.page_of_stimuli(stimulus_set, filters, ends_of(first.stimuli)[1], 5)
    add(stimulus_set, "late", stimulus_set.source_set.images.first(), "gaussian_noise", 0.05)
    again = sets.page_of_stimuli(stimulus_set, filters, ends_of(first.stimuli)[1], 5)
    assert [one.pk for one in again.stimuli] == [one.pk for one in wanted.stimuli]


def test_places_survive_the_address() -> None:
    for cursor in (Cursor(0.1 + 0.2, 7), Cursor(1 / 3, 2**40, backwards=True), Cursor(0.0, 1)):
        query = dict(part.split("=") for part in query_of(Filters("frost"), cursor).split("&"))
        after, before = (query.get(name, "").replace("%7E", "~") for name in ("after", "before"))
        assert cursor_of(after, before) == cursor
    assert cursor_of("", "") is None


def test_neighbours_stand_on_both_sides(stimulus_set: StimulusSet) -> None:
    middle = Stimulus.objects.filter(visual_change=0.5).order_by("pk")[6]
    below, above = sets.neighbours(middle, 8)
    everything = list(Stimulus.objects.filter(corruption="gaussian_noise").order_by("visual_change", "pk"))
    place = everything.index(middle)
    assert below == everything[place - 8 : place]
    assert above == everything[place + 1 : place + 9]


def test_nearest_of_an_original_is_the_nearest(stimulus_set: StimulusSet) -> None:
    image = Stimulus.objects.get(key="noise-1").source_image
    own = sorted(
        Stimulus.objects.filter(source_image=image, corruption="gaussian_noise").values_list("visual_change", flat=True)
    )
    for level in (0.0, 0.33, 0.61, 1.0):
        (found,) = sets.nearest_of_original(stimulus_set, image, "gaussian_noise", level)
        assert abs(found.visual_change - level) == min(abs(change - level) for change in own)
    three = sets.nearest_of_original(stimulus_set, image, "gaussian_noise", 0.5, 3)
    assert [one.visual_change for one in three] == own[:3]


def test_examples_stand_at_their_level_or_nowhere(stimulus_set: StimulusSet) -> None:
    levels = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]
    found = sets.nearest_to_levels(stimulus_set, "frost", levels)
    assert [stimulus and stimulus.key for stimulus in found] == [None] * 4 + ["frost-0"] + [None] * 5


#: Question -> what its plan must hold. SEARCH by range or equality; nothing scans or sorts the set.
QUESTIONS: dict[str, Callable[[StimulusSet], object]] = {
    "first page": lambda one: sets.page_of_stimuli(one, Filters("frost"), None, 48),
    "a bin": lambda one: sets.page_of_stimuli(one, Filters("frost", 0.5, 0.525, False), None, 48),
    "after": lambda one: sets.page_of_stimuli(one, Filters("frost"), Cursor(0.5, 9), 48),
    "before": lambda one: sets.page_of_stimuli(one, Filters("frost"), Cursor(0.5, 9, True), 48),
    "deep in equal ones": lambda one: sets.page_of_stimuli(one, Filters("none"), Cursor(0.0, 9), 48),
    "out of reach": lambda one: sets.page_of_stimuli(one, Filters("frost", only="unreached"), None, 48),
    "how many out of reach": lambda one: sets.out_of_reach(one, "frost"),
    "neighbours": lambda one: sets.neighbours(sets.stimulus_of(one, "frost-0"), 3),
    "of an original": lambda one: sets.nearest_of_original(one, one.source_set.images.first(), "frost", 0.4),
    "clean": lambda one: sets.clean_stimulus(one, one.source_set.images.first()),
    "examples": lambda one: sets.nearest_to_levels(one, "frost", [0.25, 0.75]),
    "side by side": lambda one: sets.first_in_range(one, Filters("frost", 0.5, 0.525, False), 6),
    "one by name": lambda one: sets.stimulus_of(one, "frost-0"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_question_reads_or_sorts_a_whole_set(stimulus_set: StimulusSet, question: str) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the plan is read as SQLite tells it")
    with CaptureQueriesContext(connection) as captured:
        QUESTIONS[question](stimulus_set)
    asked = [query["sql"] for query in captured if "stimuli_stimulus" in query["sql"]]
    assert any('FROM "stimuli_stimulus"' in statement for statement in asked)
    with connection.cursor() as cursor:
        for statement in asked:
            if 'FROM "stimuli_stimulus"' not in statement:
                continue
            assert "OFFSET" not in statement
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
            plan = [str(row[3]) for row in cursor.fetchall()]
            assert not any(re.match(r"SCAN stimuli_stimulus\b", line) for line in plan), plan
            assert not any("TEMP B-TREE FOR ORDER BY" in line for line in plan), plan
            if "reached" in statement.split("WHERE")[1]:
                assert any("stimulus_out_of_reach" in line for line in plan), plan


# Pages ------------------------------------------------------------------------------------------------------------


def text_of(response) -> str:  # noqa: ANN001
    assert response.status_code == 200
    text = words(response.content)
    assert "style=" not in text
    return text


def test_browsing_begins_with_the_first_function(researcher: Client, stimulus_set: StimulusSet) -> None:
    text = text_of(researcher.get("/stimuli/sets/rows/browse/"))
    assert text.count('class="thumbnail"') == len(CHANGES)
    assert text.count("data-cell ") == 40
    assert "Gaussian noise" in text
    assert "aimed at" in text  # those out of reach say so


def test_a_bar_leads_to_its_bin(researcher: Client, stimulus_set: StimulusSet) -> None:
    text = text_of(researcher.get("/stimuli/sets/rows/browse/?corruption=gaussian_noise"))
    links = re.findall(r'href="([^"]+)" hx-get="[^"]+" tabindex="-1" data-cell', text)
    assert len(links) == 40
    there = text_of(researcher.get(links[20].replace("&amp;", "&")))
    assert there.count('class="thumbnail"') == 12
    assert there.count("is-current") == 1
    assert "The whole range" in there


def test_bins_next_to_each_other_share_no_stimulus(researcher: Client, stimulus_set: StimulusSet) -> None:
    shown = [
        text_of(researcher.get(f"/stimuli/sets/rows/browse/?low={place / 40:g}&high={(place + 1) / 40:g}"))
        for place in range(40)
    ]
    assert sum(text.count('class="thumbnail"') for text in shown) == len(CHANGES)


def test_pages_lead_on_and_back(researcher: Client, stimulus_set: StimulusSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_browser, "PAGE", 6)
    address, keys = "/stimuli/sets/rows/browse/?corruption=gaussian_noise&category=cat", []
    while address:
        text = text_of(researcher.get(address))
        keys += re.findall(r"/browse/([\w-]+)/\"", text)
        onward = re.search(r'rel="next" href="([^"]+)"', text)
        address = onward[1].replace("&amp;", "&") if onward else ""
    cats = Stimulus.objects.filter(corruption="gaussian_noise", source_image__category="cat")
    assert keys == list(cats.order_by("visual_change", "pk").values_list("key", flat=True))


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("corruption=fog", "Select a valid choice. fog"),
        ("category=unicorn", "Select a valid choice. unicorn"),
        ("only=some", "Select a valid choice. some"),
        ("low=much", "Enter a number"),
        ("low=-1", "greater than or equal to 0"),
        ("high=nan", "Enter a number"),
        ("high=2", "less than or equal to 1"),
        ("low=0.7&high=0.3", "ends before it begins"),
        ("after=here", "is no place in a set"),
        ("after=nan~3", "is no place in a set"),
        ("before=0.5~-1", "is no place in a set"),
        ("after=0.5~99999999999999999999999", "is no place in a set"),
    ],
)
def test_a_value_that_cannot_be_used_gets_a_sentence(
    researcher: Client, stimulus_set: StimulusSet, query: str, sentence: str
) -> None:
    text = text_of(researcher.get(f"/stimuli/sets/rows/browse/?{query}"))
    assert sentence in text
    assert 'role="alert"' in text
    assert 'class="thumbnail"' in text


def test_htmx_gets_the_part_alone_and_history_the_whole(researcher: Client, stimulus_set: StimulusSet) -> None:
    part = researcher.get("/stimuli/sets/rows/browse/", headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert 'id="browse"' in part.content.decode()
    assert "HX-Request" in part.headers["Vary"]
    back = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in researcher.get("/stimuli/sets/rows/browse/", headers=back).content.decode()


def test_functions_stand_side_by_side(researcher: Client, stimulus_set: StimulusSet) -> None:
    text = text_of(researcher.get("/stimuli/sets/rows/browse/?corruption=all&low=0.475&high=0.525"))
    assert text.count('class="thumbnail"') == set_browser.ROW  # a few of the twelve
    assert "12 stimuli" in text
    assert "the median picture ends at Δv 0.45" in text


def test_empty_views_say_why(researcher: Client, stimulus_set: StimulusSet) -> None:
    browse = "/stimuli/sets/rows/browse/"
    assert "No target was out of reach here" in text_of(researcher.get(f"{browse}?corruption=frost&only=unreached"))
    assert "No stimulus is in this range" in text_of(researcher.get(f"{browse}?corruption=frost&low=0.9"))
    assert "No picture of this category" in text_of(researcher.get(f"{browse}?corruption=frost&category=dog"))


def test_one_stimulus_tells_what_made_it(researcher: Client, stimulus_set: StimulusSet) -> None:
    text = text_of(researcher.get("/stimuli/sets/rows/browse/noise-6/"))
    one = Stimulus.objects.get(key="noise-6")
    clean = Stimulus.objects.get(key=f"none-{one.source_image.key}")
    assert f"/stimuli/pictures/{one.pk}/" in text
    assert f"/stimuli/pictures/{clean.pk}/" in text
    assert "target out of reach" in text
    assert "0.000–0.500" in text
    assert one.source_image.key in text
    assert f"figure=strengths&amp;original={one.source_image.key}&amp;function=gaussian_noise&amp;at=0," in text


def test_a_clean_picture_has_a_page_too(researcher: Client, stimulus_set: StimulusSet) -> None:
    image = Stimulus.objects.get(key="frost-0").source_image
    text = text_of(researcher.get(f"/stimuli/sets/rows/browse/none-{image.key}/"))
    assert "The same picture, corrupted" in text
    assert "Target" not in text.split("What made it")[1].split("</dl>")[0]


def test_unknown_stimuli_get_a_plain_page(researcher: Client, stimulus_set: StimulusSet) -> None:
    response = researcher.get("/stimuli/sets/rows/browse/nothing/")
    assert response.status_code == 404
    assert "holds no stimulus named" in response.content.decode()
