"""Every address of a study with every role. An address that is not in the table of the house fails here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from django.utils import timezone

from benchmarks.console import fill
from humanexp.console.access import ACCESS, StudyAccess
from humanexp.core.models import AuditEvent, User
from humanexp.jobs import services as jobs
from humanexp.ledger.models import Payment, RejectionProposal
from humanexp.participation.models import Session
from humanexp.recruiters.models import Assignment, RecruitedPerson
from humanexp.screening.services import append_verdict
from humanexp.studies.models import MAY, Action, Role, Study
from humanexp.studies.permissions import may, members_of
from humanexp.studies.selectors import visible_to
from humanexp.studies.services import start_collecting
from tests.factories import draft_study, make_stimulus_set, new_session

pytestmark = pytest.mark.django_db

#: What each role may do, written out a second time: a change of the house's table is a decision, not a slip.
EXPECTED = {
    "owner": "see try design check launch stop evidence review reject pay analyse export audit members",
    "researcher": "see try design check launch stop evidence review analyse export audit",
    "reviewer": "see try stop evidence review reject audit",
    "payer": "see try stop evidence pay audit",
    "viewer": "see try",
}
#: Who may open each address and who may send its form, written out a second time and by hand: a page that moves from
#: one line to another is a decision, not a slip. (what reading takes, what sending takes): addresses
PAGES: dict[tuple[str, str], str] = {
    ("see", "see"): """
        console:overview participation:count-again studies:study-file participation:live
        recruitment:price
        recruitment:monitor
        recruitment:answers screening:review screening:timing
        screening:timing-certificate results:dashboard results:room results:panel results:card results:methods
        results:report_file results:table results:table_file results:figure_json results:figure_file
        results:sheet_file console:figures console:figure
    """,
    ("try", "try"): """
        console:preview console:run-preview console:gallery
    """,
    ("see", "check"): """
        console:preflight
    """,
    ("see", "members"): """
        console:members
    """,
    ("members", "members"): """
        console:member recruitment:rejections
    """,
    ("audit", "audit"): """
        console:audit console:audit-csv
    """,
    ("see", "design"): """
        studies:design studies:power
    """,
    ("design", "design"): """
        studies:change
    """,
    ("see", "launch"): """
        recruitment:recruit
    """,
    ("see", "stop"): """
        recruitment:stop
    """,
    ("see", "pay"): """
        recruitment:settle
    """,
    ("see", "evidence"): """
        recruitment:sync
    """,
    ("pay", "pay"): """
        recruitment:try-again recruitment:compensate recruitment:top-up recruitment:resolve
        recruitment:finished recruitment:finished-csv recruitment:money recruitment:money-csv
        recruitment:top-up-campaign recruitment:bonuses
    """,
    ("evidence", "evidence"): """
        recruitment:assignment recruitment:codes recruitment:exclusions recruitment:decide
        recruitment:agreed recruitment:sheet
        recruitment:ledger recruitment:ledger-csv
    """,
    ("evidence", "members"): """
        recruitment:person
    """,
    ("evidence", "pay"): """
        recruitment:difference recruitment:parked
    """,
    ("launch", "launch"): """
        recruitment:approval recruitment:extend recruitment:change recruitment:limits recruitment:notify
        recruitment:exclusion recruitment:pause recruitment:reopen
    """,
    ("evidence", "review"): """
        screening:golds screening:session screening:comments participation:withdrawn
    """,
    ("review", "review"): """
        screening:judge screening:return-to-rules recruitment:find-person recruitment:let-in
    """,
    ("analyse", "analyse"): """
        results:analyse results:freeze results:write_report
    """,
    ("export", "export"): """
        results:findings results:responses results:publish recruitment:person-json
    """,
}
WANTED = {name: actions for actions, names in PAGES.items() for name in names.split()}
#: Something for every parameter of an address; there need not be such a row.
VALUES = {
    "pk": 1,
    "code": "s-none",
    "figure": "leads",
    "key": "none",
    "suffix": "svg",
    "table": "none",
    "sheet": "none",
    "room": "none",
    "digest": "none",
    "by": "month",
}


def study_urls() -> list[str]:
    """Names of all addresses below /studies/<slug>/."""

    def walk(patterns: list[Any], prefix: str, namespace: str) -> Iterator[str]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                inner = ":".join(filter(None, [namespace, pattern.namespace or ""]))
                yield from walk(pattern.url_patterns, route, inner)
            elif isinstance(pattern, URLPattern) and route.startswith("studies/<slug:slug>/"):
                yield f"{namespace}:{pattern.name}"

    return list(walk(get_resolver().url_patterns, "", ""))


NAMES = study_urls()


def address_of(name: str, slug: str) -> str:
    known = get_resolver()
    for part in name.split(":")[:-1]:
        known = known.namespace_dict[part][1]
    options = known.reverse_dict.getlist(name.split(":")[-1])
    wanted = options[0][0][0][1]
    return reverse(name, kwargs={key: slug if key == "slug" else VALUES[key] for key in wanted})


@pytest.fixture
def study(db: None) -> Study:
    make_stimulus_set()
    return draft_study()


@pytest.fixture
def people(study: Study) -> dict[str, User]:
    found = {role: User.objects.create_user(role) for role in Role.values}
    for role, user in found.items():
        study.memberships.create(user=user, role=role)
    return {**found, "stranger": User.objects.create_user("stranger")}


def test_the_table_names_every_address_and_no_other() -> None:
    assert set(NAMES) - set(ACCESS) == set(), "say in humanexp/console/access.py who may open these pages"
    assert set(ACCESS) - set(NAMES) == set(), "these pages do not exist"
    assert {name: (str(to_read), str(to_send)) for name, (to_read, to_send) in ACCESS.items()} == WANTED


def test_the_roles_are_those_that_were_decided() -> None:
    allowed = {role: {str(action) for action, roles in MAY.items() if role in roles} for role in Role.values}
    assert allowed == {role: set(actions.split()) for role, actions in EXPECTED.items()}
    assert set(MAY) == set(Action)


@pytest.mark.promise(3)
def test_every_address_refuses_and_lets_in_as_the_table_says(study: Study, people: dict[str, User]) -> None:
    """The middleware is asked for every address, method and role; it asks before any view is called."""
    access = StudyAccess(lambda request: None)  # type: ignore[arg-type, return-value]
    factory = RequestFactory()

    def answer(name: str, method: str, user: Any) -> int:
        request: HttpRequest = getattr(factory, method.lower())(address_of(name, study.slug))
        request.user = user
        match = request.resolver_match = resolve(request.path)
        said = access.process_view(request, match.func, match.args, match.kwargs)
        return 200 if said is None else said.status_code

    for name in NAMES:
        for method, action in zip(("GET", "POST"), WANTED[name], strict=True):
            for role, actions in EXPECTED.items():
                wanted = 200 if action in actions.split() else 403
                assert answer(name, method, people[role]) == wanted, (name, method, role)
            assert answer(name, method, people["stranger"]) == 404, (name, method)
            assert answer(name, method, AnonymousUser()) == 302, (name, method)


@pytest.mark.parametrize("role", ["viewer", "stranger", ""])
def test_no_view_is_reached_around_the_table(study: Study, people: dict[str, User], client: Client, role: str) -> None:
    """The same through the whole application, for those who may least."""
    if role:
        client.force_login(people[role])
    for name in NAMES:
        url, (to_read, to_send) = address_of(name, study.slug), WANTED[name]
        for send, action in ((client.get, to_read), (client.post, to_send)):
            if role == "viewer" and action in EXPECTED["viewer"].split():
                continue
            wanted = {"viewer": 403, "stranger": 404, "": 302}[role]
            assert send(url).status_code == wanted, (name, send)


@pytest.mark.verify
def test_an_owner_finds_a_page_or_a_form_behind_every_address(
    study: Study, people: dict[str, User], client: Client
) -> None:
    client.force_login(people["owner"])
    for name in NAMES:
        reply = client.get(address_of(name, study.slug))
        assert reply.status_code in (200, 302, 404, 405, 409), (name, reply.status_code)


def test_an_address_that_nobody_declared_is_refused_to_its_owner(
    study: Study, people: dict[str, User], client: Client, monkeypatch: Any
) -> None:
    from humanexp.console import access

    client.force_login(people["owner"])
    fewer = {name: actions for name, actions in ACCESS.items() if name != "console:overview"}
    monkeypatch.setattr(access, "ACCESS", fewer)
    assert client.get(f"/studies/{study.slug}/").status_code == 403


def test_jobs_of_a_study_belong_to_its_people(study: Study, people: dict[str, User], client: Client) -> None:
    job = jobs.submit("results.analyse", subject=f"study:{study.pk}", study_id=study.pk)
    judging = jobs.submit("screening.judge_study", subject=f"study:{study.slug}", study_id=study.pk)
    one = new_session(start_collecting(study=study))
    of_session = jobs.submit("screening.judge", subject=f"session:{one.code}", session_id=one.pk)
    of_recruiter = jobs.submit("recruitment.send", subject="recruiter:production", environment="production")
    other = jobs.submit("participation.sweep_previews", subject="house")
    client.force_login(people["stranger"])
    listed = client.get("/jobs/").content.decode()
    assert f"/jobs/{other.pk}/" in listed
    assert not [found for found in (job, judging, of_session, of_recruiter) if f"/jobs/{found.pk}/" in listed]
    for hidden, status in ((of_session, 404), (of_recruiter, 403)):
        assert client.get(f"/jobs/{hidden.pk}/").status_code == status
        assert client.post(f"/jobs/{hidden.pk}/cancel/").status_code == status
    assert client.get(f"/jobs/{job.pk}/").status_code == 404
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 404
    assert client.get(f"/jobs/{judging.pk}/").status_code == 404
    assert client.get(f"/jobs/{other.pk}/").status_code == 200
    client.force_login(people["viewer"])
    assert f"/jobs/{job.pk}/" in client.get("/jobs/").content.decode()
    assert client.get(f"/jobs/{job.pk}/").status_code == 200
    assert client.get(f"/jobs/{of_recruiter.pk}/").status_code == 403
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 403
    client.force_login(people["researcher"])
    assert client.get(f"/jobs/{of_recruiter.pk}/").status_code == 403
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 302
    client.force_login(User.objects.create_user("treasurer", is_treasurer=True))
    assert client.get(f"/jobs/{of_recruiter.pk}/").status_code == 200
    assert f"/jobs/{of_recruiter.pk}/" in client.get("/jobs/").content.decode()
    assert client.post(f"/jobs/{of_recruiter.pk}/cancel/").status_code == 403


def test_the_list_shows_the_studies_in_which_one_has_a_role(study: Study, people: dict[str, User]) -> None:
    assert list(visible_to(people["viewer"])) == [study]
    assert not visible_to(people["stranger"]).exists() and not visible_to(AnonymousUser()).exists()
    head = User.objects.create_user("head", is_staff=True)
    assert list(visible_to(head)) == [study] and may(head, Action.MEMBERS, study)
    gone = people["owner"]
    gone.is_active = False
    assert not may(gone, Action.SEE, study)


class TestMembers:
    def test_owners_invite_change_and_remove(self, study: Study, people: dict[str, User], client: Client) -> None:
        client.force_login(people["owner"])
        page = f"/studies/{study.slug}/members/"
        assert client.post(page, {"username": "stranger", "role": "payer"}).status_code == 302
        member = study.memberships.get(user=people["stranger"])
        assert member.role == "payer"
        shown = client.get(f"{page}{member.pk}/").content.decode()
        assert "stranger is payer" in shown and "will not see this study any more" in shown
        client.post(f"{page}{member.pk}/", {"role": "viewer"})
        member.refresh_from_db()
        assert member.role == "viewer"
        client.post(f"{page}{member.pk}/", {"act": "remove"})
        assert not study.memberships.filter(user=people["stranger"]).exists()
        acts = list(AuditEvent.objects.filter(study=study.slug).values_list("action", flat=True))
        assert acts[:3] == ["member-remove", "member-role", "member-invite"]

    def test_refusals_are_told_at_their_field(self, study: Study, people: dict[str, User], client: Client) -> None:
        client.force_login(people["owner"])
        page = f"/studies/{study.slug}/members/"
        reply = client.post(page, {"username": "nobody", "role": "viewer"})
        assert reply.status_code == 422 and "No one here has an account" in reply.content.decode()
        reply = client.post(page, {"username": "viewer", "role": "viewer"})
        assert reply.status_code == 422 and "takes part already" in reply.content.decode()

    @pytest.mark.parametrize("act", [{"act": "remove"}, {"role": "viewer"}])
    def test_the_last_owner_stays(
        self, study: Study, people: dict[str, User], client: Client, act: dict[str, str]
    ) -> None:
        client.force_login(people["owner"])
        mine = study.memberships.get(user=people["owner"])
        reply = client.post(f"/studies/{study.slug}/members/{mine.pk}/", act, follow=True)
        assert "is the only owner" in reply.content.decode()
        assert study.memberships.get(pk=mine.pk).role == "owner"

    def test_one_of_two_owners_may_leave(self, study: Study, people: dict[str, User], client: Client) -> None:
        study.memberships.filter(user=people["payer"]).update(role="owner")
        client.force_login(people["owner"])
        mine = study.memberships.get(user=people["owner"])
        reply = client.post(f"/studies/{study.slug}/members/{mine.pk}/", {"act": "remove"})
        assert reply.status_code == 302 and reply.url == "/"
        assert [member.role for member in members_of(study)][:1] == ["owner"]

    def test_who_makes_a_study_owns_it(self, people: dict[str, User]) -> None:
        made = draft_study(by=people["stranger"], title="Another")
        assert made.memberships.get().user == people["stranger"]


class TestViewers:
    """They look at everything but single people, and take no payment away."""

    @pytest.fixture
    def filled(self) -> Study:
        """People of whom some are paid, some rejected, and some wait for somebody's look."""
        fill(30, User.objects.create_user("ada"))
        study = Study.objects.get()
        for role in ("viewer", "payer"):
            study.memberships.create(user=User.objects.create_user(role), role=role)
        rows = list(Assignment.objects.order_by("pk"))
        states = {0: {"state": "submitted", "evidence": "unknown"}, 1: {"state": "rejected", "rejection_reason": "R"}}
        late = timezone.now() - timedelta(days=9)
        states |= {2: {"state": "returned"}, 3: {"state": "opened", "opened_at": late}}
        for number, facts in states.items():
            Assignment.objects.filter(pk=rows[number].pk).update(**facts)
        Session.objects.filter(assignment__in=[rows[2].pk, rows[3].pk]).update(state="completed")
        Payment.objects.filter(assignment=rows[4]).update(state="refused", last_error="no")
        RejectionProposal.objects.create(assignment=rows[0], reason="The same person twice")
        append_verdict(session=rows[5].session, accepted=False, written_reason="Fell asleep", rule_set="", evidence=[])
        return study

    def named(self, study: Study, page: str) -> list[str]:
        """Codes of people and sessions, and what somebody wrote about one, that a page holds."""
        codes = [
            *study.family.participants.values_list("code", flat=True),
            *study.sessions.values_list("code", flat=True),
        ]
        told = ["The same person twice", "Fell asleep", *RecruitedPerson.objects.values_list("worker_id", flat=True)]
        return [one for one in (*codes, *told) if one in page]

    @pytest.mark.parametrize(
        "page", ["", "recruit/", "monitor/", "monitor/answers/", "review/", "review/?show=excluded"]
    )
    def test_see_no_single_person(self, filled: Study, client: Client, page: str) -> None:
        address = f"/studies/{filled.slug}/{page}"
        for headers in ({}, {"HX-Request": "true"}):
            client.force_login(User.objects.get(username="viewer"))
            reply = client.get(address, headers=headers)
            assert reply.status_code == 200
            assert self.named(filled, reply.content.decode()) == []
            assert "/ledger/" not in reply.content.decode(), "a link that would be refused"
            assert "?show=" not in reply.content.decode(), "a list that is not there"
        client.force_login(User.objects.get(username="payer"))
        reply = client.get(address)
        assert bool(self.named(filled, reply.content.decode())) is (
            page.startswith(("monitor/", "review")) and "answers" not in page
        )

    @pytest.mark.parametrize("page", ["ledger/", "ledger/ledger.csv", "ledger/differences/1/"])
    def test_the_ledger_is_for_who_sees_single_people(self, filled: Study, client: Client, page: str) -> None:
        for user, status in (("viewer", {403}), ("payer", {200, 404})):
            client.force_login(User.objects.get(username=user))
            assert client.get(f"/studies/{filled.slug}/monitor/{page}").status_code in status
