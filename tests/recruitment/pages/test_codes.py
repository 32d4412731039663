"""Completion codes that people send in, looked up by command and on a page; and withdrawals undone on theirs."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from humanexp.core.models import User
from humanexp.participation import sessions
from humanexp.participation.models import Response, SessionState
from humanexp.recruiting.people import codes_in, find_codes
from humanexp.studies.models import Role, Study
from humanexp.studies.permissions import invite
from tests.factories import Tab, collecting_study, new_session


@pytest.fixture
def study(stimulus_set) -> Study:
    """Nobody is a member of it yet, other than in this folder's other tests."""
    return collecting_study()


@pytest.fixture
def finished(client, study: Study):
    """A session with every trial answered, and the code that its participant was shown."""
    made = new_session(study)
    opened = Tab(client, made)
    opened.take_lease()
    for position in range(made.total):
        assert opened.answer(position).status_code == 201
    code = opened.post("complete/", {"environment": {}}).json()["completion_code"]
    made.refresh_from_db()
    return made, code


@pytest.fixture
def member(client, study: Study):
    def enter(role: Role) -> User:
        owner = User.objects.create_user("head", is_staff=True)
        user = User.objects.create_user(f"a-{role.value}")
        invite(study=study, username=user.username, role=role, by=owner)
        client.force_login(user)
        return user

    return enter


def test_a_code_is_found_and_a_made_up_one_is_not(finished, study):
    made, code = finished
    found = find_codes(study, codes_in(f"  {code.lower()}, C-AAAAAAAA;{code}\n"))
    assert [(one.code, one.session) for one in found] == [(code, made), ("C-AAAAAAAA", None)]


def test_a_code_of_an_earlier_key_is_still_found(finished, study, settings):
    made, code = finished
    with override_settings(SECRET_KEY="another", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        (found,) = find_codes(study, [code])
        assert found.session == made
        assert code in sessions.completion_codes(made.code) and sessions.completion_code(made.code) != code


def test_the_command_says_whose_it_is_and_fails_for_nobodys(finished, study, capsys):
    made, code = finished
    call_command("find_code", study.slug, code)
    told = capsys.readouterr().out
    assert told.startswith(f"{code}: {made.participant.code}, session {made.code}, finished 20")
    with pytest.raises(CommandError, match="1 of 2 codes were never given out"):
        call_command("find_code", study.slug, code, "C-AAAAAAAA")
    assert "C-AAAAAAAA: no finished session has it" in capsys.readouterr().out


def test_the_page_says_whose_it_is(client, finished, study, member):
    made, code = finished
    member(Role.PAYER)
    page = f"/studies/{study.slug}/monitor/codes/"
    assert "Whose completion code is this?" in client.get(page).content.decode()
    said = client.post(page, {"codes": f"{code} C-AAAAAAAA"}).content.decode()
    assert made.code in said and made.participant.code in said and "1 of 2 was never given out" in said
    assert "All" not in client.post(page, {"codes": code}).content.decode().partition("</table>")[0][-20:]
    for text in ("", " ,;", "C-A" + " C-A".join(str(n) for n in range(501))):
        assert client.post(page, {"codes": text}).status_code == 422
    assert client.get(f"/studies/{study.slug}/monitor/").status_code == 200


def test_viewers_look_up_no_codes_and_undo_nothing(client, finished, study, member):
    member(Role.VIEWER)
    assert client.get(f"/studies/{study.slug}/monitor/codes/").status_code == 403
    assert client.get(f"/studies/{study.slug}/sessions/withdrawn/").status_code == 403


def test_a_withdrawal_is_undone_on_its_page_with_a_reason(client, study, session, tab, member):
    assert tab.answer(0).status_code == 201
    tab.post("withdraw/", {})
    page = f"/studies/{study.slug}/sessions/withdrawn/"
    member(Role.RESEARCHER)
    shown = client.get(page).content.decode()
    assert session.code in shown and "by the participant" in shown and "after 14 days" in shown
    refused = client.post(page, {"session": session.code, "reason": "  "})
    assert refused.status_code == 422 and "Write why" in refused.content.decode()
    assert client.post(page, {"session": "S-NONE", "reason": "x"}).status_code == 404
    done = client.post(page, {"session": session.code, "reason": "It was somebody else."}, follow=True)
    assert "counts again" in done.content.decode()
    session.refresh_from_db()
    assert session.state == SessionState.OPEN and Response.objects.filter(session=session).count() == 1


def test_payers_see_withdrawals_and_undo_none(client, study, session, tab, member):
    tab.post("withdraw/", {})
    member(Role.PAYER)
    page = f"/studies/{study.slug}/sessions/withdrawn/"
    assert "<form" not in client.get(page).content.decode().partition('id="withdrawn-title"')[2]
    assert client.post(page, {"session": session.code, "reason": "x"}).status_code == 403
