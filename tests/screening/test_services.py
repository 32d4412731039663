from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from analysis.study.rules import load_rule_set
from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import AuditEvent
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.participation.openings import withdraw_session
from humanexp.screening import selectors, services
from humanexp.screening.models import Verdict, WithdrawnGold
from humanexp.screening.pages.evidence import evidence_of
from tests.factories import collecting_study, new_session
from tests.screening.answered import always_dog, finished


def test_a_finished_session_is_judged_by_the_job_runner(client, study):
    good, bad = finished(client, study, "P-1"), finished(client, study, "P-2", always_dog)
    assert runner.run_waiting(kinds=["screening.judge"]) == 2
    assert {job.state for job in Job.objects.filter(kind="screening.judge")} == {"done"}
    verdicts = selectors.current_verdicts(study)
    assert verdicts[good.pk].accepted and verdicts[good.pk].reasons == []
    assert not verdicts[bad.pk].accepted and verdicts[bad.pk].reasons[0] == "gold trials failed"
    assert (verdicts[good.pk].rule_set, verdicts[good.pk].rule_version) == ("vcr", load_rule_set("vcr").version)
    assert len(verdicts[good.pk].evidence) == len(load_rule_set("vcr").rules)
    assert selectors.accepted_sessions(study) == {good.code}
    assert selectors.excluded_counts(study) == {"gold trials failed": 1}


def test_judging_again_adds_nothing_until_something_changes(client, study):
    session = finished(client, study, "P-1")
    first = services.judge_session(session)
    assert services.judge_session(session) == first
    services.judge_study(study)
    assert Verdict.objects.count() == 1
    other = services.judge_study(study, rules=load_rule_set("none"))
    assert [verdict.rule_set for verdict in other] == ["none"]
    assert [verdict.rule_set for verdict in selectors.history(session)] == ["none", "vcr"]
    assert selectors.current_verdicts(study)[session.pk].rule_set == "none"


def test_the_rules_are_those_of_the_study_even_when_the_shipped_ones_change(client, study):
    session = finished(client, study, "P-1", always_dog)
    study.rule_set = {"name": "old", "version": "0", "description": "before", "rule": []}
    study.save()
    session.study.refresh_from_db()
    verdict = services.judge_session(session)
    assert verdict.accepted and (verdict.rule_set, verdict.rule_version) == ("old", "0")


def test_sessions_under_way_and_withdrawn_ones_are_not_judged(client, study):
    under_way = new_session(study, "P-1")
    with pytest.raises(Conflict, match="when every trial is answered"):
        services.judge_session(under_way)
    withdrawn = finished(client, study, "P-2")
    services.judge_session(withdrawn)
    withdraw_session(session=withdrawn)
    assert services.judge_study(study) == []
    assert selectors.current_verdicts(study) == {} and selectors.excluded_counts(study) == {}


def test_the_job_of_a_session_that_was_withdrawn_meanwhile_ends_quietly(client, study):
    session = finished(client, study, "P-1")
    withdraw_session(session=session)
    runner.run_waiting(kinds=["screening.judge"])
    assert Job.objects.get(kind="screening.judge").state == "done" and not Verdict.objects.exists()


def test_a_persons_decision_is_appended_and_stands(client, study, anna):
    session = finished(client, study, "P-1", always_dog)
    services.judge_session(session)
    decided = services.decide(
        session=session, accepted=True, written_reason="They wrote that the mouse broke.", by=anna
    )
    assert decided.accepted and decided.decided_by == anna and decided.reasons == []
    assert [verdict.accepted for verdict in selectors.history(session)] == [True, False]
    services.judge_study(study)
    assert selectors.current_verdicts(study)[session.pk] == decided
    again = services.return_to_rules(session=session, by=anna)
    assert not again.accepted and not again.is_by_person
    noted = AuditEvent.objects.filter(subject=f"session:{session.code}", by=anna).values_list("action", flat=True)
    assert list(noted) == ["return-to-rules", "decide-session"]
    assert selectors.excluded_counts(study) == {"gold trials failed": 1}


def test_an_exclusion_by_hand_has_its_own_reason(client, study, anna):
    session = finished(client, study, "P-1")
    services.decide(session=session, accepted=False, written_reason="Two people answered in turn.", by=anna)
    assert selectors.excluded_counts(study) == {"excluded by hand": 1}
    assert selectors.accepted_sessions(study) == set()


@pytest.mark.parametrize("reason", ["", "   ", "because"])
def test_a_decision_needs_a_written_reason(client, study, anna, reason):
    session = finished(client, study, "P-1")
    with pytest.raises(InvalidRequest, match="Give a reason in one sentence"):
        services.decide(session=session, accepted=False, written_reason=reason, by=anna)
    assert not Verdict.objects.exists()


def test_verdicts_are_never_changed(client, study, anna):
    session = finished(client, study, "P-1")
    verdict = services.judge_session(session)
    verdict.accepted = False
    with pytest.raises(Conflict, match="never changed"):
        verdict.save()
    with pytest.raises(IntegrityError), transaction.atomic():
        services.append_verdict(session=session, accepted=True, rule_set="x", rule_version="1", decided_by=anna)
    with pytest.raises(IntegrityError), transaction.atomic():
        Verdict.objects.create(
            session=session, study=study, accepted=True, rule_set="x", rule_version="1", decided_at=clock.now()
        )


def test_the_first_reason_is_counted_so_that_the_counts_add_up(client, study):
    for number in range(2):
        services.judge_session(finished(client, study, f"P-{number}", always_dog))
    counts = selectors.excluded_counts(study)
    assert sum(counts.values()) == 2
    assert all(len(verdict.reasons) >= 1 for verdict in selectors.current_verdicts(study).values())


def right_but(*wrong):
    """Answers rightly, but for the golds of these originals."""

    def answer(trial):
        is_wrong = trial.role == "gold" and trial.stimulus.source_image.key in wrong
        return ("dog" if trial.correct_response != "dog" else "cat") if is_wrong else trial.correct_response

    return answer


def golds_of(session):
    return [trial.stimulus.source_image.key for trial in session.trials.filter(role="gold")]


@pytest.fixture
def eager(study):
    """The study with rules that withdraw a gold after two answers, where under a third of them are right."""
    for rule in study.rule_set["rule"]:
        if rule["settings"].get("role") == "gold":
            rule["settings"] |= {"withdraw_under": 0.3, "withdraw_after": 2}
    study.save()
    return study


@pytest.mark.verify
def test_a_gold_that_careful_people_get_wrong_is_withdrawn_and_verdicts_are_appended_anew(client, eager, anna):
    first = finished(client, eager, "P-1", always_dog)
    hard, other = golds_of(first)[:2]
    services.judge_study(eager)
    assert not WithdrawnGold.objects.exists(), "who fails all the others says nothing about this one"
    withdraw_session(session=first)

    unlucky = finished(client, eager, "P-2", right_but(hard, other))
    assert services.judge_session(unlucky).reasons == ["gold trials failed"]
    by_hand = None
    for number in range(3, 8):
        session = finished(client, eager, f"P-{number}", right_but(hard))
        services.judge_session(session)
        if by_hand is None:
            by_hand = services.decide(session=session, accepted=True, written_reason="I know this person.", by=anna)
    withdrawn = WithdrawnGold.objects.get()
    assert (withdrawn.original, withdrawn.right) == (hard, 0) and withdrawn.shown >= 2
    assert not selectors.current_verdicts(eager)[unlucky.pk].accepted, "a job judges the others"
    assert runner.run_waiting(kinds=["screening.judge_study"]) == 1
    assert [verdict.accepted for verdict in selectors.history(unlucky)] == [True, False]
    assert selectors.current_verdicts(eager)[unlucky.pk].evidence[1]["trials"] == 4
    assert selectors.current_verdicts(eager)[by_hand.session_id] == by_hand, "a person's decision stands"
    count = Verdict.objects.count()
    services.judge_study(eager)
    assert Verdict.objects.count() == count and WithdrawnGold.objects.count() == 1
    assert services.return_to_rules(session=unlucky).accepted


def test_judging_the_study_withdraws_and_judges_anew_at_once(client, eager):
    unlucky = finished(client, eager, "P-1", always_dog)
    hard, other = golds_of(unlucky)[:2]
    withdraw_session(session=unlucky)
    unlucky = finished(client, eager, "P-2", right_but(hard, other))
    for number in range(3, 8):
        finished(client, eager, f"P-{number}", right_but(hard))
    seen = []
    verdicts = services.judge_study(eager, report=lambda done, total: seen.append((done, total)))
    assert WithdrawnGold.objects.get().original == hard
    assert all(verdict.accepted for verdict in verdicts) and len(verdicts) == 6
    assert [verdict.accepted for verdict in selectors.history(unlucky)] == [True, False]
    assert len(seen) == 2 and seen[0] == (6, 6), "whoever was shown it was judged twice"
    assert not Job.objects.filter(kind="screening.judge_study").exists()


@pytest.mark.parametrize(("rules", "looks"), [("vcr", True), ("imagenet-d", False), ("none", False)])
def test_only_rules_that_withdraw_golds_look_at_those_of_the_study(client, study, rules, looks):
    session = finished(client, study, "P-1")
    with CaptureQueriesContext(connection) as queries:
        services.judge_session(session, rules=load_rule_set(rules))
    assert any("'gold'" in query["sql"] for query in queries) is looks


def test_a_large_study_is_looked_at_whenever_it_has_grown_by_a_twentieth():
    looks = [finished for finished in range(1, 10_001) if services.is_time_to_look(finished=finished)]
    assert looks[:20] == list(range(1, 21))
    assert all(after - before <= max(1, before / 20) + 1 for before, after in zip(looks, looks[1:], strict=False))
    assert sum(looks) < 25 * 10_000, "answers read in all, as multiples of a session's"


@pytest.fixture
def two_each(stimulus_set):
    """A study in which everybody may do two short sessions."""
    design = {"sessions": 6, "main_trials": 16, "practice_trials": 2, "consistency_pairs": 0, "clean_trials": 2}
    return collecting_study(slug="two", design=design, max_sessions_per_worker=2)


@pytest.mark.parametrize(("wrong", "accepted"), [((2, 0), True), ((1, 1), True), ((1, 2), False)])
def test_golds_of_short_sessions_count_together_over_a_persons_sessions(client, two_each, wrong, accepted):
    sessions = []
    for count in wrong:
        golds = golds_of(new_session(two_each, "P-1"))  # the session under way, which `finished` is given again
        session = finished(client, two_each, "P-1", right_but(*golds[:count]))
        sessions.append(session)
        services.judge_session(session)
        alone = services.judge_session(finished(client, two_each, f"Q-{len(sessions)}"))
        assert alone.accepted
    assert [selectors.current_verdicts(two_each)[session.pk].accepted for session in sessions] == [accepted] * 2
    evidence = selectors.current_verdicts(two_each)[sessions[0].pk].evidence[1]
    assert (evidence["trials"], evidence["value"], evidence["threshold"]) == (10, 10 - sum(wrong), 8)
    assert evidence["sessions"] == 2
    said = evidence_of([], [evidence]).rules[0].measured
    assert said == f"{10 - sum(wrong)} of 10 right in 2 sessions of this person"
    # The first session was judged by itself when it was the only one.
    assert "sessions" not in selectors.history(sessions[0])[-1].evidence[1]
    assert len(selectors.history(sessions[0])) == 2
    assert selectors.history(sessions[0])[-1].accepted is (wrong[0] < 2)
