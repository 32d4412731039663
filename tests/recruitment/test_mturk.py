"""The boto3 adapter: faults become errors that say what is known, and nothing is retried behind our back."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from humanexp.core.errors import (
    AlreadyDone,
    InsufficientFunds,
    InvalidRequest,
    KeysRefused,
    NotAtRecruiter,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
    StateRefused,
)
from humanexp.recruiters.money import PUBLISHED_FEES
from humanexp.recruiters.mturk.recruiter import MTurkRecruiter
from humanexp.recruiters.port import BonusOrder, CalledInTransaction, OfferOrder, OfferTerms, RewardOrder
from humanexp.recruiters.registry import capabilities_of, recruiter_for
from tests.marketplace.server import MarketplaceServer, RequesterKeys

pytestmark = pytest.mark.django_db(transaction=True)
TERMS = OfferTerms(
    title="Name the picture",
    description="Sixteen kinds of things.",
    keywords="pictures",
    reward_cents=50,
    assignment_duration_s=600,
    auto_approval_s=3600,
)


@pytest.fixture
def recruiter(marketplace: MarketplaceServer) -> Any:
    return recruiter_for("marketplace")


@pytest.fixture
def order(recruiter: Any) -> OfferOrder:
    return OfferOrder(
        terms_id=recruiter.publish_terms(TERMS),
        places=1,
        lifetime_s=3600,
        url="https://lab.example/take/x/?a=1&b=2",
        annotation="row 17",
        token=f"token-{uuid.uuid4().hex}",
    )


def test_never_inside_a_transaction(recruiter: Any) -> None:
    with transaction.atomic(), pytest.raises(CalledInTransaction):
        recruiter.balance_cents()


def test_money_is_exact(recruiter: Any) -> None:
    assert recruiter.balance_cents() % 1 == 0
    assert recruiter.balance_cents() > 9_000_000


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("throttle", RecruiterUnavailable),
        ("service_fault", OutcomeUnknown),
        ("drop_before", OutcomeUnknown),
        ("drop_after_commit", OutcomeUnknown),
    ],
)
def test_a_write_is_attempted_once_and_says_what_is_known(
    marketplace: MarketplaceServer, recruiter: Any, order: OfferOrder, fault: str, error: type[Exception]
) -> None:
    order = replace(order, annotation=order.token)
    marketplace.arm("CreateHITWithHITType", fault)
    with pytest.raises(error):
        recruiter.publish(order)
    found = recruiter.find(order.annotation)
    assert (found is not None) == (fault == "drop_after_commit")


def test_reads_are_retried(marketplace: MarketplaceServer, recruiter: Any) -> None:
    marketplace.arm("GetAccountBalance", "drop_before", times=2)
    assert recruiter.balance_cents() > 0


def test_a_read_without_an_answer_changes_nothing(marketplace: MarketplaceServer, recruiter: Any) -> None:
    marketplace.arm("GetAccountBalance", "service_fault", times=3)
    with pytest.raises(RecruiterUnavailable):
        recruiter.balance_cents()


def test_the_same_token_twice(recruiter: Any, order: OfferOrder) -> None:
    recruiter.publish(order)
    with pytest.raises(AlreadyDone):
        recruiter.publish(order)


def test_what_does_not_exist(recruiter: Any) -> None:
    with pytest.raises(NotAtRecruiter):
        recruiter.offer("H0")
    assert recruiter.submission("A0") is None
    assert recruiter.find("nobody wrote this") is None


def test_states_that_do_not_allow_it(marketplace: MarketplaceServer, recruiter: Any, order: OfferOrder) -> None:
    hit_id = recruiter.publish(order)
    worker = marketplace.worker()
    assignment_id = worker.accept(hit_id)["assignment_id"]
    assert recruiter.submission(assignment_id) is None
    with pytest.raises((StateRefused, NotAtRecruiter)):
        recruiter.pay(RewardOrder(submission_id=assignment_id))
    worker.submit(assignment_id, receipt="abc")
    report = recruiter.submission(assignment_id)
    assert (report.person_id, report.answers) == (worker.worker_id, {"receipt": "abc"})
    recruiter.pay(RewardOrder(submission_id=assignment_id))
    with pytest.raises(StateRefused):
        recruiter.pay(RewardOrder(submission_id=assignment_id))
    bonus = BonusOrder(
        submission_id=assignment_id,
        person_id=worker.worker_id,
        amount_cents=10**8,
        reason="x",
        marker="x",
        token=order.token,
    )
    with pytest.raises(InsufficientFunds, match="Add money"):
        recruiter.pay(bonus)


def test_places_grow_once_for_a_token_and_never_to_another_fee(recruiter: Any, order: OfferOrder) -> None:
    """Two places can never become ten: the fee would change."""
    hit_id = recruiter.publish(order)
    recruiter.change(hit_id, places=order.places + 3, token="more-1")
    assert recruiter.offer(hit_id).places == order.places + 3
    with pytest.raises(AlreadyDone):
        recruiter.change(hit_id, places=order.places + 5, token="more-1")
    with pytest.raises(RecruiterError):
        recruiter.change(hit_id, places=10, token="more-2")
    assert recruiter.offer(hit_id).places == order.places + 3


@pytest.mark.slow
def test_every_page_is_read(recruiter: Any, order: OfferOrder) -> None:
    """101 HITs are two pages; the oldest is on one of them whatever the order."""
    names = [f"{order.token}-{number}" for number in range(101)]
    for name in names:
        recruiter.publish(replace(order, token=name, annotation=name))
    assert all(recruiter.find(name) for name in (names[0], names[-1]))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": "x" * 129}, "Title"),
        ({"title": " "}, "Title"),
        ({"assignment_duration_s": 10}, "AssignmentDurationInSeconds"),
        ({"auto_approval_s": 2_592_001}, "AutoApprovalDelayInSeconds"),
        ({"keywords": "k" * 1_001}, "Keywords"),
    ],
)
def test_what_boto3_does_not_check_is_checked(recruiter: Any, change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        recruiter.publish_terms(replace(TERMS, **change))
    assert list(caught.value.fields) == [field]


def test_patterns_of_the_service_model_are_checked(recruiter: Any) -> None:
    with pytest.raises(InvalidRequest):
        recruiter.offer("not an id")
    with pytest.raises(InvalidRequest) as caught:
        recruiter.pay(
            BonusOrder(submission_id="A1", person_id="B1", amount_cents=1, reason=" ", marker="", token="t" * 65)
        )
    assert set(caught.value.fields) == {"WorkerId", "Reason", "UniqueRequestToken"}


@pytest.mark.parametrize("change", [{"secret_access_key": "wrong" * 8}, {"access_key_id": "AKIAWRONG"}])
def test_wrong_keys(marketplace: MarketplaceServer, rich_keys: RequesterKeys, change: dict[str, str]) -> None:
    with pytest.raises(KeysRefused):
        _made_by_hand(marketplace.url, rich_keys, **change).balance_cents()


def test_nobody_there(rich_keys: RequesterKeys) -> None:
    with pytest.raises(RecruiterUnavailable, match="nothing was changed"):
        _made_by_hand("http://localhost:9", rich_keys).publish_terms(TERMS)


def test_the_environment_cannot_redirect_it(
    marketplace: MarketplaceServer, rich_keys: RequesterKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_MTURK", "http://localhost:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_RETRY_MODE", "standard")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "5")
    recruiter = _made_by_hand(marketplace.url, rich_keys)
    assert recruiter.balance_cents()
    marketplace.arm("CreateHITType", "drop_before")
    with pytest.raises(OutcomeUnknown):  # still one attempt
        recruiter.publish_terms(TERMS)


@pytest.mark.process
def test_amazons_endpoints_are_explicit(settings: Any) -> None:
    endpoints = {name: _endpoint(recruiter_for(name)) for name in ("sandbox", "production")}
    assert endpoints == {
        "sandbox": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
        "production": "https://mturk-requester.us-east-1.amazonaws.com",
    }


def test_without_keys_of_any_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    recruiter = MTurkRecruiter(
        environment="sandbox",
        endpoint_url="http://localhost:9",
        fees=PUBLISHED_FEES,
        capabilities=capabilities_of("sandbox"),
    )
    with pytest.raises(KeysRefused, match="no access keys for sandbox"):
        recruiter.balance_cents()


def _made_by_hand(url: str, keys: RequesterKeys, **change: str) -> MTurkRecruiter:
    return MTurkRecruiter(
        environment="marketplace",
        endpoint_url=f"{url}/requester/",
        fees=PUBLISHED_FEES,
        capabilities=capabilities_of("marketplace"),
        read_attempts=1,
        writes_per_second=1000,
        **{"access_key_id": keys.access_key_id, "secret_access_key": keys.secret_access_key, **change},
    )


def _endpoint(recruiter: Any) -> str:
    url: str = recruiter._writer.meta.endpoint_url
    assert recruiter._reader.meta.endpoint_url == url
    assert recruiter._writer.meta.region_name == "us-east-1"
    return url
