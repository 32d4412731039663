"""Sentinels of persons in plans: in turn, equally often, spread, never twice for a person, and nothing else moves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from analysis.design.catalogue import Catalogue
from analysis.design.plan import StudyPlan
from analysis.design.planner import plan_study
from analysis.design.sessions import without_seen
from analysis.errors import DesignRefused, InvalidInput
from analysis.study.design import DesignConfig
from analysis.study.persons import PersonsDesign
from analysis.study.study import StudyConfiguration
from tests.analysis.design.pictures import picture_set, with_plain

OWN = ("high_pass", "silhouette")
FAMILIES = ("cue_conflict", *OWN)
SESSIONS = 24


def conflicts(count=12):
    """Cue conflicts that a lab brings: originals of their own."""
    pairs = [("cat", "dog"), ("dog", "car"), ("car", "cat"), ("boat", "bird")]
    return [
        {
            "stimulus": f"cue-{number:03d}",
            "original": f"{shape}{number}-{texture}{number}",
            "category": shape,
            "corruption": "cue_conflict",
            "visual_change": 0.0,
        }
        for number in range(count)
        for shape, texture in [pairs[number % len(pairs)]]
    ]


def material(families=FAMILIES):
    originals, rows = picture_set((16,) * 16, 800)
    made = with_plain(originals, rows, plain=[one for one in OWN if one in families])
    return originals, made + (conflicts() if "cue_conflict" in families else [])


def design(**persons):
    return DesignConfig(sessions=SESSIONS, main_trials=24, clean_answers=20, persons=PersonsDesign(**persons))


def planned(config, families=FAMILIES, seed=5):
    originals, rows = material(families)
    return plan_study(originals, rows, config, seed, person_families=FAMILIES)


def shown(session):
    return [trial for trial in session.trials if trial.role == "person"]


def family(name):
    return name.split("-")[0].replace("cue", "cue_conflict")


def test_families_come_in_turn_and_their_pictures_equally_often() -> None:
    plan = planned(design(per_session=4))
    per_session = [Counter(family(trial.stimulus) for trial in shown(session)) for session in plan.sessions]
    # By hand: trial number 4 n + k is of family (4 n + k) mod 3.
    assert per_session[0] == {"cue_conflict": 2, "high_pass": 1, "silhouette": 1}
    assert per_session[1] == {"cue_conflict": 1, "high_pass": 2, "silhouette": 1}
    assert sum(per_session, Counter()) == dict.fromkeys(FAMILIES, 4 * SESSIONS // 3)
    uses = Counter(trial.stimulus for session in plan.sessions for trial in shown(session))
    for name in FAMILIES:
        pool = plan.pools[f"person {name}"]
        of_family = [count for stimulus, count in uses.items() if family(stimulus) == name]
        assert len(of_family) == len(pool)
        assert max(of_family) - min(of_family) <= 1
    for session in plan.sessions:
        assert len({trial.stimulus for trial in shown(session)}) == 4
        assert {trial.task for trial in shown(session)} == {"categorisation"}
        assert {trial.kind for trial in shown(session)} == {"main"}


def test_their_originals_come_up_nowhere_else() -> None:
    plan = planned(design(per_session=4))
    originals, rows = material()
    of = {row["stimulus"]: row["original"] for row in rows}
    as_sentinel = {of[trial.stimulus] for session in plan.sessions for trial in shown(session)}
    others = {of[n] for session in plan.sessions for t in session.trials if t.role != "person" for n in t.stimuli}
    assert not as_sentinel & others
    pools = [set(pool) for pool in plan.pools.values()]
    assert sum(map(len, pools)) == len(set().union(*pools))
    assert not any(
        row["corruption"] in OWN
        and row["stimulus"] in {t.stimulus for session in plan.sessions for t in session.trials if t.role != "person"}
        for row in rows
    )


@pytest.mark.parametrize("order", ["interleaved", "blocked"])
def test_they_are_spread_and_neither_first_nor_last(order) -> None:
    places = []
    for seed in range(6):
        plan = planned(design(per_session=4).but(corruption_order=order), seed=seed)
        for session in plan.sessions:
            main = [trial for trial in session.trials if trial.kind == "main"]
            found = [place for place, trial in enumerate(main) if trial.role == "person"]
            assert found[0] > 0 and found[-1] < len(main) - 1
            quarter = (len(main) - 4) / 4
            for part, place in enumerate(found):
                assert part * quarter <= place - part <= (part + 1) * quarter + 1
            places += [place / (len(main) - 1) for place in found]
    counts, _ = np.histogram(places, bins=8, range=(0, 1))
    assert counts.min() > 0.6 * counts.mean()


def test_everything_else_is_as_it_would_be_without_them() -> None:
    """The same main trials in the same order: only pictures of the pools differ, whose originals are taken out."""
    none = design(per_session=0)
    with_cue = planned(design(per_session=4, families=("cue_conflict",)))
    without = planned(none)
    for one, other in zip(with_cue.sessions, without.sessions, strict=True):
        kept = [t.stimulus for t in one.trials if t.role != "person"]
        assert kept == [trial.stimulus for trial in other.trials]
        assert not shown(other)


def test_a_design_without_them_is_stored_and_planned_as_before_there_were_any() -> None:
    config = DesignConfig(sessions=6)
    assert "persons" not in config.to_dict()
    originals, rows = picture_set((16,) * 16, 800)
    before = plan_study(originals, rows, DesignConfig(sessions=6), 5)
    after = plan_study(*material(), DesignConfig(sessions=6), 5, person_families=FAMILIES)
    assert after.to_lines() == before.to_lines()


def test_a_plan_is_a_function_of_its_seed_and_survives_its_file() -> None:
    plan = planned(design(per_session=3))
    assert planned(design(per_session=3)) == plan != planned(design(per_session=3), seed=6)
    assert StudyPlan.from_lines(plan.to_lines()) == plan
    assert plan.summary["trials_by_role"]["person"] == 3


def test_a_person_of_several_sessions_sees_none_twice() -> None:
    config = design(per_session=4).but(sessions_per_participant=3)
    plan = planned(config)
    originals, rows = material()
    catalogue = Catalogue.from_rows(originals, rows, person_families=FAMILIES)
    of = {row["stimulus"]: row["original"] for row in rows}
    # Sentinels that other people see may come up again: there are few of them.
    taken = [trial.stimulus for session in plan.sessions for trial in shown(session)]
    for first in range(0, SESSIONS - 2, 3):
        seen: set[str] = set()
        for session in plan.sessions[first : first + 3]:
            given = without_seen(session, catalogue, plan.pools, seen=seen, taken=taken)
            mine = [of[trial.stimulus] for trial in shown(given)]
            assert len(mine) == len(set(mine)) == 4 and not seen & set(mine)
            for trial in shown(given):
                assert trial.correct_response == catalogue.by_stimulus()[trial.stimulus].category
            seen |= {of[name] for trial in given.trials for name in trial.stimuli}


def test_what_cannot_be_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidInput, match=r"design\.persons\.per_session must be a whole number from 0 to 4, not 5"):
        StudyConfiguration.from_dict({"title": "t", "stimuli": "s", "design": {"persons": {"per_session": 5}}})
    with pytest.raises(InvalidInput, match=r"persons\.per_session is 4, but nobody names pictures"):
        DesignConfig(main_trials=0, discrimination={"trials": 8}, persons={"per_session": 4})
    with pytest.raises(InvalidInput, match=r"names a family twice"):
        PersonsDesign(families=("high_pass", "high_pass"))
    with pytest.raises(DesignRefused, match="has no sentinels of persons") as refused:
        originals, rows = picture_set((16,) * 16, 800)
        plan_study(originals, rows, design(per_session=1), 5)
    assert set(refused.value.fields) == {"design.persons.per_session"}
    with pytest.raises(DesignRefused, match="names 'digits', but the stimulus set has only: cue_conflict") as refused:
        planned(design(families=("digits",)))
    assert set(refused.value.fields) == {"design.persons.families"}
    with pytest.raises(DesignRefused, match="needs 16 sentinel pictures of the family cue_conflict .* only 12"):
        planned(design(families=("cue_conflict",)).but(sessions_per_participant=4))
