"""Honest pages never look like scripts that do not look: whatever they fetch twice, late, ahead or in another tab."""

from __future__ import annotations

import random

import pytest

from humanexp.core.connections import write_turn
from humanexp.participation import presentation
from humanexp.participation.answers import unfetched_answers
from humanexp.participation.models import Session
from humanexp.participation.presentation import note_fetched
from humanexp.participation.sessions import SessionClaim
from tests.factories import Tab, new_session


def unfetched(session):
    return unfetched_answers(Session.objects.filter(pk=session.pk)).get(session.pk)


class Page:
    """Fetches what it lacks of a block, four trials a call in any order, and answers what it has; may be reloaded,
    lose its line for a while, and be overtaken by another tab."""

    def __init__(self, client, session, rng, number=0):
        self.session, self.rng = session, rng
        self.tab = Tab(client, session, lease=f"tab-{number:08d}")
        self.tab.take_lease()
        self.have, self.waiting = set(), []

    def fetch(self, block):
        cursor = Session.objects.get(pk=self.session.pk).cursor
        lacking = [at for at in range(max(block["first"], cursor), block["last"] + 1) if at not in self.have]
        calls = [lacking[start : start + 4] for start in range(0, len(lacking), 4)]
        self.rng.shuffle(calls)
        for call in calls:
            # Those answered in the meantime, by another tab, are not asked for again.
            assert self.tab.get(f"trials/{call[0]}-{call[-1]}/pictures/").status_code == 200
            if self.rng.random() < 0.2:  # the reply was lost: asked again
                self.tab.get(f"trials/{call[0]}-{call[-1]}/pictures/")
            self.have.update(call)

    def answer(self, position, is_online):
        assert position in self.have, "a page shows what it has"
        self.waiting.append(position)
        while is_online and self.waiting:
            assert self.tab.answer(self.waiting[0]).status_code in (200, 201)
            self.waiting.pop(0)


@pytest.mark.parametrize("seed", range(12))
def test_no_honest_course_leaves_an_answer_without_its_picture(client, study, seed):
    rng = random.Random(seed)
    session = new_session(study, f"P-{seed}")
    page, tabs = Page(client, session, rng), 0
    for block in session.blocks:
        page.fetch(block)
        position = block["first"]
        while position <= block["last"]:
            is_last = position == block["last"]
            page.answer(position, is_online=is_last or rng.random() < 0.6)
            position += 1
            if rng.random() < 0.15:  # reloaded, or opened in another tab: what waits goes out first, pictures anew
                waiting, tabs = page.waiting, tabs + (rng.random() < 0.5)
                page = Page(client, session, rng, tabs)
                page.waiting = waiting
                while page.waiting:
                    assert page.tab.answer(page.waiting.pop(0)).status_code in (200, 201)
                page.fetch(block)
    assert page.tab.post("complete/", {"environment": {}}).status_code == 200
    assert unfetched(session) == 0


def test_a_session_from_before_this_was_kept_says_nothing(tab, session):
    Session.objects.filter(pk=session.pk).update(pictures_fetched=None)
    tab.take_lease()
    tab.answer(0)
    assert unfetched(session) is None
    tab.get("trials/1-1/pictures/")
    session.refresh_from_db()
    assert session.pictures_fetched is None and session.fetched is None


def test_two_calls_at_once_undo_nothing_of_each_other(session, monkeypatch):
    claim = SessionClaim(session_id=session.pk, nonce=session.token_nonce)
    turn = write_turn

    def after_another():
        """The other call of the page has noted its pictures since this one looked."""
        monkeypatch.setattr(presentation, "write_turn", turn)
        note_fetched(claim=claim, positions=range(4, 8))
        return turn()

    monkeypatch.setattr(presentation, "write_turn", after_another)
    note_fetched(claim=claim, positions=range(4))
    session.refresh_from_db()
    assert session.fetched == set(range(8))


def test_asked_again_nothing_is_written(tab, session, django_assert_num_queries):
    claim = SessionClaim(session_id=session.pk, nonce=session.token_nonce)
    note_fetched(claim=claim, positions=range(4))
    with django_assert_num_queries(1):
        note_fetched(claim=claim, positions=[1, 3])
    session.refresh_from_db()
    assert session.fetched == {0, 1, 2, 3}
