"""Kill -9 of every process in the middle of participation: nothing is lost, nothing is doubled, everybody is paid once.

Participants are processes of their own that write down which replies reached them. Moments of death are drawn from a
seed, in numbers of replies and not in seconds, so that they fall into the middle on a slow machine as on a fast one.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from humanexp.simulation.participant import MarketplaceWorker, ScriptedParticipant
from humanexp.simulation.personas import Answer, TruePicture
from tests.journeys.books import check_answers, check_faults, check_money
from tests.journeys.site import Heard, Site, wait_for

BONUS_CENTS = 25


@dataclass(frozen=True)
class Moment:
    """After so many accepted requests to a path, a process dies."""

    victim: str
    path: str
    count: int


def begin_people(site: Site, file: Path, participants: int, seed: int, answer_s: float = 0.0) -> subprocess.Popen[str]:
    wanted = ("flow", "--participants", str(participants), "--seed", str(seed))
    return site.begin("-m", "tests.journeys.people", str(file), *wanted, ANSWER_S=str(answer_s))


def crash_at(moments: list[Moment], site: Site, heard: Heard, people: subprocess.Popen[str], rng: random.Random) -> int:
    """Kill and start again until the people have finished; returns how often."""
    waiting = list(moments)
    while people.poll() is None:
        due = next((moment for moment in waiting if len(heard.replies(moment.path)) >= moment.count), None)
        time.sleep(rng.uniform(0, 0.03))
        if due is not None:
            waiting.remove(due)
            site.crash(due.victim)
    return len(moments) - len(waiting)


def approved(site: Site) -> int:
    bonuses = site.marketplace("SELECT count(*) FROM marketplace_bonuspayment")[0][0]
    rewards = site.marketplace("SELECT count(*) FROM marketplace_assignment WHERE approved_at IS NOT NULL")[0][0]
    return int(bonuses + rewards)


def wait_for_payments(site: Site, count: int, settle: subprocess.Popen[str]) -> None:
    wait_for(lambda: approved(site) >= count or settle.poll() is not None, f"{count} payments", patience_s=150)


def answer_payments_late(site: Site) -> None:
    """The marketplace pays and says so a little later: who dies in between does not know that it has paid."""
    for operation in ("ApproveAssignment", "SendBonus"):
        site.marketplace_control("faults", operation=operation, kind="delay", times=40, seconds=0.2)


def kill_senders(site: Site, settle: subprocess.Popen[str]) -> None:
    """The command and the job runner: one of them holds the lease and sends while payments are answered late."""
    wait_for(site.is_sending, "a sender", patience_s=150)
    site.end(settle)
    site.crash("run_jobs")


def settle_until_done(site: Site, *, hurry: bool = True) -> None:
    """As a researcher does it: the command says when it has to be run again."""
    for _ in range(6):
        status, said = site.manage("settle", "flow")
        if status == 0:
            return
        if hurry:
            site.let_leases_run_out()
    raise AssertionError(said)


def judged(site: Site) -> int:
    return int(site.platform("SELECT count(DISTINCT session_id) FROM screening_verdict")[0][0])


@pytest.mark.usefixtures("marketplace_controls")
def test_no_answer_is_lost_and_nobody_is_paid_twice_when_every_process_is_killed(site: Site, tmp_path: Path) -> None:
    rng, participants = random.Random(20), 6
    site.must("publish", "flow", "--to", "marketplace", "--assignments", str(participants), "--cap", "100.00")
    heard = Heard(tmp_path / "heard.jsonl")
    people = begin_people(site, heard.path, participants, seed=3)
    moments = [
        Moment("web", r"/open/$", rng.randint(1, 3)),
        *(Moment("web", r"/responses/$", count) for count in sorted(rng.sample(range(10, 110), 2))),
        Moment("marketplace", r"/accept/$", rng.randint(3, 5)),
        Moment("marketplace", r"/externalSubmit$", rng.randint(1, 4)),
        Moment("run_jobs", r"/complete/$", rng.randint(1, 3)),
        Moment("web", r"/complete/$", rng.randint(3, 5)),
    ]
    crashes = crash_at(moments, site, heard, people, rng)
    said, _ = people.communicate()
    assert people.returncode == 0, said
    assert crashes == len(moments)
    assert heard.lost(), "no request was under way when a server died: the test tests nothing"

    site.must("sync", "flow")
    check_answers(site, heard, complete=participants)
    bonuses = site.begin("-m", "tests.journeys.bonuses", "flow", str(BONUS_CENTS))
    settle = site.begin("manage.py", "settle", "flow")
    answer_payments_late(site)
    for first, last, victim in ((1, 2, "sender"), (3, 5, "sender"), (7, 9, "marketplace")):
        count = rng.randint(first, last)
        wait_for_payments(site, count, settle)
        if victim == "marketplace":
            site.crash(victim)
            answer_payments_late(site)
        else:
            kill_senders(site, settle)
            site.let_leases_run_out()
        if settle.poll() is not None:
            settle.communicate()
            settle = site.begin("manage.py", "settle", "flow")
    settle.communicate()
    site.marketplace_control("clear")
    said, _ = bonuses.communicate()
    assert bonuses.returncode == 0, said
    if settle.returncode:
        settle_until_done(site)
    assert site.senders_killed >= 2, "no sender was at work when it was killed: the test tests nothing"

    check_money(site, heard, paid=participants, bonus_cents=BONUS_CENTS)
    site.let_leases_run_out()
    wait_for(lambda: judged(site) == participants, "a verdict on every session")
    check_faults(site, heard)


def test_who_comes_by_a_plain_link_is_one_participant_whatever_is_lost(site: Site, tmp_path: Path) -> None:
    rng, participants = random.Random(22), 3
    site.must("publish", "flow", "--to", "link", "--assignments", str(participants))
    heard = Heard(tmp_path / "heard.jsonl")
    people = begin_people(site, heard.path, participants, seed=5)
    moments = [Moment("web", r"/open/$", 1), Moment("web", r"/finish/$", 1)]
    assert crash_at(moments, site, heard, people, rng) == len(moments)
    said, _ = people.communicate()
    assert people.returncode == 0, said
    assert heard.lost()
    check_answers(site, heard, complete=participants)
    assert len(site.platform("SELECT id FROM experiments_participant")) == participants
    check_faults(site, heard)


@dataclass(frozen=True)
class SaysDog:
    """A persona to whom every picture is the same."""

    name: str = "says dog"
    is_honest: bool = False

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        return Answer(response="dog", rt_ms=700.0)


def come_back(site: Site, heard: Heard, session: int) -> None:
    """Somebody whose browser died signs in again, goes on where they stopped, and submits."""
    row = site.platform(
        "SELECT r.worker_id, s.cursor, s.total FROM experiments_session s "
        "JOIN recruitment_assignment a ON a.session_id = s.id "
        "JOIN recruitment_recruitedperson r ON r.id = a.person_id WHERE s.id = ?",
        session,
    )[0]
    username = site.marketplace(
        "SELECT c.username FROM marketplace_worker w JOIN marketplace_account c ON c.id = w.account_id "
        "WHERE w.worker_id = ?",
        row["worker_id"],
    )[0]["username"]
    passwords = {line["sent"]["username"]: line["sent"]["password"] for line in heard.replies(r"/signup/$")}
    worker = MarketplaceWorker(site=site.addresses.marketplace, name=username, _password=passwords[username])
    worker.sign_up()
    work = worker.accept(site.marketplace("SELECT hit_type_id FROM marketplace_hittype")[0]["hit_type_id"])
    truth = defaultdict(lambda: TruePicture(original="", category="dog", corruption="none", visual_change=0.0))
    # The page that died has a key of its own, which its browser keeps: the worker id alone leads back into nothing.
    keys = {line["sent"]["workerId"]: line["sent"]["opening"] for line in heard.replies(r"/open/$")}
    person = ScriptedParticipant(persona=SaysDog(), truth=truth, _opening=keys[row["worker_id"]])
    opened = person.open_session(work["frame_url"])
    worker.submit(work, opened.answer_all())
    answers = site.platform("SELECT response FROM experiments_response WHERE session_id = ? ORDER BY position", session)
    assert len(answers) == row["total"]
    assert {answer["response"] for answer in answers[row["cursor"] :]} == {"dog"}


def two_hours_later(site: Site) -> None:
    """On both sides; longer than any assignment and its grace last."""
    site.marketplace_control("clock", advance_seconds=7200)
    site.change_platform("UPDATE recruitment_assignment SET opened_at = datetime(opened_at, '-2 hours')")
    site.change_platform("UPDATE experiments_session SET last_seen_at = datetime(last_seen_at, '-2 hours')")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_promise_holds_through_a_bad_night(site: Site, tmp_path: Path, seed: int) -> None:
    """Crashes at moments of their own, half a second apart, through the whole of it; leases run out by themselves."""
    rng, participants = random.Random(seed), 24
    site.must("publish", "flow", "--to", "marketplace", "--assignments", str(participants), "--cap", "100.00")
    heard = Heard(tmp_path / "heard.jsonl")
    people = begin_people(site, heard.path, participants, seed)
    wait_for(lambda: heard.replies(r"/signup/$") or people.poll() is not None, "the first person")
    crashes = 0
    while people.poll() is None:
        time.sleep(rng.expovariate(2))
        site.crash(rng.choice(["web", "web", "marketplace", "run_jobs"]))
        crashes += 1
    said, _ = people.communicate()
    assert people.returncode == 0, said
    assert crashes >= 5
    assert heard.lost()

    site.must("sync", "flow")
    check_answers(site, heard, complete=participants)
    status, said = site.run("-m", "tests.journeys.bonuses", "flow", str(BONUS_CENTS))
    assert status == 0, said
    for _ in range(2):
        settle = site.begin("manage.py", "settle", "flow")
        wait_for_payments(site, approved(site) + rng.randint(1, 8), settle)
        site.crash("marketplace")
        wait_for_payments(site, approved(site) + rng.randint(1, 8), settle)
        kill_senders(site, settle)
        settle.communicate()
    settle_until_done(site, hurry=False)
    assert site.senders_killed
    check_money(site, heard, paid=participants, bonus_cents=BONUS_CENTS)
    wait_for(lambda: judged(site) == participants, "a verdict on every session")
    check_faults(site, heard)


@pytest.mark.usefixtures("marketplace_controls")
def test_people_who_are_killed_resume_or_free_their_places_and_only_who_submits_is_paid(
    site: Site, tmp_path: Path
) -> None:
    rng, places = random.Random(21), 6
    site.must("publish", "flow", "--to", "marketplace", "--assignments", str(places))
    heard = Heard(tmp_path / "heard.jsonl")
    people = begin_people(site, heard.path, places, seed=4, answer_s=0.3)
    wait_for(
        lambda: (
            (heard.replies(r"/externalSubmit$") and len(heard.replies(r"/open/$")) >= 4) or people.poll() is not None
        ),
        "the first submission",
    )
    time.sleep(rng.uniform(0, 0.05))
    site.end(people)
    people.communicate()
    time.sleep(1)  # what they had sent still arrives

    under_way = site.platform("SELECT id FROM experiments_session WHERE state = 'open' ORDER BY id")
    assert len(under_way) >= 2, "the people were killed too late"
    come_back(site, heard, under_way[0]["id"])
    free = places - site.platform("SELECT count(*) FROM recruitment_assignment")[0][0]
    status, said = site.manage("simulate", "flow", "--participants", str(free + 1))
    assert status == 1
    assert f"{free} free places" in said

    two_hours_later(site)
    site.must("sync", "flow")
    lost = site.platform("SELECT id FROM recruitment_assignment WHERE state = 'returned'")
    assert len(lost) >= len(under_way) - 1
    assert not site.platform("SELECT id FROM experiments_session WHERE state = 'open'")
    again = begin_people(site, heard.path, free + len(lost), seed=4)
    said, _ = again.communicate(timeout=300)
    assert again.returncode == 0, said

    site.must("sync", "flow")
    settle_until_done(site)
    check_answers(site, heard, complete=places)
    check_money(site, heard, paid=places)
    check_faults(site, heard)
