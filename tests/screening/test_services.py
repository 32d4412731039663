from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from analysis.acceptance import load_rule_set
from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.experiments import services as experiments
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.screening import selectors, services
from humanexp.screening.models import Verdict
from tests.experiments.conftest import new_session
from tests.screening.conftest import always_dog, finished


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
    experiments.withdraw_session(session=withdrawn)
    assert services.judge_study(study) == []
    assert selectors.current_verdicts(study) == {} and selectors.excluded_counts(study) == {}


def test_the_job_of_a_session_that_was_withdrawn_meanwhile_ends_quietly(client, study):
    session = finished(client, study, "P-1")
    experiments.withdraw_session(session=session)
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
    again = services.return_to_rules(session=session)
    assert not again.accepted and not again.is_by_person
    assert selectors.excluded_counts(study) == {"gold trials failed": 1}


def test_an_exclusion_by_hand_has_its_own_reason(client, study, anna):
    session = finished(client, study, "P-1")
    services.decide(session=session, accepted=False, written_reason="Two people answered in turn.", by=anna)
    assert selectors.excluded_counts(study) == {"excluded by hand": 1}
    assert selectors.accepted_sessions(study) == set()


@pytest.mark.parametrize("reason", ["", "   ", "because"])
def test_a_decision_needs_a_written_reason(client, study, anna, reason):
    session = finished(client, study, "P-1")
    with pytest.raises(InvalidRequest, match="Write down why"):
        services.decide(session=session, accepted=False, written_reason=reason, by=anna)
    assert not Verdict.objects.exists()


def test_verdicts_are_never_changed(client, study, anna):
    session = finished(client, study, "P-1")
    verdict = services.judge_session(session)
    verdict.accepted = False
    with pytest.raises(Conflict, match="never changed"):
        verdict.save()
    with pytest.raises(IntegrityError), transaction.atomic():
        Verdict.objects.create(
            session=session, accepted=True, rule_set="x", rule_version="1", decided_by=anna, decided_at=clock.now()
        )


def test_the_first_reason_is_counted_so_that_the_counts_add_up(client, study):
    for number in range(2):
        services.judge_session(finished(client, study, f"P-{number}", always_dog))
    counts = selectors.excluded_counts(study)
    assert sum(counts.values()) == 2
    assert all(len(verdict.reasons) >= 1 for verdict in selectors.current_verdicts(study).values())
