"""What participants do, as a browser without scripts does it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from tests.panel.server import CODE, Lab, PanelServer


def test_a_person_reserves_starts_and_comes_back_with_the_code(lab: Lab, panel: PanelServer) -> None:
    study = lab.study()
    person = panel.person()
    assert study in person.get("/studies/").text
    submission = person.reserve(study)
    assert lab.submission(submission)["status"] == "RESERVED"
    address = person.start(submission)
    pid = lab.submission(submission)["participant"]
    assert parse_qs(urlsplit(address).query) == {"PROLIFIC_PID": [pid], "STUDY_ID": [study], "SESSION_ID": [submission]}
    assert person.start(submission) == address  # a second tab
    shown = person.get(f"/submissions/complete?cc={CODE}")
    assert "awaiting review" in shown.text
    assert person.get(f"/submissions/complete?cc={CODE}").url == shown.url  # reloaded
    assert lab.submission(submission)["entered_code"] == CODE
    assert study not in person.get("/studies/").text
    lab.decide(submission, "APPROVE")
    assert "GBP 1.50" in person.get("/earnings/").text


def test_a_wrong_code_is_refused_and_none_is_nocode(lab: Lab, panel: PanelServer) -> None:
    study, person = lab.study(), panel.person()
    submission = person.reserve(study)
    person.start(submission)
    wrong = person.get("/submissions/complete?cc=WRONG")
    assert wrong.status_code == 400 and "does not belong to the study" in wrong.text
    assert lab.submission(submission)["status"] == "ACTIVE"
    person.post(f"/submissions/{submission}/finish/", code="")
    assert lab.submission(submission)["entered_code"] == "NOCODE"


def test_a_returned_place_is_open_to_another_person(lab: Lab, panel: PanelServer) -> None:
    study = lab.study(total_available_places=1)
    first, second = panel.person(), panel.person()
    submission = first.reserve(study)
    assert "All places" in second.get(f"/studies/{study}/").text
    assert second.post(f"/studies/{study}/reserve/").status_code == 400
    first.post(f"/submissions/{submission}/return/")
    assert lab.submission(submission)["status"] == "RETURNED"
    second.reserve(study)
    assert "have returned" in first.get(f"/studies/{study}/").text


def test_who_comes_back_too_late_reads_what_became_of_the_place(lab: Lab, panel: PanelServer) -> None:
    study = lab.study()
    late, gave_back = panel.person(), panel.person()
    for person in (late, gave_back):
        person.start(person.reserve(study))
    submission = gave_back.reserve(study)
    gave_back.post(f"/submissions/{submission}/return/")
    panel.advance(31 * 60)
    shown = late.get(f"/submissions/complete?cc={CODE}")
    assert shown.status_code == 200 and "Your time for this study is over, and the place goes to another" in shown.text
    shown = gave_back.get(f"/submissions/complete?cc={CODE}")
    assert shown.status_code == 200 and "The place was given away" in shown.text
    assert late.get("/submissions/complete?cc=OTHER").status_code == 404
    lab.post(f"studies/{study}/transition/", action="STOP")
    assert "This study has ended" in panel.person().get(f"/studies/{study}/").text


def test_a_person_has_one_study_at_a_time_and_only_their_own(lab: Lab, panel: PanelServer) -> None:
    person = panel.person()
    one, two = lab.study(), lab.study()
    submission = person.reserve(one)
    assert person.reserve(one) == submission
    assert "Finish or return" in person.post(f"/studies/{two}/reserve/").text
    assert panel.person().get(f"/submissions/{submission}/").status_code == 404


def test_a_study_for_other_people_and_a_paused_one_are_not_listed(lab: Lab, panel: PanelServer) -> None:
    person = panel.person()
    custom = {"filter_id": "custom_allowlist", "selected_values": ["f" * 24]}
    closed, paused = lab.study(filters=[custom]), lab.study()
    lab.transition(paused, "PAUSE")
    listed = person.get("/studies/").text
    assert closed not in listed and paused not in listed


def test_no_more_people_at_once_than_the_study_allows(lab: Lab, panel: PanelServer) -> None:
    study = lab.study(submissions_config={"max_concurrent_submissions": 1})
    panel.person().reserve(study)
    assert "Too many people" in panel.person().post(f"/studies/{study}/reserve/").text


def test_markup_of_a_description_is_not_run(lab: Lab, panel: PanelServer) -> None:
    study = lab.study(name="<script>alert(1)</script>", description="<b>Look</b><script>alert(2)</script>")
    page = panel.person().get(f"/studies/{study}/").text
    assert "<script" not in page and "Look" in page
