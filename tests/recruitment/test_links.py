"""Links to a site that sends people: ids, codes, and the way back of every outcome."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection

from analysis.errors import InvalidInput
from analysis.study.link import Link
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.entry.admission import turn_away
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.participation.models import Session
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson
from humanexp.recruiters.people import exclude_people
from humanexp.recruiters.presets import HANDLING, address_for_site, presets
from humanexp.recruiters.tickets import Outcome, Ticket
from humanexp.recruiting.approvals import withdraw_approval
from humanexp.recruiting.extension import stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.personal_data import delete_participant
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
PID, SUBMISSION = "5f0c0ffee0ddba11deadbeef", "66aa00bb11cc22dd33ee44ff"
OTHER_SUBMISSION = "66aa00bb11cc22dd33ee4400"
CREDIT = "https://lab.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=x&survey_code={person}"
BACK = "https://panel.example.org/done?code={code}&who={person}"


@pytest.fixture
def study() -> Study:
    return make_study()


def launched(study: Study, **link: Any) -> Campaign:
    stated = {"preset": "prolific", **link}
    return publish(study=study, terms=LaunchTerms(to="link", assignments=3, link=Link(**stated)))


@pytest.fixture
def campaign(study: Study) -> Campaign:
    return launched(study)


def code_of(campaign: Campaign, outcome: Outcome) -> str:
    return campaign.site.codes[outcome].code


def codes_of(campaign: Campaign) -> list[str]:
    return [row.code for row in campaign.site.codes.values() if row.code]


def comes(campaign: Campaign, person: str = PID, submission: str = SUBMISSION) -> Visitor:
    return Visitor(campaign, worker_id=person, assignment_id=submission)


def goes_back(visitor: Visitor) -> Any:
    return visitor.call("POST", f"/take/{visitor.campaign.entry}/way-out/")


def declines(visitor: Visitor, outcome: str) -> Any:
    body = {"outcome": outcome, "workerId": visitor.person["workerId"], "assignmentId": ""}
    return visitor.http.post(f"/take/{visitor.campaign.entry}/decline/", body, content_type="application/json")


def page_of(reply: Any) -> dict[str, Any]:
    text = reply.text.split('<script id="take-page" type="application/json">')[1].split("</script>")[0]
    found: dict[str, Any] = json.loads(text)
    return found


class TestPresets:
    def test_every_file_is_a_preset_that_names_people(self) -> None:
        assert set(presets()) == {"prolific", "connect", "sona", "plain", "class"}
        for preset in presets().values():
            assert preset.parameters["person"] and set(preset.placeholders) <= set(preset.parameters)
            assert set(preset.actions) == {"review", "return"} and set(preset.steps) == {"en", "de"}
            assert set(preset.code_types) <= set(Outcome)

    def test_nothing_is_approved_or_rejected_by_a_rule(self) -> None:
        assert set(HANDLING) == set(Outcome)
        assert {one.action for one in HANDLING.values()} == {"review", "return"}
        # whoever did what was asked is looked at by a person, and paid in full
        done = {outcome for outcome, one in HANDLING.items() if one.action == "review"}
        assert done == {Outcome.FINISHED, Outcome.PRACTICE_FAILED, Outcome.QUALIFICATION_FAILED}
        assert {HANDLING[outcome].paid for outcome in done} == {"full"}

    def test_the_address_for_the_site_keeps_its_placeholders_readable(self) -> None:
        site = presets()["prolific"]
        address = address_for_site("https://lab.example/take/x/", site.parameters, site.placeholders)
        assert address.startswith("https://lab.example/take/x/?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID=")
        site = presets()["sona"]
        assert address_for_site("https://l/", site.parameters, site.placeholders).endswith("?survey_code=%SURVEY_CODE%")


class TestReturnAddress:
    @pytest.mark.parametrize(
        "address",
        [
            "http://panel.example.org/",
            "javascript:alert(1)",
            "https://localhost/",
            "https://{person}.example.org/",
            "https://user:secret@example.org/",
            "https://example.org\\@evil.example/",
            "https://example.org/{worker}",
            "https://example.org/{code",
            "https://example.org/a b",
            "//example.org/",
        ],
    )
    def test_an_address_that_could_lead_elsewhere_is_refused(self, address: str) -> None:
        with pytest.raises(InvalidInput, match="address|brace"):
            Link(preset="plain", return_address=address)

    def test_an_address_that_gives_credit_names_who_gets_it(self, study: Study) -> None:
        with pytest.raises(InvalidRequest, match=r"put \{person\} in its place") as refused:
            launched(study, preset="sona", alternative="Read a paper.", return_address=CREDIT.format(person="XXXX"))
        assert set(refused.value.fields) == {"link_return_address"} and not Campaign.objects.exists()

    def test_an_address_that_gives_credit_is_told_to_who_did_their_part_alone(self, study: Study) -> None:
        campaign = launched(study, preset="sona", alternative="Read a paper.", return_address=CREDIT)
        visitor, quitter = Visitor(campaign, worker_id="10234"), Visitor(campaign, worker_id="10235")
        said = [visitor.get(survey_code="10234").text, visitor.open().text, quitter.open().text]
        said += [declines(Visitor(campaign, worker_id="10236"), "no-consent").text]
        quitter.call("POST", "/api/v1/run/withdraw/", {"keep": True})
        said += [goes_back(quitter).text, json.dumps(visitor.answer_all())]
        assert not any("credit_token" in one for one in said)
        assert goes_back(visitor).json()["address"] == CREDIT.format(person="10234")

    def test_it_is_not_in_a_study_s_file_which_is_exported(self) -> None:
        link = {"preset": "sona", "alternative": "Read a paper.", "return_address": CREDIT}
        study = make_study("filed", recruitment={"link": link})
        for stated in (None, Link(preset="plain", pay="none")):
            with pytest.raises(InvalidRequest, match="every export contains"):
                publish(study=study, terms=LaunchTerms(to="link", assignments=1, link=stated))

    def test_ids_of_one_name_unknown_presets_and_half_a_reward_are_refused(self, study: Study) -> None:
        same_name = {"person": "id", "submission": "id"}
        ours, spaced, half = {"person": "language"}, {"person": "a b"}, {"currency": "GBP"}
        for bad in (same_name, ours, spaced, half):
            with pytest.raises(InvalidInput):
                Link.from_dict({"preset": "plain", **bad})
        for bare in ({"preset": "sona"}, {"pay": "credit"}):
            with pytest.raises(InvalidRequest, match="instead for the same credit"):
                launched(study, **bare)
        with pytest.raises(InvalidRequest, match="needs its currency"):
            launched(study, preset="plain", reward=150)
        with pytest.raises(InvalidRequest, match="no preset"):
            launched(study, preset="elsewhere")


class TestSiteCode:
    def test_a_site_that_makes_it_itself_needs_it_or_an_address_to_go_back_to(self, study: Study) -> None:
        for link in ({}, {"return_address": "https://connect.cloudresearch.com/x?c={code}"}):
            with pytest.raises(InvalidRequest, match="makes the completion code of a project itself") as refused:
                launched(study, preset="connect", **link)
            assert set(refused.value.fields) == {"link_site_code"}
        assert not Campaign.objects.exists()

    def test_another_site_takes_ours(self, study: Study) -> None:
        with pytest.raises(InvalidRequest, match="no completion code of its own"):
            launched(study, preset="prolific", site_code="A1B2")

    @pytest.mark.parametrize("code", ["A B", "A\tB", "A\u00a0B", "A" * 41])
    def test_it_can_be_typed(self, code: str) -> None:
        with pytest.raises(InvalidInput):
            Link.from_dict({"preset": "connect", "site_code": code})

    def test_the_study_file_says_it_too(self) -> None:
        study = make_study("filed", recruitment={"link": {"preset": "connect", "site_code": "A1B2"}})
        publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        assert code_of(Campaign.objects.get(), Outcome.FINISHED) == "A1B2"


class TestFrozen:
    def test_every_outcome_has_a_random_code_of_its_own(self, campaign: Campaign, study: Study) -> None:
        codes = codes_of(campaign)
        assert len(codes) == len(set(codes)) == len(Outcome)
        other = launched(make_study("other"))
        assert not set(codes) & set(codes_of(other))

    @pytest.mark.parametrize("fault", ["two outcomes with one code", "an outcome without one", "a word of nobody's"])
    def test_codes_that_tell_no_outcome_are_refused(self, campaign: Campaign, fault: str) -> None:
        codes = campaign.terms["codes"]
        if fault == "two outcomes with one code":
            codes["full"]["code"] = codes["finished"]["code"]
        elif fault == "an outcome without one":
            del codes["full"]
        else:
            campaign.terms["colour"] = "blue"
        with pytest.raises(ValidationError) as refused:
            campaign.full_clean()
        assert set(refused.value.message_dict) == {"terms"}

    def test_the_terms_are_those_of_the_launch(self, campaign: Campaign) -> None:
        terms = Campaign.objects.get().site
        assert terms.parameters == {"person": "PROLIFIC_PID", "submission": "SESSION_ID", "offer": "STUDY_ID"}
        assert terms.return_address == "https://app.prolific.com/submissions/complete?cc={code}"

    def test_the_study_file_says_it_too(self) -> None:
        study = make_study("filed", recruitment={"link": {"preset": "plain", "person": "who", "return_address": BACK}})
        publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        terms = Campaign.objects.get().site
        assert (terms.parameters["person"], terms.return_address) == ("who", BACK)

    @pytest.mark.parametrize(
        ("link", "currency"),
        [
            ({"preset": "prolific"}, "GBP"),
            ({"preset": "prolific", "currency": "USD"}, "USD"),
            ({"preset": "connect", "site_code": "A1"}, "USD"),
        ],
    )
    def test_a_reward_is_in_the_site_s_currency_unless_another_is_named(
        self, study: Study, link: dict[str, str], currency: str
    ) -> None:
        launched(study, reward=150, **link)
        assert Campaign.objects.get().site.currency == currency

    def test_a_rehearsal_with_scripted_participants_has_no_site(self) -> None:
        study = make_study("rehearsed", population="scripted", recruitment={"link": {"preset": "prolific"}})
        publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        assert Campaign.objects.get().terms == {}

    def test_a_link_that_anybody_hands_out_stays_as_it_was(self, study: Study) -> None:
        plain = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        assert Campaign.objects.get().terms == {}
        guest = Visitor(plain, worker_id="panel-7", assignment_id="something")
        assert guest.open().status_code == 201
        guest.answer_all()
        assert Assignment.objects.get().assignment_id != "something"
        assert goes_back(guest).status_code == 409


class TestEntry:
    def test_ids_are_read_from_the_presets_names(self, campaign: Campaign) -> None:
        reply = Visitor(campaign).get(PROLIFIC_PID=PID, STUDY_ID="s", SESSION_ID=SUBMISSION, p="another")
        page = page_of(reply)
        assert (page["workerId"], page["assignmentId"], page["isUnfilled"]) == (PID, SUBMISSION, False)
        assert reply["Referrer-Policy"] == "no-referrer"

    @pytest.mark.parametrize("given", ["{{%PROLIFIC_PID%}}", "%SURVEY_CODE%", "{{PROLIFIC_PID}}"])
    def test_placeholders_that_were_not_filled_in_open_nothing(self, campaign: Campaign, given: str) -> None:
        assert page_of(Visitor(campaign).get(PROLIFIC_PID=given, SESSION_ID=SUBMISSION))["isUnfilled"]
        refused = comes(campaign, person=given).open()
        assert refused.status_code == 422 and "where you found it" in refused.json()["detail"]
        assert comes(campaign, submission="{{%SESSION_ID%}}").open().status_code == 422
        assert not Session.objects.exists() and not RecruitedPerson.objects.exists()

    @pytest.mark.parametrize(
        ("person", "submission"), [("", SUBMISSION), (PID, ""), ("a b", SUBMISSION), (PID, "x" * 41)]
    )
    def test_who_is_not_named_cannot_begin(self, campaign: Campaign, person: str, submission: str) -> None:
        assert comes(campaign, person, submission).open().status_code == 422
        assert not Session.objects.exists()

    def test_one_person_once_and_ids_lie_in_one_table(self, campaign: Campaign) -> None:
        first = comes(campaign)
        assert first.open().status_code == 201
        person = RecruitedPerson.objects.get()
        assert person.given_id == PID and PID not in str(person.participant.code)
        again = comes(campaign, submission=OTHER_SUBMISSION)
        assert again.open().status_code == 409  # only the browser that began goes on
        assert Session.objects.count() == 1
        first.answer_all()
        assert again.open().status_code == 409
        assert Session.objects.count() == 1

    def test_a_submission_is_one_persons(self, campaign: Campaign) -> None:
        assert comes(campaign).open().status_code == 201
        refused = comes(campaign, person="ffff0ffee0ddba11deadbeef").open()
        assert refused.status_code == 409 and refused.json()["way_out"]["outcome"] == "already-took-part"
        assert Session.objects.count() == 1

    def test_the_browser_that_began_goes_on_under_the_submission_that_is_paid(self, campaign: Campaign) -> None:
        first = comes(campaign)
        first.open()
        secret = first.secret()
        again = comes(campaign, submission=OTHER_SUBMISSION)
        assert again.open(secret=secret).status_code == 201
        assert Assignment.objects.get().assignment_id == OTHER_SUBMISSION

    def test_two_sites_may_give_the_same_id(self, campaign: Campaign, study: Study) -> None:
        other = launched(study, preset="plain")
        assert comes(campaign).open().status_code == 201
        assert Visitor(other, worker_id=PID).open().status_code == 201
        assert RecruitedPerson.objects.values("participant").distinct().count() == 2

    def test_an_exclusion_list_has_bare_ids(self, campaign: Campaign, study: Study) -> None:
        exclude_people(family=study.family, worker_ids=[PID], environment="link")
        refused = comes(campaign).open()
        assert refused.json()["way_out"] == {
            "outcome": "ineligible",
            "kind": "redirect",
            "address": f"https://app.prolific.com/submissions/complete?cc={code_of(campaign, Outcome.INELIGIBLE)}",
            "code": code_of(campaign, Outcome.INELIGIBLE),
        }


def test_no_export_and_no_log_has_an_id_of_a_site(
    campaign: Campaign, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    visitor = comes(campaign)
    visitor.get(PROLIFIC_PID=PID, SESSION_ID=SUBMISSION)
    visitor.open()
    visitor.answer_all()
    goes_back(visitor)
    declines(comes(campaign, "another0person"), "no-consent")
    call_command("export", campaign.study.slug, "--to", str(tmp_path / "out"), stdout=StringIO())
    content = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    secrets = (PID, SUBMISSION, *codes_of(campaign))
    assert content and not any(secret.encode() in content for secret in secrets)
    assert not any(id_ in caplog.text for id_ in (PID, SUBMISSION, "another0person"))


def test_deleting_somebody_forgets_the_site_s_ids(campaign: Campaign) -> None:
    comes(campaign).open()
    person = RecruitedPerson.objects.get()
    sessions = [f"session:{session.code}" for session in person.participant.sessions.all()]
    job = jobs.submit("screening.judge", subject=sessions[0], session_id=1)
    delete_participant(code=person.participant.code)
    job.refresh_from_db()
    assert job.subject == "session:deleted" and not Job.objects.filter(subject__in=sessions).exists()
    assert connection.connection is not None
    stored = "\n".join(connection.connection.iterdump())
    assert PID not in stored and SUBMISSION not in stored


class TestWayOut:
    def test_it_opens_with_the_last_answer(self, campaign: Campaign) -> None:
        visitor = comes(campaign)
        page = visitor.get(PROLIFIC_PID=PID, SESSION_ID=SUBMISSION).text
        opened = visitor.open()
        assert goes_back(visitor).status_code == 409
        done = visitor.answer_all()
        for said in (page, opened.text, json.dumps(done), visitor.get().text):
            assert not any(code in said for code in codes_of(campaign))
        back = goes_back(visitor).json()
        assert back["outcome"] == "finished"
        assert back["address"].endswith(f"?cc={code_of(campaign, Outcome.FINISHED)}")

    @pytest.mark.parametrize(
        ("known", "outcome"),
        [({"qualified": False}, "qualification-failed"), ({"practised": False, "qualified": False}, "practice-failed")],
    )
    def test_who_failed_a_round_has_another_code(self, campaign: Campaign, known: Any, outcome: str) -> None:
        visitor = comes(campaign)
        visitor.open()
        visitor.answer_all()
        Session.objects.update(**known)
        assert goes_back(visitor).json()["outcome"] == outcome

    @pytest.mark.parametrize("keep", [True, False])
    def test_who_leaves_has_another_code(self, campaign: Campaign, keep: bool) -> None:
        visitor = comes(campaign)
        visitor.open()
        visitor.call("POST", "/api/v1/run/withdraw/", {"keep": keep})
        back = goes_back(visitor).json()
        assert (back["outcome"], back["code"]) == ("left", code_of(campaign, Outcome.LEFT))

    def test_a_bearer_of_another_study_opens_nothing(self, campaign: Campaign) -> None:
        stranger = comes(launched(make_study("other")))
        stranger.open()
        stranger.answer_all()
        stranger.campaign = campaign
        assert goes_back(stranger).status_code == 401

    @pytest.mark.parametrize("outcome", ["no-consent", "wrong-device", "ineligible", "already-took-part"])
    def test_who_declines_leaves_a_number_alone(self, campaign: Campaign, outcome: str) -> None:
        back = declines(comes(campaign), outcome)
        assert back.json()["code"] == code_of(campaign, Outcome(outcome))
        declines(comes(campaign), outcome)
        assert Campaign.objects.get().turned_away == {outcome: 2}
        assert not any(model.objects.exists() for model in (Session, RecruitedPerson, Assignment))

    def test_a_page_that_was_read_before_loses_no_count(self, campaign: Campaign) -> None:
        for outcome in (Outcome.FULL, Outcome.FULL, Outcome.NO_CONSENT):
            turn_away(campaign=campaign, terms=campaign.site, outcome=outcome, ticket=Ticket())
        assert Campaign.objects.get().turned_away == {"full": 2, "no-consent": 1}

    @pytest.mark.parametrize("outcome", ["finished", "full", "closed", "left", "technical-failure"])
    def test_nobody_can_say_what_the_study_has_to_see(self, campaign: Campaign, outcome: str) -> None:
        refused = declines(comes(campaign), outcome)
        assert refused.status_code == 409 and "way_out" not in refused.json()
        assert Campaign.objects.get().turned_away == {}

    def test_having_taken_part_is_said_and_never_looked_up(self, campaign: Campaign) -> None:
        someone = comes(campaign)
        someone.open()
        someone.answer_all()
        stranger = comes(campaign, "a" * 24, "b" * 24)
        answers = [declines(one, "already-took-part").json() for one in (comes(campaign), stranger)]
        assert answers[0] == answers[1] and answers[0]["code"] == code_of(campaign, Outcome.ALREADY_TOOK_PART)

    def test_a_full_and_a_stopped_study_send_people_back(self, campaign: Campaign, study: Study) -> None:
        for number in range(3):
            visitor = comes(campaign, f"a{number:023x}", f"b{number:023x}")
            visitor.open()
            visitor.answer_all()
        assert comes(campaign).open().json()["way_out"]["outcome"] == "full"
        stop(study=study)
        assert comes(campaign).open().json()["way_out"]["outcome"] == "closed"
        assert declines(comes(campaign), "closed").json()["outcome"] == "closed"

    def test_an_address_of_ones_own_is_filled_in_and_quoted(self, study: Study) -> None:
        campaign = launched(study, preset="plain", return_address=BACK)
        visitor = Visitor(campaign, worker_id="a:7")
        visitor.open()
        visitor.answer_all()
        code = code_of(campaign, Outcome.FINISHED)
        assert goes_back(visitor).json()["address"] == f"https://panel.example.org/done?code={code}&who=a%3A7"

    def test_an_address_that_says_completed_is_for_people_who_did_their_part(self, study: Study) -> None:
        campaign = launched(study, preset="plain", return_address="https://panel.example.org/done")
        assert declines(comes(campaign), "no-consent").json()["kind"] == "code"
        visitor = comes(campaign)
        visitor.open()
        visitor.answer_all()
        assert goes_back(visitor).json()["kind"] == "redirect"

    def test_a_site_s_own_code_is_shown_to_who_finishes_and_to_nobody_else(self, study: Study) -> None:
        campaign = launched(study, preset="connect", site_code="A1B2-c3")
        visitor = comes(campaign)
        visitor.open()
        visitor.answer_all()
        assert goes_back(visitor).json() == {"outcome": "finished", "kind": "code", "address": "", "code": "A1B2-c3"}
        asked_back = {"kind": "return", "address": "", "code": ""}
        assert declines(comes(campaign, "another"), "no-consent").json() == {"outcome": "no-consent", **asked_back}
        Session.objects.update(practised=False)
        assert goes_back(visitor).json() == {"outcome": "practice-failed", **asked_back}
        assert codes_of(campaign) == ["A1B2-c3"]

    def test_a_site_s_own_address_is_for_who_finishes_and_for_nobody_else(self, study: Study) -> None:
        address = "https://connect.cloudresearch.com/participant/project/7/complete"
        campaign = launched(study, preset="connect", return_address=address)
        visitor = comes(campaign)
        visitor.open()
        visitor.answer_all()
        assert goes_back(visitor).json() == {"outcome": "finished", "kind": "redirect", "address": address, "code": ""}
        Session.objects.update(qualified=False)
        assert goes_back(visitor).json()["kind"] == "return"

    def test_credit_needs_no_code(self, study: Study) -> None:
        campaign = launched(study, preset="sona", pay="credit", alternative="Read a paper.")
        visitor = Visitor(campaign, worker_id="10234")
        assert visitor.open().status_code == 201
        visitor.answer_all()
        assert goes_back(visitor).json() == {"outcome": "finished", "kind": "nothing", "address": "", "code": ""}

    def test_too_young_leads_back(self, campaign: Campaign) -> None:
        refused = comes(campaign).open(isMinor=True)
        assert refused.json()["way_out"]["outcome"] == "ineligible"

    def test_a_study_without_an_approval_in_force_sends_people_back(self, campaign: Campaign, study: Study) -> None:
        owner = User.objects.create_user("ada", is_staff=True)
        study.memberships.create(user=owner, role="owner")
        withdraw_approval(study=study, by=owner)
        assert comes(campaign).open().json()["way_out"]["outcome"] == "closed"


def test_a_full_study_says_so_before_anybody_agrees() -> None:
    campaign = publish(study=make_study("one"), terms=LaunchTerms(to="link", assignments=1))
    before = Visitor(campaign, worker_id="late").get(p="late").content.decode()
    assert "All places are taken" not in before and "I agree to take part" in before
    first = Visitor(campaign, worker_id="first")
    assert first.open().status_code == 201
    page = Visitor(campaign, worker_id="late").get(p="late").content.decode()
    assert "All places are taken" in page and "I agree to take part" not in page
    assert "Continue where I stopped" in page
    assert first.open(secret=first.secret()).status_code == 201
