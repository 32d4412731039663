"""Figures that once were wrong, replayed over a real marketplace and read off the pages."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from humanexp.core.models import User
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import plan_bonus
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.limits import LIMIT
from tests.marketplace.server import MarketplaceServer, WorkerClient, running
from tests.marketplace.test_desk import desk
from tests.recruitment.studies import Visitor, make_study
from tests.recruitment.workers import Worker

pytestmark = pytest.mark.django_db(transaction=True)
TERMS = {
    "to": "marketplace",
    "assignments": "6",
    "reward": "1.50",
    "hits": "small",
    "title": "Pictures",
    "description": "Say what you see.",
    "estimated_minutes": "6",
    "approval_days": "3",
    "contact": "lab@example.org",
    "cap": "100",
}


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    """As it comes: nobody charges a fee."""
    free = {f"MARKETPLACE_{name}": "0" for name in ("FEE_PERCENT", "LARGE_HIT_FEE_PERCENT", "MINIMUM_FEE_CENTS")}
    with running(tmp_path_factory.mktemp("market"), **free) as server:
        yield server


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def console(study: Study, market: MarketplaceServer, settings: Any) -> Client:
    from humanexp.recruiters.money import NO_FEES

    keys = market.create_requester("A lab", "1000.00")
    settings.MARKETPLACE_URL, settings.MARKETPLACE_FEES = market.url, NO_FEES
    settings.RECRUITER_ORIGINS = [market.url]
    settings.MARKETPLACE_ACCESS_KEY_ID = keys.access_key_id
    settings.MARKETPLACE_SECRET_ACCESS_KEY = keys.secret_access_key
    researcher = User.objects.create_user("ada", password="x")
    study.memberships.create(user=researcher, role="owner")
    client = Client()
    client.force_login(researcher)
    return client


@pytest.fixture
def says(console: Client, study: Study) -> Callable[[str], str]:
    """The words of a room of the study."""

    def read(room: str = "") -> str:
        reply = console.get(f"/studies/{study.slug}/{room}")
        assert reply.status_code == 200
        return words(reply.content.decode())

    return read


#: Of one reward, as the page shows it before it is paid.
SUMS = '{"USD": 150}'


def words(page: str) -> str:
    body = re.sub(r"(?s)<(script|style|title).*?</\1>", " ", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def post(console: Client, study: Study, room: str, **form: str) -> None:
    reply = console.post(f"/studies/{study.slug}/{room}", form)
    assert reply.status_code == 302, words(reply.content.decode())


def ask() -> None:
    send(environment="marketplace")
    sync()
    send(environment="marketplace")


def test_an_approval_is_owed_until_the_desk_has_paid_it_out(
    market: MarketplaceServer, console: Client, study: Study, says: Callable[[str], str]
) -> None:
    post(console, study, "recruit/", **TERMS, shown_total="900")
    ask()
    worker = Worker(market)
    worker.do(Campaign.objects.get())
    ask()
    assert "1 person has submitted, of 6 places. 1 waits to be paid: $1.50 with fees." in says("monitor/")
    post(console, study, "monitor/settle/", shown=SUMS)
    ask()
    for room in ("monitor/", "monitor/ledger/", "recruit/"):
        assert "$1.50 is owed to people" in says(room)
        assert not re.search(
            r"\$[0-9.]+ has been paid|paid to people|Nobody waits for money", says(room), re.IGNORECASE
        )
    assert "Fees:" not in says("monitor/ledger/"), "nobody charges any"
    assert "$1.50 is owed to people" in says()
    theirs = worker.client.get("/earnings/")["totals"]
    assert (theirs["owed_cents"], theirs["paid_out_cents"]) == (150, 0)
    desk(market, f"paid {worker.worker_id} 1.50 --way cash")
    theirs = worker.client.get("/earnings/")
    assert (theirs["totals"]["owed_cents"], theirs["totals"]["paid_out_cents"]) == (0, 150)
    assert theirs["payouts"][0]["way"] == "cash"


@pytest.mark.gate
@pytest.mark.promise(2)
def test_the_way_to_the_money_counts_nobody_twice_and_loses_nobody_silently(
    market: MarketplaceServer, console: Client, study: Study, says: Callable[[str], str]
) -> None:
    """Submissions that no session belongs to once stood in the step after "finished": 24, 18, 50."""
    post(console, study, "recruit/", **TERMS, shown_total="900")
    ask()
    campaign = Campaign.objects.get()
    Worker(market).do(campaign)
    leaver = Worker(market).accept(campaign)
    assert leaver.open().status_code == 201
    for _ in range(3):  # submitted straight to the marketplace
        stranger = market.worker()
        stranger.submit(stranger.accept(campaign.hits.get().hit_id)["assignment_id"], receipt="nothing")
    ask()
    page = says("monitor/")
    assert "Began 2 0 Finished here 1 1 Submitted there 1 0 Approved 0 1" in page
    assert "Apart from these, 3 submissions without a finished session of ours." in page
    assert "1 person has submitted, of 6 places." in page


def test_a_bonus_stands_in_the_whole_as_it_does_in_the_part(
    market: MarketplaceServer, console: Client, study: Study, says: Callable[[str], str]
) -> None:
    post(console, study, "recruit/", **{**TERMS, "assignments": "1"}, shown_total="150")
    ask()
    Worker(market).do(Campaign.objects.get())
    ask()
    post(console, study, "monitor/settle/", shown=SUMS)
    row = Assignment.objects.get()
    plan_bonus(assignment=row, amount_cents=800, cause="thanks", reason="Thank you.")
    ask()
    assert "$9.50 of at most $9.50, bonuses and fees included" in says("monitor/")
    assert "Of it bonuses, with fees $8.00" in says("monitor/money/")


def test_a_stop_takes_unused_places_and_their_price_out_of_the_totals(
    market: MarketplaceServer, console: Client, study: Study, says: Callable[[str], str]
) -> None:
    post(console, study, "recruit/", **TERMS, shown_total="900")
    ask()
    campaign = Campaign.objects.get()
    for _ in range(2):
        Worker(market).do(campaign)
    ask()
    assert "4 of 6 left" in says("recruit/") and "1 open" in says("recruit/")
    post(console, study, "recruit/stop/")
    ask()
    page = says("recruit/")
    assert "2 of 6 taken; 4 ended with the stop" in page and "1 open" not in page
    assert "2 people have submitted, of 2 places." in says("monitor/")
    assert "4 places ended with a stop." in says("monitor/")
    assert "$0.00 of at most $3.00" in says("monitor/")
    assert "not recruiting" in says() and "collecting" not in says()


def test_a_link_pays_nobody_and_says_so(console: Client, study: Study, says: Callable[[str], str]) -> None:
    post(console, study, "recruit/", **{**TERMS, "to": "link", "reward": ""}, shown_total="0")
    visitor = Visitor(Campaign.objects.get())
    visitor.open()
    visitor.answer_all()
    sync()
    page = says("monitor/")
    assert "1 person has finished, of 6 places. People are not paid through this study." in page
    assert (
        "Began 1 0 Finished here 1 0" in page
        and "Approved" not in page
        and "an hour" not in page.replace("an hour of it", "")
    )
    assert "unpaid no campaign of this study pays people" in says()
    post(console, study, "recruit/stop/")
    assert "not recruiting" in says()


def test_zero_pay_is_a_choice(console: Client, study: Study) -> None:
    address = f"/studies/{study.slug}/recruit/"
    slip = console.post(address, {**TERMS, "reward": "0", "shown_total": "0"})
    assert slip.status_code == 422 and "With a reward of 0 no one is paid" in slip.content.decode()
    post(console, study, "recruit/", **{**TERMS, "reward": "0", "unpaid": "on"}, shown_total="0")
    assert Campaign.objects.get().reward_cents == 0


def test_nothing_dead_is_offered_first(console: Client, says: Callable[[str], str], settings: Any) -> None:
    page = says("recruit/")
    assert page.index("own marketplace") < page.index("MTurk Sandbox (closed)")
    settings.MARKETPLACE_ACCESS_KEY_ID = ""
    raw = console.get("/studies/noise/recruit/").content.decode()
    assert re.search(r'value="link"[^>]*checked', raw) and not re.search(r'value="marketplace"[^>]*checked', raw)


def test_the_list_of_work_pays_what_the_study_says(market: MarketplaceServer, console: Client, study: Study) -> None:
    """$1.75 for 7 minutes once read "at least $3.50 an hour within the time allowed"."""
    terms = {**TERMS, "reward": "1.75", "estimated_minutes": "7"}
    post(console, study, "recruit/", **terms, shown_total="1050")
    ask()
    visitor = WorkerClient(market.url)
    listed = words(visitor.http.get(market.url, headers={"Accept": "text/html"}, timeout=LIMIT).text)
    assert "about $15.00 an hour, if it takes the 7 minutes that the requester states" in listed
    assert "within the time allowed" not in listed
