from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.errors import InvalidRequest, StudyRefused
from humanexp.core.models import AuditEvent, User
from humanexp.jobs.models import Job
from humanexp.ledger.budgets import budget_of, set_month_cap, set_study_cap
from humanexp.ledger.models import Call
from humanexp.recruiters.models import Assignment, Campaign, RecruiterAccount
from humanexp.recruiting.approvals import approval_of
from humanexp.recruiting.launch import SMALL_HIT, LaunchTerms, publish
from humanexp.studies import services
from humanexp.studies.models import Study
from tests.markup import markup, words
from tests.panel.server import Lab
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db


def terms(**changes: Any) -> dict[str, Any]:
    return {
        "to": "marketplace",
        "assignments": "5",
        "reward": "1.20",
        "hits": "small",
        "title": "Pictures",
        "description": "Say what you see.",
        "keywords": "pictures",
        "estimated_minutes": "8",
        "approval_days": "3",
        "contact": "lab@example.org",
        "shown_total": "720",
        **changes,
    }


def price(console: Client, study: Study, **changes: Any) -> str:
    return words(console.get(f"/studies/{study.slug}/recruit/price/", terms(**changes)).content)


class TestApproval:
    def test_a_withdrawn_approval_pauses_the_study_until_a_new_last_day_is_entered(
        self, study: Study, console: Client
    ) -> None:
        publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        recruit, address = f"/studies/{study.slug}/recruit/", f"/studies/{study.slug}/recruit/approval/"
        assert "The study names none." in console.get(recruit).text
        page = console.post(address, {"withdrawn": "1"}, follow=True).text
        assert "This study is paused" in page and "This study is recruiting." not in page
        assert "Withdrawn: no one new can start." in page and "The ethics approval was withdrawn" in page
        assert "The ethics approval was withdrawn" in console.get(f"/studies/{study.slug}/").text
        assert approval_of(study).is_withdrawn
        assert "is over" in console.post(address, {"until": "2020-01-31"}, follow=True).text
        assert "like 2027-03-31" in console.post(address, {"until": "soon"}, follow=True).text
        assert approval_of(study).is_withdrawn
        page = console.post(address, {"until": "2199-01-31"}, follow=True).text
        assert "In force until 31 January 2199." in page and "was withdrawn" not in markup(page).split("<main")[1][:500]

    def test_the_words_that_were_agreed_to_are_read_in_their_own_study_alone(
        self, study: Study, console: Client
    ) -> None:
        campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        visitor = Visitor(campaign)
        visitor.open(language="de")
        visitor.answer_all()
        digest = visitor.session.consent_digest
        address = f"/studies/{study.slug}/agreed/{digest}/"
        assert address in console.get(f"/studies/{study.slug}/review/{visitor.session.code}/").text
        assert "Sie können jederzeit aufhören" in console.get(address).text
        other = make_study("other")
        other.memberships.create(user=study.memberships.get().user, role="owner")
        assert console.get(f"/studies/{other.slug}/agreed/{digest}/").status_code == 404

    def test_only_who_may_launch_says_so(self, study: Study, member: Callable[[str], Client]) -> None:
        assert member("payer").post(f"/studies/{study.slug}/recruit/approval/", {"withdrawn": "1"}).status_code == 403
        assert not approval_of(study).is_withdrawn


class TestOpeningAgain:
    def test_a_stopped_link_can_be_opened_again_on_the_page(
        self, study: Study, console: Client, member: Callable[[str], Client]
    ) -> None:
        link = publish(study=study, terms=LaunchTerms(to="link", assignments=3))
        recruit, again = f"/studies/{study.slug}/recruit/", f"/studies/{study.slug}/recruit/{link.pk}/reopen/"
        assert "You can open a stopped link again here" in console.get(recruit).text
        page = console.post(f"{recruit}stop/", follow=True).text
        assert "not recruiting" in page and "for the 3 places that are left" in page and again in page
        payer = member("payer")
        assert again not in payer.get(recruit).text and payer.post(again).status_code == 403
        page = console.post(again, follow=True).text
        assert "The same address takes people again." in page and "This study is recruiting." in page
        assert "not recruiting" not in page and again not in page

    def test_nothing_paid_is_opened_again(self, study: Study, console: Client) -> None:
        publish(study=study, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=100))
        assert "What is stopped stays stopped" in console.get(f"/studies/{study.slug}/recruit/").text
        Campaign.objects.update(state="stopped")
        assert "/reopen/" not in console.get(f"/studies/{study.slug}/recruit/").text


class TestPrice:
    def test_the_exact_cost_stands_beside_the_launch(self, study: Study, console: Client) -> None:
        page = price(console, study)
        assert "$7.20" in page and 'name="shown_total" value="720"' in page
        assert "$9.00 an hour, if it takes 8 minutes" in page
        assert "no money goes through a plain link" in price(console, study, to="link")

    def test_large_hits_and_small_ones_side_by_side_with_what_follows(self, study: Study, console: Client) -> None:
        small, one = price(console, study, assignments="20"), price(console, study, assignments="20", hits="one")
        assert 'value="2880"' in small and 'value="3360"' in one  # 40 % from ten assignments on
        for page in (small, one):
            assert "In HITs of 9: $28.80. In one HIT: $33.60, $4.80 more" in page
            assert "No one takes part twice either way." in page
        assert "In HITs of 9" not in price(console, study, assignments=str(SMALL_HIT)), "no difference, no word"

    def test_masters_cost_more(self, study: Study, console: Client) -> None:
        assert 'value="750"' in price(console, study, masters="on")  # 25 % instead of 20 %

    def test_pay_under_the_floor_is_said(self, study: Study, console: Client) -> None:
        assert "the minimum set for this installation" in price(console, study, reward="0.50")
        assert "the minimum set for this installation" not in price(console, study)

    def test_a_reward_of_nothing_is_a_mistake_until_it_is_meant(self, study: Study, console: Client) -> None:
        slip = price(console, study, reward="0")
        assert "With a reward of 0 no one is paid." in slip and "<dd>unpaid</dd>" in markup(slip)
        assert 'class="btn btn--main" disabled' in markup(slip)
        meant = price(console, study, reward="", unpaid="on")
        assert "With a reward of 0 no one is paid." not in meant and "<dd>unpaid</dd>" in markup(meant)
        assert 'class="btn btn--main">' in meant

    def test_an_account_with_too_little_money_is_named(self, study: Study, console: Client) -> None:
        RecruiterAccount.objects.update_or_create(
            environment="marketplace", defaults={"balance_cents": 500, "balance_at": timezone.now()}
        )
        page = price(console, study)
        assert "$5.00, just now" in page and "does not hold enough" in page

    def test_what_is_left_of_the_limits(self, study: Study, console: Client, researcher: User) -> None:
        set_study_cap(study=study, cap_cents=1_000, by=researcher)
        set_month_cap(environment="marketplace", cap_cents=5_000, by=None)
        page = price(console, study)
        assert "$10.00 of $10.00" in page and "$50.00 of $50.00" in page

    @pytest.mark.parametrize("changes", [{"reward": "free"}, {"reward": ""}, {"assignments": "0"}, {"to": "nowhere"}])
    def test_what_has_no_price_has_no_button(self, study: Study, console: Client, changes: dict[str, str]) -> None:
        page = price(console, study, **changes)
        assert "Launch for" not in page and "the exact cost appears here" in page


class TestChoices:
    """Where a launch begins."""

    def chosen(self, console: Client, study: Study) -> tuple[list[str], str]:
        page = console.get(f"/studies/{study.slug}/recruit/").content.decode()
        radios = re.findall(r'<input type="radio" name="to" value="(\w+)"([^>]*)>.*?<span>([^<]*)</span>', page)
        return [label for _value, _attributes, label in radios], next(v for v, a, _l in radios if "checked" in a)

    def test_nothing_is_preselected_that_is_not_set_up(self, study: Study, console: Client, settings: Any) -> None:
        settings.MARKETPLACE_ACCESS_KEY_ID = ""
        assert self.chosen(console, study)[1] == "link"
        settings.MARKETPLACE_ACCESS_KEY_ID = "AKIA"
        assert self.chosen(console, study)[1] == "marketplace"

    def test_what_is_closed_comes_last_and_says_so(self, study: Study, console: Client, settings: Any) -> None:
        settings.MARKETPLACE_ACCESS_KEY_ID = "AKIA"
        labels, _ = self.chosen(console, study)
        closed = ["MTurk Sandbox (closed)", "MTurk production (closed)"]
        assert labels[:2] == ["plain link", "own marketplace"] and labels[-2:] == closed
        settings.MTURK_SANDBOX_URL = "https://turk.example.org"
        labels = self.chosen(console, study)[0]
        assert "MTurk Sandbox" in labels and labels[-1] == "MTurk production (closed)"

    def test_what_has_no_keys_comes_after_what_can_be_used_and_says_so(self, study: Study, console: Client) -> None:
        page = console.get(f"/studies/{study.slug}/recruit/").text
        usable, _, others = page.partition("<summary>Not usable now</summary>")
        assert 'value="link"' in usable and "closed)" not in usable and "no keys yet" not in usable
        assert "Prolific (no keys yet)" in others and "MTurk production (closed)" in others

    def test_limits_are_in_the_currency_of_the_price(self, study: Study, console: Client) -> None:
        address = f"/studies/{study.slug}/recruit/"
        page = console.get(f"{address}?to=prolific").text
        assert 'id="id_study_cap_GBP"' in page and 'id="id_study_cap_USD"' not in page
        asked = console.get(f"{address}price/", terms(to="marketplace")).text
        assert 'hx-swap-oob="true"' in asked and 'id="id_study_cap_USD"' in asked and "study_cap_GBP" not in asked


class TestLaunch:
    def test_zero_pay_is_chosen_or_refused(self, study: Study, console: Client) -> None:
        address = f"/studies/{study.slug}/recruit/"
        slip = console.post(address, terms(reward="0", shown_total="0"))
        assert slip.status_code == 422 and b"With a reward of 0 no one is paid" in slip.content
        both = console.post(address, terms(unpaid="on"))
        assert both.status_code == 422 and b"A reward is set" in both.content
        assert not Campaign.objects.exists()
        meant = console.post(address, terms(reward="0", unpaid="on", shown_total="5"))
        assert meant.status_code == 302
        assert Campaign.objects.get().reward_cents == 0

    def test_the_service_refuses_it_too(self, study: Study) -> None:
        with pytest.raises(InvalidRequest, match="no one is paid") as refused:
            publish(study=study, terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=0))
        assert list(refused.value.fields) == ["reward"]
        with pytest.raises(InvalidRequest, match="choose one"):
            publish(study=study, terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=5, unpaid=True))
        assert publish(study=study, terms=LaunchTerms(to="marketplace", assignments=2, unpaid=True)).reward_cents == 0

    def test_at_the_price_that_was_shown(self, study: Study, console: Client, researcher: User) -> None:
        reply = console.post(f"/studies/{study.slug}/recruit/", terms())
        assert reply.status_code == 302
        campaign = Campaign.objects.get()
        assert (campaign.quoted_cents, campaign.assignments, campaign.reward_cents) == (720, 5, 120)
        assert (campaign.created_by, campaign.contact) == (researcher, "lab@example.org")
        assert Job.objects.filter(kind="recruitment.send").count() == 1
        page = console.get(f"/studies/{study.slug}/recruit/")
        assert f'data-copy="http://127.0.0.1:8000/take/{campaign.entry}/"'.encode() in page.content
        assert b"This study is recruiting" in page.content
        assert b"At most $7.20 more can become due" in page.content

    def test_a_second_click_launches_nothing(self, study: Study, console: Client) -> None:
        """Two tabs, or a button pressed twice: the page that is sent shows a study without this campaign."""
        address = f"/studies/{study.slug}/recruit/"
        assert b'name="shown_campaigns" value="0"' in console.get(address).content
        assert console.post(address, terms(shown_campaigns="0")).status_code == 302
        again = console.post(address, terms(shown_campaigns="0"))
        assert again.status_code == 409 and Campaign.objects.count() == 1
        assert b"was launched since this page was opened" in again.content
        assert b'name="shown_campaigns" value="1"' in again.content, "from what is shown now it is a decision"
        assert console.post(address, terms(shown_campaigns="1")).status_code == 302

    def test_a_study_that_was_stopped_meanwhile_is_not_launched(self, study: Study) -> None:
        as_it_was = Study.objects.get(pk=study.pk)
        services.stop(study=services.start_collecting(study=study))
        with pytest.raises(StudyRefused, match="is stopped"):
            publish(study=as_it_was, terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=100))
        assert not Campaign.objects.exists()

    def test_with_what_is_asked_of_workers(self, study: Study, console: Client) -> None:
        asked = {"approval_percent": "95", "hits_approved": "100", "countries": "us, DE", "masters": "on"}
        console.post(f"/studies/{study.slug}/recruit/", terms(**asked, shown_total="750", cap="20"))
        campaign = Campaign.objects.get()
        assert campaign.asks_for.countries == ("US", "DE") and campaign.asks_for.masters
        assert (campaign.asks_for.approval_percent, campaign.asks_for.hits_approved) == (95, 100)
        assert campaign.cap_cents == 2_000
        page = console.get(f"/studies/{study.slug}/recruit/").content.decode()
        assert "95 % of their work approved" in page and "US, DE" in page and "Masters" in page

    @pytest.mark.django_db(transaction=True)  # the recruiter is asked for its currency, which no transaction waits for
    def test_with_what_a_recruiter_knows_of_its_people(self, study: Study, console: Client, lab: Lab) -> None:
        asked = {"age_from": "20", "age_to": "35", "languages": "English, german", "good_vision": "on"}
        here = terms(to="panel", balanced_sex="on", shown_total="", **asked)
        answer = console.post(f"/studies/{study.slug}/recruit/", here)
        assert answer.status_code == 302, answer.content
        found = Campaign.objects.get().asks_for
        assert (found.age_from, found.age_to, found.languages) == (20, 35, ("English", "german"))
        assert found.good_vision and found.balanced_sex
        page = console.get(f"/studies/{study.slug}/recruit/").content.decode()
        assert "at least 20 years old" in page and "fluent in English, german" in page

    @pytest.mark.parametrize(
        ("typed", "said"),
        [
            ({"to": "panel", "age_from": "40", "age_to": "20"}, "nobody has such an age"),
            ({"to": "marketplace", "balanced_sex": "on"}, "does not have this: as many women as men"),
            ({"to": "link", "masters": "on"}, "Plain link does not have this: Masters only (--masters). Leave it out"),
        ],
    )
    def test_people_whom_it_does_not_know_are_refused_on_the_page(
        self, study: Study, console: Client, lab: Lab, typed: dict[str, str], said: str
    ) -> None:
        answer = console.post(f"/studies/{study.slug}/recruit/", terms(shown_total="", **typed))
        assert answer.status_code == 422 and said in answer.content.decode()
        assert not Campaign.objects.exists()

    def test_what_prolific_does_not_count_is_not_suggested_there(self, study: Study, console: Client) -> None:
        address = f"/studies/{study.slug}/recruit/?to="
        suggested = re.compile(r'<input[^>]*name="hits_approved"[^>]*value="100"|value="100"[^>]*name="hits_approved"')
        assert suggested.search(console.get(f"{address}sandbox").text)
        assert not suggested.search(console.get(f"{address}prolific").text)

    def test_a_country_that_is_none_is_refused_with_what_was_typed(self, study: Study, console: Client) -> None:
        refused = console.post(f"/studies/{study.slug}/recruit/", terms(countries="Germany"))
        assert refused.status_code == 422 and b"write two capitals" in refused.content
        assert b'value="Germany"' in refused.content and not Campaign.objects.exists()

    def test_where_to_comes_with_the_address(self, study: Study, console: Client) -> None:
        page = console.get(f"/studies/{study.slug}/recruit/?to=link").content.decode()
        assert "no money goes through a plain link" in page
        console.post(f"/studies/{study.slug}/recruit/", terms(to="link", shown_total="0"))
        assert not Campaign.objects.get().capabilities.vouches

    def test_a_price_that_has_changed_is_shown_before_anything_is_launched(self, study: Study, console: Client) -> None:
        reply = console.post(f"/studies/{study.slug}/recruit/", terms(assignments="6"))
        assert reply.status_code == 409
        assert b"The cost is $8.64, not $7.20" in reply.content
        assert b'name="shown_total" value="864"' in reply.content
        assert not Campaign.objects.exists()

    def test_real_money_is_typed(self, study: Study, console: Client, settings: Any) -> None:
        settings.PUBLIC_URL = "https://lab.example"
        path = f"/studies/{study.slug}/recruit/"
        assert "This is real money. Type 7.20 to confirm." in price(console, study, to="production")
        assert console.post(path, terms(to="production")).status_code == 409
        assert console.post(path, terms(to="production", confirm_total="7.21")).status_code == 409
        assert not Campaign.objects.exists()
        assert console.post(path, terms(to="production", confirm_total="7.20")).status_code == 302

    def test_a_refusal_is_shown_with_what_was_typed(self, study: Study, console: Client) -> None:
        too_many = console.post(f"/studies/{study.slug}/recruit/", terms(assignments="99", shown_total="14256"))
        assert too_many.status_code == 409
        assert b"24 free sessions, fewer than the 99" in too_many.content
        nameless = console.post(f"/studies/{study.slug}/recruit/", terms(title=""))
        assert nameless.status_code == 422
        assert b"This field is required" in nameless.content
        assert not Campaign.objects.exists()

    def test_who_may_not_launch_sees_no_form(self, study: Study, member: Callable[[str], Client]) -> None:
        payer = member("payer")
        assert b'id="launch"' not in payer.get(f"/studies/{study.slug}/recruit/").content
        assert payer.post(f"/studies/{study.slug}/recruit/", terms()).status_code == 403


class TestRunning:
    def test_stopping(self, launched: Campaign, console: Client, researcher: User) -> None:
        assert console.post(f"/studies/{launched.study.slug}/recruit/stop/").status_code == 302
        launched.refresh_from_db()
        assert launched.state == "stopped"  # nothing had been sent
        assert AuditEvent.objects.get(action="stop").by == researcher

    def test_only_who_is_paid_is_said_to_be(self, launched: Campaign, console: Client, researcher: User) -> None:
        paid = console.post(f"/studies/{launched.study.slug}/recruit/stop/", follow=True).text
        assert "People who have begun can finish, and are paid." in paid
        unpaid = make_study("unpaid")
        unpaid.memberships.create(user=researcher, role="owner")
        publish(study=unpaid, terms=LaunchTerms(to="link"))
        recruit = f"/studies/{unpaid.slug}/recruit/"
        assert "Link to hand out" in console.get(recruit).text
        stopped = console.post(f"{recruit}stop/", follow=True).text
        assert "People who have begun can finish." in stopped and "and are paid" not in stopped
        assert "Link to hand out" not in stopped and "leads nowhere until it is opened again" in stopped

    def test_limits_are_stored_and_taken_away(self, study: Study, console: Client) -> None:
        address = f"/studies/{study.slug}/recruit/limits/"
        console.post(address, {"study_cap": "300"})
        assert budget_of(study, "USD").cap_cents == 30_000
        console.post(address, {"study_cap": ""})
        assert budget_of(study, "USD").cap_cents is None
        refused = console.post(address, {"study_cap": "a lot"}, follow=True)
        assert b"Write an amount with two decimals like 123.45" in refused.content

    def test_more_places_at_the_cost_that_was_shown(self, launched: Campaign, console: Client) -> None:
        address = f"/studies/{launched.study.slug}/recruit/{launched.pk}/extend/"
        shown = console.get(address, {"places": "3"}, headers={"HX-Request": "true"}).content.decode()
        assert "$4.32" in shown and "<html" not in shown and 'name="shown_total" value="432"' in shown
        assert console.post(address, {"places": "3", "shown_total": "100"}).status_code == 422
        assert console.post(address, {"places": "3", "shown_total": "432"}).status_code == 302
        launched.refresh_from_db()
        assert (launched.assignments, launched.quoted_cents) == (7, 576 + 432)
        again = console.post(address, {"places": "3", "shown_total": "432", "shown_places": "4"})
        assert again.status_code == 422 and b"has 7 places by now, not 4" in again.content
        assert b'name="shown_places" value="7"' in again.content
        launched.refresh_from_db()
        assert launched.assignments == 7, "a second click adds nothing"
        assert b"fewer than 99 more places" in console.post(address, {"places": "99", "shown_total": "14256"}).content

    def test_more_time_and_another_cap(self, launched: Campaign, console: Client) -> None:
        launched.hits.update(hit_id="HIT1", state="open")
        address = f"/studies/{launched.study.slug}/recruit/{launched.pk}/change/"
        assert b"stays open longer" in console.post(address, {"days": "14"}, follow=True).content
        assert launched.hits.get().calls.filter(kind="prolong").count() == 1
        console.post(address, {"cap": "50"})
        launched.refresh_from_db()
        assert launched.cap_cents == 5_000
        assert b"its cap cannot be lower" in console.post(address, {"cap": "1"}, follow=True).content
        assert b"Write whole days" in console.post(address, {"days": "0"}, follow=True).content
        launched.refresh_from_db()
        assert launched.cap_cents == 5_000

    def test_writing_to_people(
        self, launched: Campaign, console: Client, submission: Callable[..., Assignment]
    ) -> None:
        address = f"/studies/{launched.study.slug}/recruit/notify/"
        words = {"to": "listed", "subject": "A second part", "text": "It opens tomorrow."}
        nobody = console.post(address, words)
        assert nobody.status_code == 422 and not Call.objects.filter(kind="message").exists()
        row = submission()
        assert console.post(address, words).status_code == 302
        assert Call.objects.filter(kind="message").get().assignment == row
        page = console.get(address).content.decode()
        assert "A second part" in page and str(row.person) in page
        again = console.post(address, words)
        assert again.status_code == 422 and b"these very words already" in again.content
        assert Call.objects.filter(kind="message").count() == 1
        Call.objects.filter(kind="message").update(
            state="refused"
        )  # it did not arrive: the same words may go out again
        assert console.post(address, words).status_code == 302
