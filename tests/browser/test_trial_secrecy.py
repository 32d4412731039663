"""Until an answer is stored, nothing that reaches the browser tells what its picture shows or what its trial is for."""

from __future__ import annotations

from typing import Any

import pytest

from humanexp.participation.models import Session
from tests.browser.listener import Listener
from tests.browser.person import Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.gate
@pytest.mark.promise(3)
def test_nothing_tells_before_the_answer_is_stored(page: Any, live_server: Any, session: Session) -> None:
    listener = Listener.of(page)
    person = Person(page, live_server.url)
    person.arrives(session)
    stages = set()
    for block in session.blocks:
        if block["index"]:
            person.presses("start")
        for _ in range(block["first"], block["last"] + 1):
            person.sees_the_choices()
            stages.add(page.evaluate("document.querySelector('[data-grid]').outerHTML"))
            person.clicks("dog")
    person.sees("done")
    assert len(stages) == 1, "the page is the same in every trial"
    listener.was_told_nothing(session)
    assert person.complaints == []


def test_pictures_of_other_rounds_and_of_answered_trials_are_not_given(
    page: Any, live_server: Any, session: Session
) -> None:
    person = Person(page, live_server.url)
    sent: list[dict[str, str]] = []
    page.on("request", lambda request: sent.append(request.headers))
    person.arrives(session)
    person.clicks("dog")
    person.sees_the_choices()
    headers = next({name: h[name] for name in ("authorization", "x-lease")} for h in reversed(sent) if "x-lease" in h)

    def status(path: str, **changes: str) -> int:
        answer = page.request.get(f"{live_server.url}/api/v1/run/trials/{path}", headers={**headers, **changes})
        return int(answer.status)

    later = session.blocks[1]["first"]
    assert status("1/stimulus/0/") == status("1/mask/") == status(f"1-{later - 1}/pictures/") == 200
    assert status("0/stimulus/0/") == status("0/mask/") == status("0-1/pictures/") == 404, "answered"
    assert status(f"{later}/stimulus/0/") == status(f"{later - 1}-{later}/pictures/") == 404, "a later round"
    assert status("2-1/pictures/") == status("1-99/pictures/") == 422
    assert status("1/stimulus/1/") == 404, "one picture a trial"
    assert status("1/stimulus/0/", **{"x-lease": "another-window"}) == 409
    assert status("1/stimulus/0/", authorization="Bearer forged") == 401
