"""What every plan promises, over sets, settings and seeds drawn at random."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby

from hypothesis import HealthCheck, assume, given, settings, strategies as st

from analysis.design.catalogue import Catalogue
from analysis.design.planner import plan_study
from analysis.design.sessions import without_seen
from analysis.errors import DesignRefused
from analysis.study.design import DesignConfig, DiscriminationDesign
from tests.analysis.design.pictures import FUNCTIONS, PLAIN, picture_set, with_plain
from tests.analysis.design.test_plan_study import check_promises
from tests.labels import of_the_sixteen

#: Sets with enough of everything, so that nothing has to be cut. (Multiples of 7 would leave most originals without
#: stimuli: `picture_set` takes every seventh.)
AMPLE = st.fixed_dictionaries(
    {
        "per_category": st.sampled_from([16, 17, 18, 20, 23]),
        "per_function": st.integers(600, 900),
        "functions": st.integers(2, 3),
        "sessions": st.integers(8, 20),
        "main_trials": st.integers(24, 48),
        "seed": st.integers(0, 2**40),
    }
)
many = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def ample_plan(drawn, **config):
    originals, stimuli = picture_set(
        [drawn["per_category"]] * 16, drawn["per_function"], FUNCTIONS[: drawn["functions"]], drawn["seed"] % 1000
    )
    asked = DesignConfig(sessions=drawn["sessions"], main_trials=drawn["main_trials"], **config)
    plan = plan_study(originals, stimuli, asked, drawn["seed"])
    rows = {row["stimulus"]: row for row in stimuli}
    assume(len(plan.sessions) == drawn["sessions"])
    assert all(len(main_of(session)) == drawn["main_trials"] for session in plan.sessions)
    return plan, rows


def main_of(session):
    return [trial for trial in session.trials if trial.role == "main"]


@of_the_sixteen
@many
@given(AMPLE, st.sampled_from([0.0, 0.25, 0.6]))
def test_categories_are_balanced_within_a_session_and_over_the_study(drawn, overlap):
    plan, rows = ample_plan(drawn, overlap=overlap)
    study = Counter()
    for session in plan.sessions:
        counts = Counter(rows[trial.stimulus]["category"] for trial in main_of(session))
        study += counts
        assert max(counts.values()) - min(counts.get(category, 0) for category in study) <= 3
    mean = study.total() / 16
    assert len(study) == 16
    assert max(abs(count - mean) for count in study.values()) <= (0.25 + 0.5 * bool(overlap)) * mean


@many
@given(AMPLE, st.sampled_from([0.0, 0.25, 0.6]))
def test_every_session_sees_the_whole_range_of_every_corruption(drawn, overlap):
    plan, rows = ample_plan(drawn, overlap=overlap)
    pool = set(plan.pools["main"])
    for function in FUNCTIONS[: drawn["functions"]]:
        change = sorted(
            r["visual_change"] for r in rows.values() if r["corruption"] == function and r["original"] in pool
        )
        largest = 0.0
        for session in plan.sessions:
            shown = sorted(
                rows[trial.stimulus]["visual_change"]
                for trial in main_of(session)
                if rows[trial.stimulus]["corruption"] == function
            )
            # One from each stratum: the k-th lightest lies in the k-th of n parts, give or take one where its session
            # skips a stratum, and a little more where a stratum had nothing left for it.
            for k, visual_change in enumerate(shown):
                place = sum(other < visual_change for other in change) / len(change) * len(shown)
                largest = max(largest, abs(place - (k + 0.5)))
        assert largest <= 2.5


@many
@given(AMPLE)
def test_corruptions_are_interleaved(drawn):
    plan, rows = ample_plan(drawn)
    for session in plan.sessions:
        order = [rows[trial.stimulus]["corruption"] for trial in main_of(session)]
        assert max(len(list(run)) for _, run in groupby(order)) <= 4
        halves = [Counter(order[: len(order) // 2]), Counter(order[len(order) // 2 :])]
        assert all(abs(halves[0][name] - halves[1][name]) <= 4 for name in set(order))


@many
@given(AMPLE)
def test_clean_trials_are_no_fewer_than_golds_and_sentinels_are_spread(drawn):
    plan, _ = ample_plan(drawn)
    for session in plan.sessions:
        roles = Counter(trial.role for trial in session.trials)
        assert roles["clean"] >= roles["gold"] == 8
        main = [trial for trial in session.trials if trial.kind == "main"]
        for role in ("gold", "negative", "clean"):
            places = [n for n, trial in enumerate(main) if trial.role == role]
            count = len(places)
            # One in each of as many equal parts of a circle, which starts anywhere; second showings come between.
            gaps = [after - before for before, after in zip(places, [*places[1:], places[0] + len(main)], strict=True)]
            assert max(gaps) <= 2 * len(main) / count + 2 * roles["consistency_second"] + 3
            first_half = sum(place < len(main) / 2 for place in places)
            assert abs(first_half - count / 2) <= 3


@many
@given(AMPLE)
def test_the_first_trial_of_a_session_is_of_any_role(drawn):
    """Nobody can wait for a place at which a sentinel always, or never, comes."""
    plan, _ = ample_plan(drawn, practice_trials=0)
    counts = Counter(session.trials[0].role for session in plan.sessions)
    assert counts["main"] < len(plan.sessions) or len(plan.sessions) < 12
    by_place = defaultdict(set)
    for session in plan.sessions:
        for place, trial in enumerate(session.trials):
            by_place[place].add(trial.role)
    assert all(roles != {"gold"} for roles in by_place.values())


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    AMPLE,
    st.sampled_from(["none", "same-different", "abx"]),
    st.sampled_from([0.0, 0.3]),
    st.lists(st.integers(0, 7), min_size=3, max_size=3, unique=True),
)
def test_nobody_sees_an_original_twice_in_a_family(drawn, form, overlap, slots):
    """Three sittings of one person: two of one version of the study and one of the next, with another seed."""
    block = None if form == "none" else DiscriminationDesign(form=form, trials=4, sentinels=2, practice=1)
    originals, stimuli = picture_set([24] * 16, 900, seed=drawn["seed"] % 1000)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(
        sessions=8, sessions_per_participant=3, main_trials=24, overlap=overlap, discrimination=block, clean_trials=8
    )
    catalogue = Catalogue.from_rows(originals, stimuli, plain=PLAIN)
    rows = {row["stimulus"]: row for row in stimuli}
    versions = [plan_study(originals, stimuli, config, drawn["seed"] + k, plain=PLAIN) for k in range(2)]
    seen: set[str] = set()
    for number, slot in enumerate(slots):
        plan = versions[0] if number < 2 else versions[1]
        assume(slot < len(plan.sessions))
        taken = {name for session in plan.sessions for trial in session.trials for name in trial.stimuli}
        try:
            session = without_seen(plan.sessions[slot], catalogue, plan.pools, seen=seen, taken=taken)
        except DesignRefused as refusal:
            assert number and "has seen too many of the pictures" in str(refusal)
            return
        shown = {rows[name]["original"] for trial in session.trials for name in trial.stimuli}
        assert not shown & seen
        assert len(session.trials) >= 0.8 * len(plan.sessions[slot].trials)
        assert sum(t.role == "gold" for t in session.trials) == sum(
            t.role == "gold" for t in plan.sessions[slot].trials
        )
        seen |= shown


@many
@given(AMPLE, st.sampled_from(["interleaved", "blocked"]), st.integers(1, 3))
def test_all_promises_hold_with_every_option(drawn, order, answers):
    plan, rows = ample_plan(drawn, corruption_order=order, answers_per_stimulus=answers, qualification_trials=16)
    check_promises(plan, rows)
    again, _ = ample_plan(drawn, corruption_order=order, answers_per_stimulus=answers, qualification_trials=16)
    assert again == plan
