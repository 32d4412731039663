"""A script that answers without looking: it finishes and is paid like everybody, and carries the evidence."""

from __future__ import annotations

import pytest

from humanexp.participation.models import Session
from humanexp.results.tables import sessions_of
from humanexp.screening.services import judge_session

REASON = "pictures not fetched"


def take_part(tab, session, *, looks: bool) -> None:
    tab.take_lease()
    for block in session.blocks:
        for first in range(block["first"], block["last"] + 1):
            if looks:
                assert tab.get(f"trials/{first}-{first}/pictures/").status_code == 200
            assert tab.answer(first).status_code == 201
    assert tab.post("complete/", {"environment": {}}).status_code == 200


@pytest.mark.parametrize("looks", [True, False])
def test_a_bot_that_fetches_no_picture_carries_that(tab, session, looks, client, django_user_model):
    take_part(tab, session, looks=looks)
    session = Session.objects.get(pk=session.pk)
    verdict = judge_session(session)
    assert (REASON in verdict.flags) is not looks
    assert REASON not in verdict.reasons, "evidence for a person, which excludes nobody by itself"
    table = sessions_of(session.study)
    row = table.set_index("session").loc[session.code]
    assert row["unfetched"] == (0 if looks else session.total)
    client.force_login(django_user_model.objects.create_user("ada", is_staff=True))
    page = client.get(f"/studies/{session.study.slug}/review/{session.code}/").content.decode()
    assert ("ever having been fetched" in page) is not looks
    assert (f"{session.total} answers came" in page) is not looks


def test_one_picture_left_out_is_one_answer_without_its_picture(tab, session):
    tab.take_lease()
    for position in range(session.total):
        if position != 3:
            assert tab.get(f"trials/{position}-{position}/pictures/").status_code == 200
        tab.answer(position)
    table = sessions_of(session.study)
    assert table["unfetched"].tolist() == [1]
