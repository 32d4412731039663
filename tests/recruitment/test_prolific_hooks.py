"""Webhooks as the practice panel delivers them: doubled, out of order, refused at first; and forged ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from humanexp.recruiters.prolific.client import ProlificClient
from humanexp.recruiters.prolific.kinds import FRESH, HookRefused, signature, verified
from humanexp.recruiters.tickets import Hint
from tests.limits import until
from tests.panel.receiver import Delivery, Receiver
from tests.panel.server import CODE, Lab, PanelServer

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
BODY = b'{ "resource_id":"a", "event_type": "submission.status.change", "status": "APPROVED" }'


@pytest.fixture
def panel(tmp_path: Path) -> Iterator[PanelServer]:
    server = PanelServer(tmp_path).start()
    yield server
    server.stop()


@pytest.fixture
def lab(panel: PanelServer) -> Lab:
    return panel.lab()


def secret_of(lab: Lab, receiver: Receiver) -> str:
    """Of an account whose submissions are told to the receiver."""
    client = ProlificClient(f"{lab.panel.url}/api/v1/", lab.token, referer="https://lab.example/")
    client.subscribe(lab.workspace_id, "submission.status.change", f"{receiver.url}/hook/")
    return client.replace_secret(lab.workspace_id).value


def headers_of(stamp: str, **changed: str) -> dict[str, str]:
    return {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": signature("secret", stamp, BODY),
        **changed,
    }


def stamp_at(when: datetime) -> str:
    return str(int(when.timestamp()))


def test_the_signature_is_that_of_the_documentation() -> None:
    """Computed with openssl: printf '1700000000{}' | openssl dgst -sha256 -hmac secret -binary | base64."""
    assert signature("secret", "1700000000", b"{}") == "RM6OD3UEVWrrFT2bdZ2X/EyvymK1UHHNZgnc1eHXdHk="


def test_a_fresh_delivery_is_a_hint_and_no_state() -> None:
    headers = headers_of(stamp_at(NOW))
    hint = verified("secret", headers, BODY, NOW)
    assert hint == Hint(delivery=headers["X-Prolific-Request-Signature"], about="a")
    assert "APPROVED" not in repr(hint)


@pytest.mark.parametrize("off", [FRESH + timedelta(seconds=1), -FRESH - timedelta(seconds=1)])
def test_an_old_stamp_and_one_of_the_future_are_refused(off: timedelta) -> None:
    assert verified("secret", headers_of(stamp_at(NOW - FRESH)), BODY, NOW)
    with pytest.raises(HookRefused):
        verified("secret", headers_of(stamp_at(NOW - off)), BODY, NOW)


@pytest.mark.parametrize(
    ("secret", "changed", "body"),
    [
        ("another", {}, BODY),
        ("", {}, BODY),
        ("secret", {"X-Prolific-Request-Signature": ""}, BODY),
        ("secret", {"X-Prolific-Request-Signature": "Grüße"}, BODY),
        ("secret", {"X-Prolific-Request-Timestamp": stamp_at(NOW + timedelta(seconds=1))}, BODY),
        ("secret", {}, BODY + b" "),
        ("secret", {}, json.dumps(json.loads(BODY)).encode()),  # the same JSON in other bytes
    ],
)
def test_forged_deliveries_are_refused(secret: str, changed: dict[str, str], body: bytes) -> None:
    with pytest.raises(HookRefused):
        verified(secret, headers_of(stamp_at(NOW), **changed), body, NOW)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"event_type": "x"}', b"\xff"])
def test_a_signed_body_that_says_nothing_is_refused(body: bytes) -> None:
    headers = headers_of(stamp_at(NOW), **{"X-Prolific-Request-Signature": signature("secret", stamp_at(NOW), body)})
    with pytest.raises(HookRefused):
        verified("secret", headers, body, NOW)


@pytest.mark.parametrize("stamp", ["", "soon", "-5", "1e9", "١٢٣", "9" * 5_000, "0" * 5_000])
def test_a_stamp_is_a_number_of_seconds(stamp: str) -> None:
    with pytest.raises(HookRefused):
        verified("secret", headers_of(stamp), BODY, NOW)


def hints(secret: str, deliveries: list[Delivery]) -> list[Hint]:
    return [verified(secret, one.headers, one.body, datetime.fromtimestamp(one.arrived_at, UTC)) for one in deliveries]


@pytest.mark.process
def test_doubled_and_shuffled_deliveries_have_the_ids_of_their_events(lab: Lab, panel: PanelServer) -> None:
    panel.control("switches", events_doubled=True, events_shuffled=True, events_delay_s=60)
    with Receiver() as receiver:
        secret = secret_of(lab, receiver)
        study = lab.study(total_available_places=4)
        people = [panel.person() for _ in range(4)]
        submissions = [person.reserve(study) for person in people]
        for person, submission in zip(people, submissions, strict=True):
            person.start(submission)
            person.get(f"/submissions/complete?cc={CODE}")
        panel.advance(70)
        seen = hints(secret, receiver.wait_for(lambda came: len(came) == 24))  # reserved, active, awaiting; twice
        events = [one.headers["X-Event-ID"] for one in receiver.deliveries]
        assert set(Counter(events).values()) == {2}
        once = dict(zip(events, (one.about for one in seen), strict=True))
        assert Counter(once.values()) == dict.fromkeys(submissions, 3)
        happened = [one.headers["X-Timestamp"] for one in receiver.deliveries]
        assert happened != sorted(happened)
        # Signed with the old secret, nothing is believed any more.
        other = secret_of(lab, receiver)
        with pytest.raises(HookRefused):
            hints(other, receiver.deliveries)


@pytest.mark.process
def test_refused_deliveries_come_again_with_the_same_id(lab: Lab, panel: PanelServer) -> None:
    with Receiver(refusals=2) as receiver:
        secret = secret_of(lab, receiver)
        study = lab.study()
        lab.people(study, 1, "RESERVED")
        receiver.wait_for(lambda came: len(came) == 1)
        for count in (2, 3):
            panel.advance(500)
            receiver.wait_for(lambda came, count=count: len(came) >= count)
        assert len({one.headers["X-Event-ID"] for one in receiver.deliveries[:3]}) == 1
        assert len({one.about for one in hints(secret, receiver.deliveries)[:3]}) == 1
        subscription = lab.get("hooks/subscriptions/")["results"][0]["id"]

        def statuses() -> list[str]:
            return [one["status"] for one in lab.get(f"hooks/subscriptions/{subscription}/events/")["results"]]

        until(lambda: statuses()[:1] == ["SUCCEEDED"], lambda: str(statuses()))


@pytest.mark.process
def test_nothing_is_told_before_a_subscription_is_confirmed(lab: Lab, panel: PanelServer) -> None:
    with Receiver() as receiver:
        lab.post("hooks/secrets/", workspace_id=lab.workspace_id)
        made = lab.call(
            "POST",
            "hooks/subscriptions/",
            {
                "workspace_id": lab.workspace_id,
                "event_type": "study.status.change",
                "target_url": f"{receiver.url}/hook/",
            },
        )
        lab.study(metadata="campaign-7")
        events = f"hooks/subscriptions/{made.json()['id']}/events/"
        assert lab.get(events)["results"] == []
        lab.refused("POST", f"hooks/subscriptions/{made.json()['id']}/", {"secret": "guessed"})
        lab.post(f"hooks/subscriptions/{made.json()['id']}/", secret=made.headers["X-Hook-Secret"])
        lab.study(metadata="campaign-8")
        receiver.wait_for(lambda came: len(came) == 2)
        assert {json.loads(one.body)["metadata"] for one in receiver.deliveries} == {"campaign-8"}
