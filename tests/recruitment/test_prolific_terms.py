"""Terms that the service would refuse are refused before anything is frozen here or made there: on the panel."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from analysis.errors import InvalidInput
from analysis.study.terms import WorkerRequirements
from humanexp.console.preflight import operation
from humanexp.console.preflight.check import Launch
from humanexp.console.preflight.terms import pay
from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest, RecruiterUnavailable, WrongCurrency
from humanexp.core.models import User
from humanexp.ledger.budgets import set_month_cap
from humanexp.ledger.sender import send
from humanexp.recruiters import registry
from humanexp.recruiters.models import Assignment, Campaign, RecruiterAccount
from humanexp.recruiters.registry import recruiter_for
from humanexp.recruiting.accounts import open_account, try_account
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.personal_data import delete_participant, forget_ids
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study, StudyState
from tests.panel.server import Lab, PanelServer, Person
from tests.recruitment.at_panel import come
from tests.served import free_port


def of_account(settings: Any, lab: Lab) -> None:
    settings.PANEL_URL, settings.PANEL_TOKEN = lab.panel.url, lab.token
    settings.PANEL_WORKSPACE, settings.PANEL_PROJECT = lab.workspace_id, lab.project_id


@pytest.fixture
def dollars(panel: PanelServer, settings: Any) -> Lab:
    """The platform is set up as an account in dollars, and believes that it is in pounds."""
    lab = panel.lab(currency="USD")
    of_account(settings, lab)
    return lab


def terms(**changed: Any) -> LaunchTerms:
    return LaunchTerms(**{"to": "panel", "assignments": 2, "reward_cents": 120, **changed})


def nothing_was_made(study: Study, lab: Lab) -> bool:
    drafts = lab.get(f"projects/{lab.project_id}/studies/")["results"]
    study.refresh_from_db()
    return not drafts and not Campaign.objects.exists() and study.state != StudyState.COLLECTING


# The currency


def test_the_account_is_in_the_currency_that_the_service_names(dollars: Lab, study: Study) -> None:
    set_month_cap(environment="panel", cap_cents=50_000, by=None)  # meant in pounds
    assert try_account(code="panel") == ""
    row = RecruiterAccount.objects.get(environment="panel")
    assert (row.fault, row.balance_cents, row.currency, row.month_cap_cents) == ("", 1_000_000, "USD", 0)
    assert registry.currency_of("panel") == "USD"
    assert {one.code: one.currency for one in registry.accounts()}["panel"] == "USD"
    set_month_cap(environment="panel", cap_cents=50_000, by=None)
    assert try_account(code="panel") == ""
    row.refresh_from_db()
    assert row.month_cap_cents == 50_000  # nothing has changed since
    assert publish(study=study, terms=terms()).currency == "USD"
    send(environment="panel")
    assert [one["status"] for one in dollars.get("studies/")["results"]] == ["ACTIVE"]


def test_nothing_is_launched_in_another_currency_than_was_shown(dollars: Lab, study: Study) -> None:
    with pytest.raises(Conflict, match=r"pays in USD; until now prices were shown in GBP\. Nothing was launched"):
        publish(study=study, terms=terms())
    assert nothing_was_made(study, dollars)
    assert publish(study=study, terms=terms()).currency == "USD"  # now they are shown in dollars


@pytest.mark.parametrize("silence", ["nobody is there", "lost_before", "bad_gateway", "html", "cut_body"])
def test_nothing_is_launched_before_the_service_has_named_its_currency(
    dollars: Lab, study: Study, panel: PanelServer, settings: Any, silence: str
) -> None:
    if silence == "nobody is there":
        settings.PANEL_URL = f"http://localhost:{free_port()}"
    else:
        panel.arm("balance.GET", silence, times=9)
    with pytest.raises(RecruiterUnavailable, match=r"never said in which currency .* Nothing was launched\. Try again"):
        publish(study=study, terms=terms())
    assert nothing_was_made(study, dollars)
    settings.PANEL_URL = panel.url
    panel.control("clear")
    assert try_account(code="panel") == ""
    assert publish(study=study, terms=terms()).currency == "USD"


def test_once_it_was_named_the_service_may_be_silent(
    dollars: Lab, study: Study, panel: PanelServer, settings: Any
) -> None:
    assert try_account(code="panel") == ""
    settings.PANEL_URL = f"http://localhost:{free_port()}"
    assert publish(study=study, terms=terms()).currency == "USD"
    settings.PANEL_URL = panel.url
    assert send(environment="panel").remarks == []


def test_after_a_launch_another_currency_is_a_fault(lab: Lab, panel: PanelServer, study: Study, settings: Any) -> None:
    publish(study=study, terms=terms())
    of_account(settings, panel.lab(currency="USD"))
    said = try_account(code="panel")
    assert "pays in USD, and is in GBP here." in said and "open another account for USD" in said
    row = RecruiterAccount.objects.get(environment="panel")
    assert (row.fault, row.balance_cents) == (said, None)
    line = operation.account(Launch(study=study, to="panel"))
    assert (line.severity, line.text) == ("bad", said)


def test_a_further_account_is_in_its_own_currency(dollars: Lab, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECRUITER_GRANT_TOKEN", dollars.token)
    open_account(kind="panel", code="grant", name="Grant", workspace=dollars.workspace_id, by=None)
    assert registry.currency_of("grant") == "GBP"  # until it was asked
    assert try_account(code="grant") == ""
    assert [registry.currency_of(code) for code in ("panel", "grant")] == ["GBP", "USD"]


def test_an_account_that_pays_in_another_currency_later_is_asked_before_a_draft_is_made(
    panel: PanelServer, lab: Lab, study: Study, settings: Any
) -> None:
    publish(study=study, terms=terms())
    lab = panel.lab(currency="USD")
    of_account(settings, lab)
    report = send(environment="panel")
    assert any("pays in USD" in remark for remark in report.remarks)
    assert lab.get("studies/")["results"] == []


def test_people_are_looked_after_while_the_currency_is_wrong(
    panel: PanelServer, lab: Lab, study: Study, settings: Any
) -> None:
    campaign = publish(study=study, terms=terms())
    send(environment="panel")
    guest = come(panel, campaign)
    guest.finish()
    RecruiterAccount.objects.update(currency="USD", balance_at=clock.now())
    registry.forget("panel")
    assert any("pays in GBP, and is in USD" in remark for remark in sync().remarks)
    assert Assignment.objects.get().state == "submitted"


# The least pay of an hour


@pytest.mark.parametrize(("reward", "minutes", "enough"), [(30, 7, "£0.70"), (59, 6, "£0.60"), (1, 5, "£0.50")])
def test_less_than_the_service_takes_is_refused(lab: Lab, study: Study, reward: int, minutes: int, enough: str) -> None:
    with pytest.raises(InvalidRequest, match=rf"nothing below £6\.00 an hour\. Pay at least {enough}, or state fewer"):
        publish(study=study, terms=terms(reward_cents=reward, estimated_minutes=minutes))
    assert nothing_was_made(study, lab)


def test_as_much_as_the_service_takes_is_launched(lab: Lab, study: Study) -> None:
    publish(study=study, terms=terms(reward_cents=70, estimated_minutes=7))
    assert send(environment="panel").remarks == []


def test_the_service_says_what_it_takes_today(lab: Lab, study: Study, panel: PanelServer) -> None:
    panel.control("switches", least_hourly_cents=900)
    with pytest.raises(InvalidRequest, match=r"below £9\.00 an hour\. Pay at least £1\.05"):
        publish(study=study, terms=terms(reward_cents=70, estimated_minutes=7))
    panel.control("switches", least_hourly_cents=300)
    publish(study=study, terms=terms(reward_cents=35, estimated_minutes=7))
    assert send(environment="panel").remarks == []


def test_where_it_cannot_be_asked_its_published_minimum_counts(lab: Lab, study: Study, settings: Any) -> None:
    assert try_account(code="panel") == ""
    settings.PANEL_TOKEN = "wrong"
    with pytest.raises(InvalidRequest, match=r"below £6\.00 an hour"):
        publish(study=study, terms=terms(reward_cents=30, estimated_minutes=7))


def test_the_pre_flight_says_what_the_launch_would(lab: Lab, study: Study, panel: PanelServer) -> None:
    assert pay(Launch(study=study, to="panel")).severity != "bad"
    panel.control("switches", least_hourly_cents=50_000)
    line = pay(Launch(study=study, to="panel"))
    assert line.severity == "bad" and "nothing below £500.00 an hour" in line.text


def test_a_balance_in_another_currency_is_no_balance(dollars: Lab, transactional_db: None) -> None:
    with pytest.raises(WrongCurrency):
        recruiter_for("panel").balance_cents()


# People


def test_a_study_is_open_to_the_people_who_were_asked_for(lab: Lab, study: Study) -> None:
    people = WorkerRequirements(
        countries=("GB",), age_from=21, age_to=40, languages=("english",), good_vision=True, balanced_sex=True
    )
    publish(study=study, terms=terms(requirements=people))
    assert send(environment="panel").remarks == []
    [listed] = lab.get("studies/")["results"]
    found = {one.pop("filter_id"): one for one in lab.get(f"studies/{listed['id']}/")["filters"]}
    del found["participant_group_blocklist"]
    assert found == {
        "current-country-of-residence": {"selected_values": ["0"]},
        "age": {"selected_range": {"lower": 21, "upper": 40}},
        "fluent-languages": {"selected_values": ["0"]},
        "vision": {"selected_values": ["0"]},
        "sex": {"selected_values": ["1", "0"], "weightings": {"1": 50, "0": 50}},
    }


def id_after(person: Person, study: str) -> str:
    """Of somebody who began this study and gave the place back."""
    submission = person.reserve(study)
    query = parse_qs(urlsplit(person.start(submission)).query)
    person.post(f"/submissions/{submission}/return/")
    return query["PROLIFIC_PID"][0]


def test_earlier_studies_and_lists_of_people_decide_who_sees_a_study(
    lab: Lab, study: Study, panel: PanelServer
) -> None:
    earlier, another = lab.study(), lab.study()
    began, stranger = panel.person(), panel.person()
    ids = {began: id_after(began, earlier), stranger: id_after(stranger, another)}
    ways = {
        "took_part_in": ((earlier,), {began}),
        "not_in": ((earlier,), {stranger}),
        "only_people": ((ids[stranger], "e" * 24), {stranger}),
        "not_people": ((ids[stranger], "e" * 24), {began}),
    }
    for name, (named, welcome) in ways.items():
        title = f"Open by {name}"
        asked = WorkerRequirements(**{name: named})
        publish(study=study, terms=terms(title=title, assignments=1, requirements=asked))
        assert send(environment="panel").remarks == []
        assert {one for one in ids if title in one.get("/studies/").text} == welcome, name
    groups = lab.get("participant-groups/", workspace_id=lab.workspace_id)["results"]
    [kept_out] = [one["id"] for one in groups if one["name"].endswith(": not these")]
    # whom the service does not know cannot come, either
    members = lab.get(f"participant-groups/{kept_out}/participants/")["results"]
    assert [one["participant_id"] for one in members] == [ids[stranger]]
    with pytest.raises(InvalidRequest, match=r"knows no study f{24} in this workspace: take it out"):
        publish(study=study, terms=terms(requirements=WorkerRequirements(not_in=("f" * 24,))))


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ({"languages": ("Klingon",)}, "no people who speak Klingon by its filter “Fluent languages”: write it as that"),
        ({"countries": ("ZA",)}, "no people of South Africa"),
        ({"approval_percent": 95}, "no filter by approval rate any more: take it out"),
    ],
)
def test_people_whom_the_service_does_not_know_are_refused_before_anything_is_frozen(
    lab: Lab, study: Study, people: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        publish(study=study, terms=terms(requirements=WorkerRequirements(**people)))
    assert nothing_was_made(study, lab)


def test_who_does_not_know_people_is_not_asked_for_them(lab: Lab, study: Study) -> None:
    people = WorkerRequirements(good_vision=True)
    with pytest.raises(
        InvalidRequest,
        match="Own marketplace does not have this: the sight of people. Leave it out, or .*practice panel",
    ):
        publish(study=study, terms=terms(to="marketplace", requirements=people))
    with pytest.raises(InvalidRequest, match=r"Practice panel does not have this: Masters only \(--masters\)"):
        publish(study=study, terms=terms(requirements=WorkerRequirements(masters=True)))
    assert nothing_was_made(study, lab)


def test_lists_of_people_are_erased_with_their_ids(lab: Lab, study: Study, panel: PanelServer) -> None:
    guest, absent = panel.person(), "e" * 24
    asked = WorkerRequirements(only_people=(id_after(guest, lab.study()), absent))
    campaign = publish(study=study, terms=terms(requirements=asked))
    send(environment="panel")
    came = come(panel, campaign, guest)
    came.give_back()
    sync()
    delete_participant(code=came.visitor.session.participant.code)
    campaign.refresh_from_db()
    assert campaign.asks_for.only_people == (absent,)
    Campaign.objects.update(state="stopped")
    forget_ids(family=study.family, days=0, dry_run=True)
    assert Campaign.objects.get().asks_for.only_people
    forget_ids(family=study.family, days=0)
    assert not Campaign.objects.get().asks_for.only_people


def test_ages_are_in_order() -> None:
    with pytest.raises(InvalidInput, match="nobody has such an age"):
        WorkerRequirements(age_from=40, age_to=21)


# The form


def only(page: str, label: str) -> set[str]:
    """Accounts for which a field of the launch form is shown."""
    before = page[: page.index(f"{label}</label>")]
    return set(before[before.rindex('data-only="') + len('data-only="') :].partition('"')[0].split())


def test_the_launch_form_asks_in_the_words_of_the_recruiter(lab: Lab, study: Study, client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    page = client.get(f"/studies/{study.slug}/recruit/").content.decode()
    for label in ("Keywords", "Approved HITs, at least", "Masters only", "Days until everyone is paid automatically"):
        assert only(page, label) == set(registry.those(vouches=True, pauses=False)) & set(registry.offered()), label
    assert "panel" in only(page, "Countries") and "panel" in only(page, "Normal or corrected-to-normal vision")
    asked = {"to": "panel", "assignments": "2", "reward": "1.20", "estimated_minutes": "5", "title": "Pictures"}
    asked |= {"description": "Look.", "contact": "lab@example.org", "approval_days": "3", "shown_total": "320"}
    asked |= {"took_part_in": f"{lab.study()}", "only_people": f"Participant id\n{'a' * 24}\n{'b' * 24}\n"}
    stale = {"keywords": "pictures, looking", "hits_approved": "100", "hits": "small"}
    answer = client.post(f"/studies/{study.slug}/recruit/", {**asked, **stale, "shown_campaigns": "0"})
    assert answer.status_code == 302, answer.content.decode()
    campaign = Campaign.objects.get()
    assert campaign.asks_for.hits_approved is None
    assert campaign.asks_for.only_people == ("a" * 24, "b" * 24) and len(campaign.asks_for.took_part_in) == 1
    assert campaign.auto_approval_s == 21 * 24 * 3600, "what the service fixes"
