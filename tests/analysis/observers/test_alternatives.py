"""Questions that offer fewer labels than there are: which ones, and what may be said of the answers."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels, shipped
from analysis.labels.space import Label, LabelSpace
from analysis.observers.alternatives import alternatives_of
from analysis.observers.methods import said_of_alternatives
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import AskPlan
from analysis.observers.schedule import Schedule
from analysis.observers.scoring import read_answer
from tests.analysis.observers.pictures import stimuli

THOUSAND = shipped("imagenet1000")
#: Words of which some begin with others.
TOOLS = LabelSpace(
    name="tools",
    labels=(
        Label(id="one", words={"en": "crane"}),
        Label(id="two", words={"en": "Crane fly"}),
        Label(id="three", words={"en": "cranesbill"}),
        Label(id="four", words={"en": "saw"}),
        Label(id="five", words={"en": "drill"}),
    ),
)


def test_the_right_label_and_foils_in_the_order_of_the_space() -> None:
    for number in range(200):
        right = THOUSAND.ids[number * 5]
        accepted = THOUSAND.ids[number * 5 + 1 : number * 5 + 3]
        found = alternatives_of(f"s{number}", right, THOUSAND, count=4, seed=1, accepted=accepted)
        assert right in found and len(set(found)) == 4 and not set(found) & set(accepted)
        assert list(found) == [one for one in THOUSAND.ids if one in found], "their order does not tell the right one"
        assert found == alternatives_of(f"s{number}", right, THOUSAND, count=4, seed=1, accepted=accepted)
        words = [THOUSAND[one].word().casefold() for one in found]
        assert not any(a != b and words[a].startswith(words[b]) for a in range(4) for b in range(4))
    assert {alternatives_of("s", right, THOUSAND, count=4, seed=seed) for seed in range(9)}.__len__() == 9


def test_every_wrong_label_is_a_foil_equally_often() -> None:
    ids = default_labels().ids
    counts = Counter(
        foil
        for number in range(3000)
        for foil in alternatives_of(f"s{number}", ids[0], default_labels(), count=4, seed=0)
        if foil != ids[0]
    )
    assert set(counts) == set(ids[1:]) and chisquare(list(counts.values())).pvalue > 0.01


def test_a_classifiers_wrong_answer_comes_first_and_its_right_one_never() -> None:
    ids = default_labels().ids
    for number in range(50):
        assert ids[3] in alternatives_of(f"s{number}", ids[0], default_labels(), count=2, seed=0, first=(ids[3],))
        right = alternatives_of(f"s{number}", ids[0], default_labels(), count=2, seed=0, first=(ids[0],))
        assert right == alternatives_of(f"s{number}", ids[0], default_labels(), count=2, seed=0)


def test_words_that_begin_alike_are_not_offered_together() -> None:
    for number in range(30):
        assert set(alternatives_of(f"s{number}", "one", TOOLS, count=3, seed=0)) == {"one", "four", "five"}
    with pytest.raises(InvalidInput, match=r"s: tools has only 2 wrong labels .* 4 alternatives take 3. Ask for fewer"):
        alternatives_of("s", "one", TOOLS, count=4, seed=0)


@pytest.mark.parametrize("is_balanced", [True, False])
def test_whoever_names_a_place_is_right_in_one_of_k(is_balanced: bool) -> None:
    plan = AskPlan(("describes",), 1, alternatives=5, is_balanced=is_balanced, rotated=10)
    shown = stimuli(800, THOUSAND.ids)
    schedule = Schedule(plan, shown, THOUSAND, 5)
    first = [next(iter(schedule.about(trial))) for trial in shown]
    for place in range(5):
        right = np.mean([one.question.labels[place] == one.trial.category for one in first])
        assert abs(right - 0.2) < (1e-9 if is_balanced else 2.6 * np.sqrt(0.16 / 800))
    assert schedule.counts == {"trial": 800, "rotation": 40}
    for trial in shown[:3]:
        assert len({tuple(sorted(one.question.labels)) for one in schedule.about(trial)}) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"alternatives": 1}, "2 alternatives or more"),
        ({"alternatives": -2}, "2 alternatives or more"),
        ({"foils": "net"}, "Foils of net need a number of alternatives"),
    ],
)
def test_no_other_numbers(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        AskPlan(**changes)  # type: ignore[arg-type]


def test_labels_without_end_can_be_asked_for_in_part() -> None:
    AskPlan(alternatives=4).check_labels(THOUSAND, is_scored=True)
    AskPlan(alternatives=26, style="letters").check_labels(THOUSAND)
    with pytest.raises(InvalidInput, match="at most 30 behind bare words, not 31 alternatives"):
        AskPlan(alternatives=31).check_labels(THOUSAND)
    with pytest.raises(InvalidInput, match="16 labels, and a question can offer all of them: leave out the number"):
        AskPlan(alternatives=4).check_labels(default_labels())


def test_a_protocol_says_them_and_others_keep_their_digest() -> None:
    protocol = AskProtocol(plan=AskPlan(alternatives=4, foils="net"))
    kept = json.loads(json.dumps(protocol.to_json()))
    assert (kept["plan"]["alternatives"], kept["plan"]["foils"]) == (4, "net")
    assert AskProtocol.from_json(kept) == protocol and protocol.digest != AskProtocol().digest
    assert not {"alternatives", "foils"} & set(AskProtocol().to_json()["plan"])
    digests = {AskProtocol(plan=AskPlan(alternatives=number)).digest for number in (0, 2, 3, 4)}
    assert len(digests) == 4, "models are compared over sets under one number of alternatives alone"


def test_a_label_that_was_not_offered_is_outside_though_its_word_holds_an_offered_one() -> None:
    space = LabelSpace(name="bears", labels=(Label(id="bear"), Label(id="polar_bear"), Label(id="cat")))
    said = {
        text: read_answer(text, ("bear", "cat"), space=space)
        for text in ("A polar bear.", "a bear", "cat or polar bear")
    }
    assert [(one.kind, one.label) for one in said.values()] == [("outside", "na"), ("label", "bear"), ("label", "cat")]


def test_of_labels_with_one_word_the_offered_one_is_meant() -> None:
    cranes = [one for one in THOUSAND.ids if THOUSAND[one].word().casefold() == "crane"]
    assert len(cranes) == 2
    for one in cranes:
        assert read_answer("A crane", (one, THOUSAND.ids[0]), space=THOUSAND).label == one
        assert not set(cranes) - {one} & set(alternatives_of("s", one, THOUSAND, count=30, seed=0))


def test_the_methods_name_the_rule_the_number_and_chance() -> None:
    drawn = said_of_alternatives(AskPlan(alternatives=4), n_labels=1000, foiled=0, trials=50)
    assert drawn == (
        "Each question offered 4 of 1,000 labels: the right one and 3 others drawn at random for each picture from the "
        "seed; a guess is right in 1 of 4 (0.250). Shares of right answers compare with no other number of labels."
    )
    of_net = said_of_alternatives(AskPlan(alternatives=2, foils="net"), n_labels=None, foiled=20, trials=50)
    assert "first of all the wrong answer of net where it gave one (on 20 of 50 pictures)" in of_net
