"""Faults on demand, and a power cut: what was done, and that the money still adds up."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.limits import LIMIT, until
from tests.panel.server import Lab, PanelServer, ignore_lost

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("kind", "done"),
    [
        ("lost_before", 0),
        ("lost_after", 1),
        ("doubled", 2),
        ("delayed", 1),
        ("cut_body", 1),
        ("bad_gateway", 0),
        ("bad_gateway_after", 1),
        ("html", 1),
        ("too_many", 0),
    ],
)
def test_each_fault_does_what_it_says(lab: Lab, panel: PanelServer, kind: str, done: int) -> None:
    panel.arm("studies.POST", kind, seconds=0.5)
    began = time.monotonic()
    answer = ignore_lost(lab.call, "POST", "studies/", lab.terms())
    took = time.monotonic() - began
    assert len(lab.get("studies/")["results"]) == done
    seen = None if answer is None else (answer.status_code, answer.headers["Content-Type"].partition(";")[0])
    assert (
        seen
        == {
            "lost_before": None,
            "lost_after": None,
            "cut_body": None,
            "doubled": (201, "application/json"),
            "delayed": (201, "application/json"),
            "bad_gateway": (502, "text/html"),
            "bad_gateway_after": (502, "text/html"),
            "html": (200, "text/html"),
            "too_many": (429, "application/json"),
        }[kind]
    )
    assert kind != "delayed" or took >= 0.5
    assert panel.shown("faults") == {"faults": []}


def test_half_a_body_is_half_a_body(lab: Lab, panel: PanelServer) -> None:
    panel.arm("me.GET", "cut_body")
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"):
        lab.call("GET", "users/me/")


def test_a_share_of_any_calls_fails_alike_each_time(lab: Lab, panel: PanelServer) -> None:
    def seen() -> list[int]:
        panel.control("clear", seed=5)
        panel.arm("*", "bad_gateway", times=1000, share=0.3)
        return [lab.call("GET", "users/me/").status_code for _ in range(30)]

    first = seen()
    assert 3 < first.count(502) < 18
    assert seen() == first


def test_only_calls_of_the_panel_can_fail(panel: PanelServer) -> None:
    body = {"operation": "nothing.GET", "kind": "html"}
    assert requests.post(f"{panel.url}/control/faults/", json=body, timeout=LIMIT).status_code == 400


def test_controls_are_for_this_machine_and_ask_for_json(panel: PanelServer) -> None:
    assert requests.get(f"{panel.url}/control/", timeout=LIMIT).status_code == 200
    through_proxy = {"X-Forwarded-For": "198.51.100.7"}
    for path in ("", "clock/"):
        assert requests.get(f"{panel.url}/control/{path}", headers=through_proxy, timeout=LIMIT).status_code == 404
    # What a form on another site could send here.
    forged = requests.post(f"{panel.url}/control/clock/", data='{"advance_seconds": 9}', timeout=LIMIT)
    assert forged.status_code == 415


def test_it_does_not_listen_to_others_unless_it_is_told_to(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="PANEL_OPEN_TO_OTHERS"):
        PanelServer(tmp_path).start(host="0.0.0.0")  # noqa: S104
    open_panel = PanelServer(tmp_path, PANEL_OPEN_TO_OTHERS="1").start(host="0.0.0.0")  # noqa: S104
    try:
        address = f"http://127.0.0.1:{open_panel.port}/control/clock/"
        assert requests.get(address, headers={"X-Forwarded-For": "198.51.100.7"}, timeout=LIMIT).ok
    finally:
        open_panel.stop()


def _spend(lab: Lab, study: str, submissions: list[str], seed: int, posts: Counter[str], stop: threading.Event) -> None:
    """Approvals and bonuses in wild order, until the connection dies or everything was tried."""
    chance = random.Random(seed)
    for submission in submissions:
        if stop.is_set():
            return
        try:
            lab.call("POST", f"submissions/{submission}/transition/", {"action": "APPROVE"})
            plan = lab.call("POST", "submissions/bonus-payments/", _bonus(study, submission, chance)).json()
            if "id" in plan:
                posts[submission] += 1
                lab.call("POST", f"bulk-bonus-payments/{plan['id']}/pay/")
        except requests.RequestException:
            return


def _approved(paid: list[dict[str, Any]]) -> int:
    return sum(one["kind"] == "reward" for one in paid)


def _bonus(study: str, submission: str, chance: random.Random) -> dict[str, Any]:
    return {"study_id": study, "csv_bonuses": f"{submission},{chance.randint(1, 5)}.00"}


@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.gate), 2, 3])
@pytest.mark.promise(2)
def test_the_books_add_up_after_a_power_cut(tmp_path: Path, seed: int) -> None:
    panel = PanelServer(tmp_path).start()
    lab = panel.lab()
    study = lab.study(total_available_places=200)
    submissions = lab.people(study, 200)
    posts: Counter[str] = Counter()
    stop = threading.Event()
    spender = threading.Thread(target=_spend, args=(lab, study, submissions, seed, posts, stop))
    spender.start()
    until(lambda: posts.total() >= 15 * seed or not spender.is_alive(), "money is spent")
    panel.kill()
    stop.set()
    spender.join()

    panel.start()
    panel.advance(4 * 3600)
    money, books = panel.money(lab.workspace_id), panel.shown("books")
    paid = [one for one in books["payments"] if one["is_paid"]]
    spent = sum(one["amount_cents"] + one["fee_cents"] + one["vat_cents"] for one in paid)
    assert money["paid"] == spent
    # Nothing is open but the places that nobody was paid for yet.
    assert (money["deposited"], money["locked"]) == (1_000_000, (200 - _approved(paid)) * 200)
    assert lab.balance() == (1_000_000 - spent, money["available"])
    rewarded = Counter(one["submission_id"] for one in paid if one["kind"] == "reward")
    listed = lab.get("submissions/", study=study, status="approved", page_size=200)["results"]
    approved = {one["id"] for one in listed}
    assert approved == set(rewarded) and set(rewarded.values()) <= {1}
    bonuses = Counter(one["submission_id"] for one in paid if one["kind"] == "bonus")
    assert 0 < len(approved) < 200
    assert all(count <= posts[submission] for submission, count in bonuses.items())
    # The call that the cut met was carried out or not; every other one was.
    assert sum(posts.values()) - sum(bonuses.values()) <= 1
    panel.stop()
