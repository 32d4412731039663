"""The order of the 16 answers: published, or one of each participant's own."""

from __future__ import annotations

import pytest

from analysis.design.catalogue import shuffled_grid
from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.study.protocol import ProtocolConfig, load_protocol
from analysis.tables.trials import TRIALS
from humanexp.participation.answers import iter_trial_rows
from humanexp.studies.pages.design import design_page
from humanexp.studies.selectors import configuration_of
from humanexp.studies.services import create_study, new_version, start_collecting
from tests.factories import SIZE_PX, Tab, collecting_study, configuration, draft_study, make_stimulus_set, new_session

SHUFFLED = {"name": "vcr", "size_px": SIZE_PX, "grid_order": "shuffled"}


def order_of(tab):
    return [choice["name"] for choice in tab.get("session/").json()["choices"]["categorisation"]]


def opened(client, study, code):
    tab = Tab(client, new_session(study, code))
    tab.take_lease()
    return tab


@pytest.fixture
def shuffled(stimulus_set):
    return collecting_study(protocol=SHUFFLED)


def test_the_published_order_is_the_default(client, study):
    tab = opened(client, study, "P-1")
    assert order_of(tab) == list(default_labels().in_grid)
    assert study.sessions.get().grid_order == []
    tab.answer(0)
    assert list(iter_trial_rows(study))[0]["grid_order"] is None


def test_everybody_has_an_order_of_their_own_which_stays(client, shuffled):
    first, second = opened(client, shuffled, "P-1"), opened(client, shuffled, "P-2")
    own = order_of(first)
    assert sorted(own) == sorted(default_labels().ids) and own != list(default_labels().in_grid)
    assert order_of(first) == own != order_of(second)
    assert own == list(shuffled_grid(shuffled.family.slug, "P-1"))


def test_the_analyst_sees_it_in_every_row(client, shuffled):
    tab = opened(client, shuffled, "P-1")
    own = order_of(tab)
    tab.answer(0)
    row = list(iter_trial_rows(shuffled))[0]
    assert row["grid_order"].split(" ") == own == shuffled.sessions.get().grid_order
    TRIALS.frame([{**row, "accepted": True}])


def test_the_next_session_of_the_family_has_the_same_order(client, db):
    make_stimulus_set(per_category=12, per_function=192)
    wanted = configuration(
        protocol=SHUFFLED, max_sessions_per_worker=2, design={"sessions": 3, "main_trials": 16, "clean_trials": 4}
    )
    one = start_collecting(study=create_study(configuration=wanted))
    tab = opened(client, one, "P-1")
    two = start_collecting(study=new_version(study=one, configuration=wanted))
    assert order_of(opened(client, two, "P-1")) == order_of(tab)
    assert order_of(opened(client, two, "P-2")) != order_of(tab)


def test_answers_are_judged_by_name_wherever_they_stand(client, shuffled):
    session = new_session(shuffled, "P-1")
    tab = Tab(client, session)
    tab.take_lease()
    right = session.trials.get(position=0).correct_response
    assert tab.answer(0, right).json()["feedback"]["correct"] is True


def test_pairs_keep_the_order_of_their_choices(client, db):
    make_stimulus_set(per_category=8, per_function=160)
    design = {"sessions": 2, "main_trials": 0, "discrimination": {"trials": 4, "sentinels": 2, "practice": 1}}
    study = draft_study(protocol=SHUFFLED, design=design)
    tab = opened(client, start_collecting(study=study), "P-1")
    assert [choice["name"] for choice in tab.get("session/").json()["choices"]["discrimination"]] == [
        "same",
        "different",
    ]


def test_every_place_is_equally_likely():
    n_labels = len(default_labels())
    grids = [shuffled_grid("family", f"P-{number}") for number in range(100 * n_labels)]
    for place in range(n_labels):
        counts = [sum(grid[place] == category for grid in grids) for category in default_labels().ids]
        # 100 expected; five standard deviations of a binomial.
        assert max(abs(count - 100) for count in counts) < 50


def test_an_order_that_there_is_not_is_refused_and_older_protocols_have_the_published_one():
    with pytest.raises(InvalidInput, match="grid_order must be one of published, shuffled, not 'random'"):
        load_protocol("vcr", {"grid_order": "random"})
    older = {name: value for name, value in load_protocol("vcr").to_dict().items() if name != "grid_order"}
    assert ProtocolConfig.from_dict(older) == load_protocol("vcr")


def test_the_design_page_says_that_it_was_changed(shuffled):
    page = design_page(shuffled, configuration_of(shuffled))
    row = next(row for row in page.protocol if str(row.name) == "order of the 16 answers")
    assert (row.value, row.source) == ("shuffled", "changed")
