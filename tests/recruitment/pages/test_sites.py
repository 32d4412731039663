"""Links to sites in the console: the launch, the sheet for pasting, and who finished."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from analysis.study.link import Link
from humanexp.core.errors import NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.participation.models import Session
from humanexp.participation.openings import withdraw_session
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.tickets import Outcome
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.people import list_credited, list_finished, look_up
from humanexp.studies.models import Study
from tests.downloads import rows_of
from tests.recruitment.pages.test_recruit_page import terms
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
PEOPLE, TASKS = ([f"{kind}{number:023x}" for number in range(4)] for kind in "ab")


@pytest.fixture
def campaign(study: Study) -> Campaign:
    return launch(study, preset="prolific", reward=150, currency="GBP")


def launch(study: Study, **link: Any) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to="link", assignments=4, link=Link(**link)))


def takes_part(campaign: Campaign, person: str, submission: str = "", *, to_the_end: bool = True) -> Visitor:
    visitor = Visitor(campaign, worker_id=person, assignment_id=submission)
    assert visitor.open().status_code == 201
    if to_the_end:
        visitor.answer_all()
    return visitor


def listed(client: Client, campaign: Campaign) -> list[dict[str, str]]:
    reply = client.post(f"/studies/{campaign.study.slug}/recruit/{campaign.pk}/finished.csv")
    assert reply.status_code == 200 and "no-store" in reply["Cache-Control"]
    return rows_of(reply)


class TestLaunch:
    def test_a_preset_is_chosen_and_frozen(self, study: Study, console: Client) -> None:
        given = terms(
            to="link",
            shown_total="0",
            link_preset="prolific",
            link_pay="money",
            link_reward="1.50",
            link_currency="gbp",
        )
        page = console.post(f"/studies/{study.slug}/recruit/", given, follow=True).text
        found = Campaign.objects.get().site
        assert (found.preset, found.reward, found.currency) == ("prolific", 150, "GBP")
        assert "app.prolific.com" in page and "Prolific" in page

    def test_a_reward_without_a_currency_is_in_the_site_s(self, study: Study, console: Client) -> None:
        given = terms(to="link", shown_total="0", link_preset="prolific", link_pay="money", link_reward="1.50")
        console.post(f"/studies/{study.slug}/recruit/", given)
        assert Campaign.objects.get().site.currency == "GBP"

    def test_the_site_s_currency_stands_in_the_form(self, console: Client) -> None:
        study = make_study("filed", recruitment={"link": {"preset": "connect"}})
        study.memberships.create(user=User.objects.get(), role="owner")
        form = console.get(f"/studies/{study.slug}/recruit/?to=link").context["form"]
        assert form["link_currency"].value() == "USD"
        given = terms(to="link", shown_total="0", link_preset="plain", link_pay="money", link_currency="USD")
        console.post(f"/studies/{study.slug}/recruit/", given)
        assert Campaign.objects.get().site.reward is None

    def test_the_host_is_shown_before_the_launch(self, study: Study, console: Client) -> None:
        address = "https://panel.example.org/done?c={code}"
        price = f"/studies/{study.slug}/recruit/price/"
        given = terms(to="link", link_preset="plain", link_return_address=address)
        assert "panel.example.org" in console.get(price, given).text
        given["link_return_address"] = "http://panel.example.org/"
        assert "panel.example.org" not in console.get(price, given).text

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"link_return_address": "http://example.org/"}, "link_return_address"),
            ({"link_person": "a b"}, "link_person"),
            ({"link_reward": "1.50"}, "link_currency"),
            ({"link_reward": "much", "link_currency": "EUR"}, "link_reward"),
            ({"link_pay": "credit"}, "link_alternative"),
        ],
    )
    def test_a_refusal_stands_at_its_field(
        self, study: Study, console: Client, changes: dict[str, str], field: str
    ) -> None:
        given = terms(to="link", shown_total="0", link_preset="plain", **{"link_pay": "money", **changes})
        reply = console.post(f"/studies/{study.slug}/recruit/", given)
        assert reply.status_code == 422 and reply.context["form"].errors[field]
        assert f'<a href="#id_{field}">' in reply.text
        assert not Campaign.objects.exists()

    def test_connect_s_own_code_is_a_field_of_the_form(self, study: Study, console: Client) -> None:
        given = terms(to="link", shown_total="0", link_preset="connect", link_pay="money")
        refused = console.post(f"/studies/{study.slug}/recruit/", given)
        assert refused.status_code == 422 and refused.context["form"].errors["link_site_code"]
        console.post(f"/studies/{study.slug}/recruit/", given | {"link_site_code": "A1B2-c3"})
        campaign = Campaign.objects.get()
        assert campaign.site.codes[Outcome.FINISHED].code == "A1B2-c3"
        page = console.get(f"/studies/noise/recruit/{campaign.pk}/sheet/").text
        assert page.count("<code>A1B2-c3</code>") == 1 and "Ask the person to return it" in page
        assert page.index("You have made the project on Connect") < page.index("paste the study address")
        assert page.index("paste the study address") < page.index("preview once")

    def test_a_class_shares_computers(self, study: Study, console: Client) -> None:
        given = terms(
            to="link", shown_total="0", link_preset="class", link_pay="credit", link_alternative="Read chapter 3."
        )
        console.post(f"/studies/{study.slug}/recruit/", given)
        campaign = Campaign.objects.get()
        assert campaign.shared_computers
        page = Visitor(campaign, worker_id="7").get(id="7").text
        assert "Read chapter 3." in page and "not who declined" in page
        assert re.search(r'name="shared"[^>]*checked', page)


class TestSheet:
    def test_it_has_everything_that_is_pasted(self, campaign: Campaign, console: Client) -> None:
        page = console.get(f"/studies/noise/recruit/{campaign.pk}/sheet/").text
        assert "PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;SESSION_ID={{%SESSION_ID%}}&amp;STUDY_ID={{%STUDY_ID%}}" in page
        for row in campaign.site.codes.values():
            assert page.count(f"<code>{row.code}</code>") == 1
        assert page.count("Manually review") == 3 + 0 and "1.50 GBP" in page
        assert not re.search(r">\s*Reject", page)

    @pytest.mark.parametrize(
        "link",
        [{"preset": "class", "pay": "credit", "alternative": "Read chapter 3."}, {"preset": "plain"}],
    )
    def test_for_a_list_of_one_s_own_it_says_what_a_personal_link_proves(
        self, study: Study, console: Client, link: dict[str, str]
    ) -> None:
        campaign = launch(study, **link)
        page = console.get(f"/studies/noise/recruit/{campaign.pk}/sheet/").text
        assert f"/take/{campaign.entry}/?id=ID" in page
        assert "whoever opens this link takes part under this id" in page

    def test_a_viewer_sees_no_codes(self, campaign: Campaign, member: Callable[[str], Client]) -> None:
        viewer = member("viewer")
        assert viewer.get(f"/studies/noise/recruit/{campaign.pk}/sheet/").status_code == 403
        page = viewer.get("/studies/noise/recruit/").text
        assert not any(row.code in page for row in campaign.site.codes.values())

    def test_it_is_there_for_links_to_sites_alone(self, study: Study, console: Client) -> None:
        plain = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        assert console.get(f"/studies/noise/recruit/{plain.pk}/sheet/").status_code == 404
        other = launch(make_study("other"), preset="plain")
        assert console.get(f"/studies/noise/recruit/{other.pk}/sheet/").status_code == 404


class TestFinished:
    def test_the_file_says_who_finished_and_no_more(self, campaign: Campaign, console: Client) -> None:
        takes_part(campaign, PEOPLE[1], TASKS[1])
        takes_part(campaign, PEOPLE[2], TASKS[2], to_the_end=False)
        takes_part(campaign, PEOPLE[3], TASKS[3], to_the_end=False).call(
            "POST", "/api/v1/run/withdraw/", {"keep": True}
        )
        codes = {outcome: row.code for outcome, row in campaign.site.codes.items()}
        empty = {"suggested_bonus": "", "currency": ""}
        assert listed(console, campaign) == [
            {
                "id": PEOPLE[1],
                "submission": TASKS[1],
                "finished": "yes",
                "code": codes[Outcome.FINISHED],
                **empty,
            },
            {"id": PEOPLE[2], "submission": TASKS[2], "finished": "under way", "code": "", **empty},
            {"id": PEOPLE[3], "submission": TASKS[3], "finished": "no", "code": codes[Outcome.LEFT], **empty},
        ]

    def test_who_stopped_is_suggested_what_the_study_pays_them(self, console: Client, study: Study) -> None:
        study.configuration = {**study.configuration, "recruitment": {"pay_on_leaving": "share"}}
        study.save()
        campaign = launch(study, preset="prolific", reward=150, currency="GBP")
        visitor = takes_part(campaign, PEOPLE[3], TASKS[3], to_the_end=False)
        visitor.call("POST", "/api/v1/run/withdraw/", {"keep": True})
        session = Session.objects.get()
        assert session.left_at is not None
        Session.objects.update(opened_at=session.left_at - timedelta(minutes=campaign.estimated_minutes) / 2)
        (row,) = listed(console, campaign)
        assert (row["suggested_bonus"], row["currency"]) == ("0.75", "GBP")

    def test_where_all_enter_one_code_the_ids_tell_who_finished(self, console: Client, study: Study) -> None:
        campaign = launch(study, preset="connect", site_code="A1B2-c3", reward=150, currency="USD")
        takes_part(campaign, PEOPLE[1], TASKS[1])
        takes_part(campaign, PEOPLE[2], TASKS[2])
        Session.objects.filter(pk=Session.objects.latest("pk").pk).update(practised=False)
        finished, failed = listed(console, campaign)
        assert (finished["id"], finished["submission"]) == (PEOPLE[1], TASKS[1])
        assert (finished["finished"], finished["code"], finished["suggested_bonus"]) == ("yes", "A1B2-c3", "")
        # whoever did their part is owed the reward, for which the site has no code
        assert (failed["finished"], failed["code"], failed["suggested_bonus"]) == ("no", "", "1.50")

    def test_who_finished_stays_so_for_the_payer_when_the_answers_are_withdrawn(
        self, campaign: Campaign, console: Client
    ) -> None:
        takes_part(campaign, PEOPLE[1], TASKS[1])
        withdraw_session(session=Session.objects.get())
        (row,) = listed(console, campaign)
        assert row["finished"] == "yes"
        assert row["code"] == campaign.site.codes[Outcome.FINISHED].code

    def test_each_use_is_recorded_without_an_id(self, campaign: Campaign, console: Client) -> None:
        takes_part(campaign, PEOPLE[1], TASKS[1])
        listed(console, campaign)
        address = f"/studies/noise/recruit/{campaign.pk}/finished/"
        assert "yes" in console.post(address, {"id": PEOPLE[1]}).text
        assert "yes" in console.post(address, {"id": TASKS[1]}).text
        assert "No one with this id" in console.post(address, {"id": "nobody"}).text
        assert console.post(address, {"id": " "}).status_code == 422
        events = AuditEvent.objects.filter(action__in=["list-finished", "look-up-id"])
        assert [event.action for event in events.order_by("pk")] == ["list-finished", *["look-up-id"] * 3]
        assert not any(PEOPLE[1] in str(event.facts) or TASKS[1] in str(event.facts) for event in events)
        assert "looked up whether somebody finished" in console.get("/studies/noise/audit/").text

    @pytest.mark.parametrize("role", ["researcher", "reviewer", "viewer"])
    def test_only_who_may_pay_is_told(self, campaign: Campaign, member: Callable[[str], Client], role: str) -> None:
        client, base = member(role), f"/studies/noise/recruit/{campaign.pk}/finished"
        assert client.get(f"{base}/").status_code == client.post(f"{base}.csv").status_code == 403
        assert client.post(f"{base}/", {"id": PEOPLE[1]}).status_code == 403
        assert not AuditEvent.objects.filter(action__in=["list-finished", "look-up-id"]).exists()

    def test_the_services_ask_for_the_right_themselves(self, campaign: Campaign) -> None:
        stranger, of = User.objects.create_user("stranger"), campaign
        for tell in (list_finished, list_credited):
            with pytest.raises(NotAllowed):
                tell(campaign=of, by=stranger)
        with pytest.raises(NotAllowed):
            look_up(campaign=of, said=PEOPLE[1], by=stranger)

    def test_a_payer_may(self, campaign: Campaign, member: Callable[[str], Client]) -> None:
        assert member("payer").get(f"/studies/noise/recruit/{campaign.pk}/finished/").status_code == 200

    def test_a_teacher_s_list_has_those_who_earned_credit_alone(self, study: Study, console: Client) -> None:
        campaign = launch(study, preset="class", pay="credit", alternative="Read a chapter.")
        takes_part(campaign, "student-2")
        takes_part(campaign, "student-1")
        takes_part(campaign, "student-3", to_the_end=False).call("POST", "/api/v1/run/withdraw/", {"keep": True})
        assert listed(console, campaign) == [
            {"id": "student-1", "credit": "yes"},
            {"id": "student-2", "credit": "yes"},
        ]
        # whoever stopped and whoever never came are told apart by nobody
        address = f"/studies/noise/recruit/{campaign.pk}/finished/"
        stopped, absent = (console.post(address, {"id": one}).text for one in ("student-3", "student-4"))
        token = re.compile(r'(?<=csrfmiddlewaretoken" value=")\w+|(?<=X-CSRFToken": ")\w+')
        assert "not here" in stopped
        assert token.sub("", stopped.replace("student-3", "")) == token.sub("", absent.replace("student-4", ""))
