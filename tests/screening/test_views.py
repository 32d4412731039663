from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.acceptance.golds import Gold
from humanexp.core import clock
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.participation.answers import rows_of, rule_rows_of, session_rows
from humanexp.screening import selectors, services
from humanexp.screening.models import Verdict, WithdrawnGold
from humanexp.screening.pages import review
from humanexp.screening.pages.evidence import evidence_of, portrait_of
from humanexp.screening.pages.review import GoldRow
from tests.factories import new_session
from tests.markup import words
from tests.screening.answered import always_dog, finished


@pytest.fixture
def judged(client, study, anna):
    client.force_login(anna)
    sessions = [finished(client, study, "P-1"), finished(client, study, "P-2", always_dog)]
    services.judge_study(study)
    return sessions


def test_an_empty_review_says_what_will_come(client, study, anna):
    client.force_login(anna)
    text = words(client.get(f"/studies/{study.slug}/review/").content)
    assert "No finished sessions yet" in text


def test_the_list_says_who_counts_and_why_not(client, study, judged):
    good, bad = judged
    text = words(client.get(f"/studies/{study.slug}/review/").content)
    assert "1 of 2 finished sessions count; excluded: 1." in text
    assert good.code in text and bad.code in text and "gold trials failed" in text
    excluded = words(client.get(f"/studies/{study.slug}/review/?show=excluded").content)
    assert bad.code in excluded and good.code not in excluded
    assert good.code in words(client.get(f"/studies/{study.slug}/review/?show=accepted&page=99").content)
    by_reason = words(client.get(f"/studies/{study.slug}/review/", {"show": "gold trials failed"}).content)
    assert bad.code in by_reason and good.code not in by_reason
    partial = words(client.get(f"/studies/{study.slug}/review/", headers={"HX-Request": "true"}).content)
    assert partial.lstrip().startswith("<section") and bad.code in partial


def test_a_sessions_page_shows_evidence_and_stores_a_decision(client, study, judged):
    bad = judged[1]
    url = f"/studies/{study.slug}/review/{bad.code}/"
    text = words(client.get(url).content)
    assert "0 of 5 right" in text or "1 of 5 right" in text or "of 8 right" in text
    assert "at least" in text and "<svg" in text and "style=" not in text
    refused = client.post(url, {"accepted": "yes", "written_reason": "short"})
    assert refused.status_code == 422 and Verdict.objects.filter(session=bad).count() == 1
    stored = client.post(url, {"accepted": "yes", "written_reason": "They told us that the mouse broke."})
    assert stored.status_code == 302
    assert selectors.current_verdicts(study)[bad.pk].accepted
    after = words(client.get(url).content)
    assert "by hand" in after and "the mouse broke" in after
    assert client.post(f"{url}rules/").status_code == 302
    assert not selectors.current_verdicts(study)[bad.pk].accepted


def test_judging_from_the_page(client, study, anna):
    client.force_login(anna)
    finished(client, study, "P-1")
    assert "Judge 1 session" in words(client.get(f"/studies/{study.slug}/review/").content)
    assert client.post(f"/studies/{study.slug}/review/judge/").status_code == 302
    assert Verdict.objects.count() == 1
    assert client.get(f"/studies/{study.slug}/review/judge/").status_code in (404, 405)


def test_sessions_are_looked_through_one_after_the_other(client, study, judged):
    third = finished(client, study, "P-3", always_dog)
    services.judge_study(study)
    good, bad = judged
    address = f"/studies/{study.slug}/review/"
    middle = words(client.get(f"{address}{bad.code}/").content)
    assert "2 of 3" in middle
    assert f'rel="prev" data-key="k" aria-keyshortcuts="k" href="{address}{good.code}/"' in " ".join(middle.split())
    assert f'rel="next" data-key="j" aria-keyshortcuts="j" href="{address}{third.code}/"' in middle
    excluded = words(client.get(f"{address}{bad.code}/?show=excluded").content)
    assert "1 of 2" in excluded and good.code not in excluded
    assert f'href="{address}{third.code}/?show=excluded"' in excluded
    assert f'href="{address}{bad.code}/?show=excluded"' in words(client.get(f"{address}?show=excluded").content)


def test_whoever_leaves_the_list_by_a_decision_still_has_neighbours_in_it(client, study, judged, anna):
    third = finished(client, study, "P-3", always_dog)
    services.judge_study(study)
    services.decide(session=judged[1], accepted=True, written_reason="They told us that the mouse broke.", by=anna)
    place = review.place_of(judged[1], "excluded")
    assert (place.number, place.of, place.previous, place.following) == (0, 1, "", third.code)


def test_a_session_at_a_glance(client, study, judged):
    good, bad = (portrait_of(session_rows(session)) for session in judged)
    assert good.sentinels.good == good.sentinels.of > bad.sentinels.good
    assert good.timing.good == good.timing.of == judged[0].total
    assert bad.shape.good == bad.shape.of, "one answer to everything"
    assert good.shape.good < good.shape.of and good.median_rts == (("", 812.5),)
    assert portrait_of([]).median_rts == ()


def test_what_the_list_draws_is_what_the_page_draws(client, study, judged):
    [rows] = rule_rows_of([judged[1]]).values()
    lean, full = evidence_of(rows, []), evidence_of(session_rows(judged[1]), [])
    assert lean == full
    drawn = sum(outline.count("M") for outline in lean.outlines.values())
    assert drawn == len(full.marks) == judged[1].total


def test_a_long_list_costs_no_more_questions_than_a_short_one(client, study, judged, anna):
    address = f"/studies/{study.slug}/review/"
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for number in range(3):
        finished(client, study, f"P-{number + 3}")
    services.judge_study(study)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) <= len(few)


def test_a_large_study_is_judged_by_a_job(client, study, anna, monkeypatch):
    monkeypatch.setattr(services, "AT_ONCE", 1)
    client.force_login(anna)
    finished(client, study, "P-1")
    finished(client, study, "P-2")
    for _ in range(2):
        answer = client.post(f"/studies/{study.slug}/review/judge/", follow=True)
        assert "The sessions are being judged" in answer.content.decode()
    assert not Verdict.objects.exists()
    job = Job.objects.get(kind="screening.judge_study")
    assert job.created_by == anna
    runner.run_waiting(kinds=["screening.judge_study"])
    assert Verdict.objects.count() == 2
    job.refresh_from_db()
    assert job.result == {"accepted": 2, "judged": 2} and (job.done, job.total) == (2, 2)


def test_only_the_studys_researchers_see_and_decide(client, study, judged, django_user_model):
    client.force_login(django_user_model.objects.create_user("ben"))
    url = f"/studies/{study.slug}/review/"
    assert client.get(url).status_code == 404
    assert client.post(f"{url}{judged[1].code}/", {"accepted": "yes", "written_reason": "x" * 20}).status_code == 404
    assert client.post(f"{url}judge/").status_code == 404
    client.logout()
    assert client.get(url).status_code == 302


def test_sessions_under_way_have_no_evidence_page(client, study, judged):
    session = new_session(study, "P-3")
    assert client.get(f"/studies/{study.slug}/review/{session.code}/").status_code == 404


def test_evidence_shows_no_more_than_the_rules_may_read(client, study, judged):
    good = judged[0]
    rows = rows_of([good], study)[good.code]
    evidence = evidence_of(rows, [])
    hidden = [row["position"] for row in rows if row["role"] == "main" and row["visual_change"] > 0.3]
    for mark in evidence.marks:
        if mark.x in hidden:
            assert mark.title == f"{mark.x + 1}, main"
    assert len(evidence.dots) == len(rows) - len(hidden)


def test_gold_performance_counts_people_against_whom_nothing_else_speaks(client, study, anna):
    for number in range(3):
        finished(client, study, f"P-{number}")
    services.judge_study(study)
    golds = selectors.gold_performance(study)
    assert golds and all(gold.share == 1.0 for gold in golds)
    assert sum(gold.shown for gold in golds) == 3 * 5


def test_a_gold_is_marked_before_it_is_withdrawn():
    doubtful = GoldRow(Gold("cat-1", "cat", shown=10, right=8), is_withdrawn=False)
    early = GoldRow(Gold("cat-1", "cat", shown=4, right=0), is_withdrawn=False)
    assert doubtful.is_doubtful and not early.is_doubtful
    assert not GoldRow(doubtful.gold, is_withdrawn=True).is_doubtful


def test_the_page_says_in_a_sentence_which_golds_are_withdrawn(client, study, judged, anna):
    gold = judged[0].trials.filter(role="gold").first().stimulus.source_image
    url = f"/studies/{study.slug}/review/"
    assert "withdrawn, for too few" not in words(client.get(f"{url}golds/").content)
    WithdrawnGold.objects.create(
        study=study, original=gold.key, category=gold.category, shown=20, right=12, withdrawn_at=clock.now()
    )
    text = words(client.get(f"{url}golds/", headers={"HX-Request": "true"}).content)
    assert text.lstrip().startswith("<section")
    assert "1 gold is withdrawn, because too few of the otherwise accepted people named it" in text
    golds = words(client.get(f"{url}golds/").content)
    assert '<span class="tag tag--plain">withdrawn</span>' in golds
    assert "After 20 presentations, a gold is withdrawn if under 90" in golds
    one = words(client.get(f"{url}{judged[0].code}/").content)
    assert "withdrawn gold" in one, "the strip shows it as a trial like others"


def test_the_timing_certificate_of_a_study(client, study, judged):
    good, bad = judged
    text = words(client.get(f"/studies/{study.slug}/timing/").content)
    assert "100.00\u202f% of" in text and "timing-2" in text
    assert good.participant.code in text and bad.participant.code in text
    told = client.get(f"/studies/{study.slug}/timing/certificate.json")
    assert told["Content-Disposition"].startswith("attachment")
    certificate = told.json()
    after_practice = {one.code: one.trials.exclude(role="practice").count() for one in (good, bad)}
    assert certificate["all"]["recorded"] == sum(after_practice.values()) < good.total + bad.total
    assert certificate["participants"][good.participant.code]["ok"] == after_practice[good.code]


def test_a_study_without_timed_answers_says_so(client, study, anna):
    client.force_login(anna)
    assert "No timed picture yet" in words(client.get(f"/studies/{study.slug}/timing/").content)
    assert client.get(f"/studies/{study.slug}/timing/certificate.json").json()["all"]["within_half_frame"] is None


def test_the_timing_of_a_study_is_for_those_who_may_see_it(client, study):
    assert client.get(f"/studies/{study.slug}/timing/").status_code == 302
