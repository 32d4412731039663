from __future__ import annotations

import pytest
from django.test import Client

from humanexp.core.errors import NotAllowed
from humanexp.core.models import AuditEvent, User, record
from humanexp.studies.models import Study
from humanexp.studies.permissions import invite
from humanexp.studies.services import pause, revise_study, start_collecting
from tests.downloads import rows_of
from tests.factories import configuration, draft_study, make_stimulus_set, new_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", first_name="Ada", last_name="L.")


@pytest.fixture
def study(ada: User) -> Study:
    make_stimulus_set()
    return draft_study(by=ada)


def acts(study: Study) -> list[str]:
    return list(AuditEvent.objects.filter(study=study.slug).order_by("pk").values_list("action", flat=True))


def test_the_life_of_a_study_is_told_in_order(study: Study, ada: User) -> None:
    revise_study(study=study, configuration=configuration(seed=2), by=ada)
    start_collecting(study=study, by=ada)
    start_collecting(study=study, by=ada)  # twice is once
    new_session(study)
    new_session(study, code="P-2")
    pause(study=study, by=ada)
    assert acts(study) == ["create-study", "revise-study", "study-collecting", "freeze-plan", "study-paused"]
    frozen = AuditEvent.objects.get(action="freeze-plan")
    assert frozen.facts == {"digest": study.digest, "plan": study.plan_digest} and frozen.by is None


def test_an_act_that_fails_leaves_no_line(study: Study, ada: User) -> None:
    from django.db import transaction

    before = acts(study)
    with pytest.raises(RuntimeError), transaction.atomic():
        start_collecting(study=study, by=ada)
        raise RuntimeError
    assert acts(study) == before


def test_lines_are_only_ever_added(study: Study) -> None:
    line = AuditEvent.objects.first()
    assert line is not None
    for act in (line.save, line.delete, AuditEvent.objects.all().delete, lambda: AuditEvent.objects.update(action="x")):
        with pytest.raises(NotAllowed):
            act()


def test_who_leaves_the_house_leaves_the_line(study: Study, ada: User) -> None:
    ada.delete()
    assert AuditEvent.objects.get(action="create-study").by is None


class TestPage:
    @pytest.fixture
    def console(self, client: Client, ada: User) -> Client:
        client.force_login(ada)
        return client

    def test_newest_first_by_person_and_kind(self, console: Client, study: Study, ada: User) -> None:
        ben = User.objects.create_user("ben")
        invite(study=study, username="ben", role="payer", by=ada)
        record(action="settle", subject=f"study:{study.slug}", study=study.slug, by=ben, planned=2, cents=240)
        page = f"/studies/{study.slug}/audit/"
        body = console.get(page).content.decode()
        body = body[body.index('id="record"') :]
        assert body.index("planned payments") < body.index("invited a person") < body.index("created the study")
        assert "$2.40" in body and "Ada L." in body
        mine = console.get(page, {"person": str(ben.pk)}).content.decode()
        rows = mine[mine.index('id="record"') :]
        assert "planned payments" in rows and "created the study" not in rows
        kind = console.get(page, {"kind": "member-invite"}).content.decode()
        rows = kind[kind.index('id="record"') :]
        assert "invited a person" in rows and "planned payments" not in rows
        partial = console.get(page, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in partial and 'id="record"' in partial
        assert (
            "Nothing of this kind"
            in console.get(page, {"person": str(ben.pk), "kind": "member-invite"}).content.decode()
        )

    def test_sums_are_told_with_their_currency_and_facts_in_words(self, console: Client, study: Study) -> None:
        record(action="publish", subject="campaign:1", study=study.slug, quoted_cents=1728, is_green=True)
        record(action="publish", subject="campaign:2", study=study.slug, quoted_cents=1728, currency="GBP")
        body = " ".join(console.get(f"/studies/{study.slug}/audit/").content.decode().split())
        assert "quoted</span> $17.28" in body and "is green</span> yes" in body
        assert "quoted</span> £17.28" in body

    def test_long_records_have_pages(self, console: Client, study: Study, ada: User) -> None:
        for number in range(60):
            record(action="settle", subject=f"study:{study.slug}", study=study.slug, by=ada, planned=number)
        first = console.get(f"/studies/{study.slug}/audit/").content.decode()
        assert "Page 1 of 2" in first and "created the study" not in first[first.index('id="record"') :]
        second = console.get(f"/studies/{study.slug}/audit/?page=2").content.decode()
        assert "created the study" in second[second.index('id="record"') :]

    def test_the_file_holds_the_same_and_no_formula(self, console: Client, study: Study, ada: User) -> None:
        record(action="reject", subject="assignment:1", study=study.slug, by=ada, reason="=1+1")
        reply = console.get(f"/studies/{study.slug}/audit/record.csv")
        rows = rows_of(reply)
        # the download itself stands in it, too
        assert [row["action"] for row in rows] == ["export", "reject", "create-study"]
        assert rows[1]["by"] == "ada" and rows[1]["facts"] == "reason==1+1"

    def test_another_studys_lines_are_not_here(self, console: Client, study: Study, ada: User) -> None:
        record(action="settle", subject="study:other", study="other", by=ada, planned=1)
        assert "planned payments" not in console.get(f"/studies/{study.slug}/audit/").content.decode()

    def test_who_takes_the_answers_away_is_recorded(self, console: Client, study: Study, ada: User) -> None:
        assert console.get(f"/studies/{study.slug}/results/findings.json").status_code == 404  # nothing to take yet
        assert console.get(f"/studies/{study.slug}/results/responses.csv").status_code == 200
        event = AuditEvent.objects.get(action="export")
        assert (event.by, event.study, event.subject) == (ada, study.slug, "responses.csv")

    def test_administrators_read_the_record_of_the_house(self, console: Client, study: Study, ada: User) -> None:
        record(action="delete-stimuli", subject="stimulus set:old", by=ada)
        assert console.get("/record/").status_code == console.get("/record/record.csv").status_code == 403
        User.objects.filter(pk=ada.pk).update(is_staff=True)
        body = console.get("/record/").content.decode()
        assert "deleted a stimulus set" in body and "created the study" in body and f"/studies/{study.slug}/" in body
        text = b"".join(console.get("/record/record.csv").streaming_content).decode()  # type: ignore[attr-defined]
        assert f",create-study,{study.slug}," in text


def test_every_act_of_the_house_has_words() -> None:
    """Names that services pass to record() stand in the page's list."""
    import re
    from pathlib import Path

    from humanexp.console.pages.audit_log import ACTS

    found: set[str] = set()
    for path in Path("humanexp").rglob("*.py"):
        found |= set(re.findall(r'record\(\s*(?:action=)?"([a-z-]+)"', path.read_text()))
    assert found - set(ACTS) == set(), "give these acts words in humanexp/console/pages/audit_log.py"
