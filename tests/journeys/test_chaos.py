"""Everything goes wrong at once, for many people: each answer is stored once, and the plan is filled to the letter.

Every participant is a client with a bad line, several tabs and little patience (`tests.journeys.chaos`); some
leave in the middle, and the web process is killed while they answer. Then those who left are given up, others take
their places, and what lies in the database is held against what people remember and against the file of the plan.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from humanexp.simulation.observers import random_stream
from humanexp.simulation.participant import ScriptedParticipant
from humanexp.simulation.personas import RandomClicker, TruePicture
from tests.journeys.chaos import ChaoticParticipant, Story, Weather
from tests.journeys.people import session_of
from tests.journeys.site import Site, kill_all_of, wait_for

HERE = Path(__file__).parent
#: Longer than an assignment and its grace last.
LATER_MINUTES = 24 * 60
AT_ONCE = 12
COUNTED = ("main", "clean", "consistency_first", "consistency_second")
UNKNOWN = TruePicture(original="", category="dog", corruption="none", visual_change=0.0)


class WebSite(Site):
    """The web process alone, over either database."""

    def __init__(self, media_root: Path, database_url: str = "") -> None:
        super().__init__(media_root)
        self.database_url = database_url

    def __enter__(self) -> Site:
        self.start("web")
        return self

    def end(self, process: Any) -> None:
        kill_all_of(process)

    @property
    def _changes(self) -> dict[str, str]:
        return {**super()._changes, **({"DATABASE_URL": self.database_url} if self.database_url else {})}

    def books(self, *arguments: str) -> dict[str, Any]:
        status, said = self.run("-m", "tests.journeys.chaos_books", "storm", *arguments)
        assert status == 0, said
        return dict(json.loads(said))


def planned(media_root: Path, *, sessions: int, stimuli: int, database_url: str) -> WebSite:
    """A site with a study that has so many places."""
    media_root.mkdir()
    study = media_root / "storm.toml"
    study.write_text(re.sub(r"sessions = \d+", f"sessions = {sessions}", (HERE / "storm.toml").read_text()))
    site = WebSite(media_root, database_url)
    status, said = site.run("-m", "tests.journeys.prepare", "--stimuli", str(stimuli), str(study))
    assert status == 0, said
    return site


@contextlib.contextmanager
def published(site: WebSite, settings: Any, *, sessions: int) -> Iterator[WebSite]:
    """So many places by a plain link: all that are planned."""
    settings.MEDIA_ROOT = site.media_root
    with site:
        site.must("publish", "storm", "--to", "link", "--assignments", str(sessions))
        assert site.books()["planned_sessions"] == sessions
        yield site


class Crowd:
    """People who take part side by side; what they remember grows while they do."""

    def __init__(self, entry: str, weather: Weather, seed: int) -> None:
        self.entry, self.weather, self.seed = entry, weather, seed
        self.people: list[ChaoticParticipant] = []

    @property
    def stories(self) -> list[Story]:
        return [person.story for person in self.people]

    def acknowledged(self) -> int:
        return sum(len(story.acknowledged) for story in self.stories)

    def join(self, count: int, *, may_leave: bool, site: WebSite, kills_at: list[int]) -> None:
        """Let so many new people take part, and kill the web process after so many acknowledged answers."""
        fresh = [self._person(len(self.people) + number, may_leave) for number in range(count)]
        self.people += fresh
        with ThreadPoolExecutor(AT_ONCE) as pool:
            under_way = [pool.submit(person.take_part, f"{self.entry}?p={person.story.name}") for person in fresh]
            for number in kills_at:
                wait_for(
                    lambda number=number: self.acknowledged() >= number or all(each.done() for each in under_way),
                    f"{number} answers",
                    patience_s=300,
                )
                for each in under_way:
                    if each.done():
                        each.result()  # what they failed with comes first
                assert not all(each.done() for each in under_way), "the server was killed too late"
                site.crash("web")
            wait(under_way)
            for each in under_way:
                each.result()

    def _person(self, number: int, may_leave: bool) -> ChaoticParticipant:
        name = f"storm-{self.seed}-{number:04d}"
        person = ScriptedParticipant(persona=RandomClicker(seed=1), truth=defaultdict(lambda: UNKNOWN), name=name)
        return ChaoticParticipant(
            person=person, weather=self.weather, rng=random_stream(self.seed, name), may_leave=may_leave
        )


def ride_out(site: WebSite, *, participants: int, kills: int, weather: Weather, seed: int) -> Crowd:
    """All of it; returns the people, who have filled every place."""
    rng = random.Random(seed)
    crowd = Crowd(site.books()["entry"], weather, seed)
    answers = participants * 14
    kills_at = sorted(rng.randint(answers * k // (kills + 1), answers * (k + 1) // (kills + 1)) for k in range(kills))
    crowd.join(participants, may_leave=True, site=site, kills_at=kills_at)
    left = sum(story.has_left for story in crowd.stories)
    assert 0 < left < participants / 2
    before = site.books()
    check_answers(before, crowd, given_up=0)
    assert Counter(one["state"] for one in before["sessions"]) == {"open": left, "submitted": participants - left}

    site.books("--later", str(LATER_MINUTES))
    site.must("sync", "storm")
    given_up = site.books()
    assert Counter(one["state"] for one in given_up["sessions"])["withdrawn"] == left
    crowd.join(left, may_leave=False, site=site, kills_at=[])
    return crowd


def check_answers(books: dict[str, Any], crowd: Crowd, *, given_up: int) -> None:
    """Each answer once, in order, as it was given; nothing that was sent in vain."""
    stored: dict[int, dict[int, str]] = defaultdict(dict)
    for session, position, response, of_trial, at in books["responses"]:
        assert (session, position) == (of_trial, at)
        assert position not in stored[session], "an answer is stored twice"
        stored[session][position] = response
    by_person = {session_of({"Authorization": f"Bearer {story.token}"}): story for story in crowd.stories}
    assert len(by_person) == len(crowd.stories) == len(books["sessions"]), "a person has two sessions, or none"
    assert len({one["participant_id"] for one in books["sessions"]}) == len(crowd.stories)
    for session in books["sessions"]:
        story, answers = by_person[session["id"]], stored[session["id"]]
        assert sorted(answers) == list(range(session["cursor"])), "cursor and answers disagree"
        assert story.acknowledged.items() <= answers.items(), "an acknowledged answer is gone or was changed"
        assert answers.items() <= story.sent.items(), "an answer is stored that was not given"
        assert not any(answers.get(position) == other for position, other in story.in_vain)
        if session["state"] == "submitted":
            assert session["cursor"] == session["total"] == len(answers)
            assert story.completion["state"] in ("completed", "submitted")
            assert story.completion["receipt"]
        else:
            assert story.has_left
    assert Counter(one["state"] for one in books["sessions"])["withdrawn"] == given_up


def check_plan(books: dict[str, Any]) -> None:
    """Every slot is held by one session, and answers by stimulus and sentinels by session are those of the plan."""
    _head, *lines = books["plan"].splitlines()
    slots = [json.loads(line)["trials"] for line in lines]
    held = {one["slot"]: one["id"] for one in books["sessions"] if one["state"] == "submitted"}
    assert sorted(held) == list(range(len(slots)))
    answered = {(session, position) for session, position, *_ in books["responses"]}
    given: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for session, position, task, role, first, second in books["trials"]:
        if (session, position) in answered:
            given[session].append((position, task, role, first, second))
    planned_answers: Counter[tuple[str, str]] = Counter()
    answers: Counter[tuple[str, str]] = Counter()
    for slot, trials in enumerate(slots):
        asked = [(position, task, role, first, second) for position, _, _, task, role, first, second, *_ in trials]
        assert sorted(given[held[slot]]) == asked
        planned_answers.update((role, first) for _, _, role, first, _ in asked if role in COUNTED)
        answers.update((role, first) for _, _, role, first, _ in given[held[slot]] if role in COUNTED)
        roles = Counter(role for _, _, role, _, _ in given[held[slot]])
        assert (roles["gold"], roles["negative"], roles["consistency_first"]) == (3, 2, 1)
    assert answers == planned_answers
    assert {count for (role, _), count in answers.items() if role == "main"} == {1}
    assert sum(count for (role, _), count in answers.items() if role == "main") == 6 * len(slots)


def check_weather(crowd: Crowd, least: int) -> Counter[str]:
    """The test tests something: each kind of fault has happened."""
    happened = sum((story.happened for story in crowd.stories), Counter[str]())
    for name in (*Weather.__dataclass_fields__,):
        if name != "leave":
            assert happened[name] >= least, f"{name}: {happened}"
    # A lease that was asked for and thought lost may come late, but that is rare.
    assert happened["old tab owned it"] <= 0.05 * happened["second_tab"] + 1
    return happened


def check_log(site: WebSite) -> None:
    assert "Traceback" not in site.log("web"), site.log("web")[-3000:]


@pytest.mark.process
def test_each_answer_is_stored_once_and_the_plan_is_filled_whatever_goes_wrong(
    prepared: Path, tmp_path: Path, settings: Any
) -> None:
    planned_site = WebSite(shutil.copytree(prepared, tmp_path / "media"))
    with published(planned_site, settings, sessions=20) as site:
        crowd = ride_out(site, participants=20, kills=1, weather=replace(Weather(), leave=0.2), seed=1)
        books = site.books()
        check_answers(books, crowd, given_up=sum(story.has_left for story in crowd.stories))
        check_plan(books)
        check_weather(crowd, least=1)
        check_log(site)


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_two_hundred_people_and_two_kills(tmp_path: Path, settings: Any, request: Any, database: str) -> None:
    url = request.getfixturevalue("postgres_cluster").create_database() if database == "postgres" else ""
    planned_site = planned(tmp_path / "media", sessions=200, stimuli=900, database_url=url)
    with published(planned_site, settings, sessions=200) as site:
        crowd = ride_out(site, participants=200, kills=2, weather=Weather(), seed=2)
        books = site.books()
        check_answers(books, crowd, given_up=sum(story.has_left for story in crowd.stories))
        check_plan(books)
        check_weather(crowd, least=20)
        check_log(site)
