"""Studies of the papers by the commands of docs/papers.md: what is planned, counted from the stored plan."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import pytest

from analysis.design.plan import PlannedTrial
from analysis.labels.files import default_labels
from humanexp.stimuli.models import Stimulus
from tests.factories import whole_plan
from tests.labels import of_the_sixteen
from tests.papers.workspace import Workspace, stimulus_set

pytestmark = [pytest.mark.verify, of_the_sixteen]


def known() -> dict[str, Stimulus]:
    return {one.key: one for one in stimulus_set().stimuli.select_related("source_image")}


def by_role(trials: Iterable[PlannedTrial]) -> dict[str, list[PlannedTrial]]:
    found = defaultdict(list)
    for one in trials:
        if one.kind == "main":
            found[one.role].append(one)
    return found


def places(trials: Iterable[PlannedTrial]) -> dict[str, int]:
    return {one.stimulus: one.position for one in trials}


def test_a_session_has_the_sentinels_that_the_file_asks_for(workspace: Workspace) -> None:
    study = workspace.planned("watched", gold_trials=4, negative_trials=2, consistency_pairs=2, sessions=6)
    stimuli = known()
    sessions = whole_plan(study).sessions
    for session in sessions:
        trials = by_role(session.trials)
        assert [len(trials[role]) for role in ("gold", "negative")] == [4, 2]
        for one in (*trials["gold"], *trials["negative"]):
            shown = stimuli[one.stimulus]
            assert (shown.corruption, shown.source_image.category) == ("none", one.correct_response)
        # An animal and an artefact.
        assert len({default_labels().group(one.correct_response) for one in trials["negative"]}) == 2
        first, second = places(trials["consistency_first"]), places(trials["consistency_second"])
        assert len(second) == 2 and first.keys() == second.keys()
        assert all(first[name] < second[name] - 1 and stimuli[name].visual_change <= 0.3 for name in first)
    assert len(sessions) == 6


@pytest.mark.parametrize("shown", ["clean", "corrupted"])
def test_a_session_of_imagenet_d_has_its_sentinels(workspace: Workspace, shown: str) -> None:
    """ImageNet-D, supplement 1.2: a positive and a negative one, and two pictures that come twice in random order."""
    asked = f'{{ shown = "{shown}", negative = 1, second_showings = 2 }}'
    study = workspace.planned(f"really-{shown}", main_trials=0, sessions=40, validation=asked)
    stimuli = known()
    sessions = whole_plan(study).sessions
    answers: Counter[str] = Counter()
    orders = set()
    for session in sessions:
        trials = by_role(session.trials)
        (positive,), (negative,) = trials["gold"], trials["negative"]
        for one, is_shown in ((positive, True), (negative, False)):
            picture = stimuli[one.stimulus]
            assert picture.corruption == "none" and (picture.source_image.category == one.wanted) == is_shown
            assert one.correct_response == ("yes-yes" if is_shown else "no-no")
        new, second = places(trials["main"] + trials["consistency_first"]), places(trials["consistency_second"])
        assert len(second) == 2 and all(new[name] < second[name] - 1 for name in second)
        answers.update(list(new))
        orders.add(tuple(sorted(new, key=new.__getitem__)))
    assert len(orders) == len(sessions) > 10 and set(answers.values()) == {10}
    assert {stimuli[name].corruption == "none" for name in answers} == {shown == "clean"}
