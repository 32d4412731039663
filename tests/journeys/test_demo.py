"""The demo as a stranger runs it: one command in an empty folder, and what its JSON has to hold."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from analysis.classifiers.onnx_network import is_installed
from tests.journeys.site import ROOT, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PARTICIPANTS = 6
#: DESIGN 5, and `truth`; more keys may come.
SHAPE: dict[str, Any] = {
    "observers": {"name", "kind"},
    "accuracy": {"observer", "condition", "trials", "correct", "accuracy"},
    "human_accuracy": {"condition", "mean_over_observers"},
    "curves": {"population", "corruption", "property", "area", "interval", "level", "extrapolated", "bins"},
    "comparisons": {
        *("classifier", "corruption", "property", "hmri", "mrsi", "human_area", "classifier_area"),
        *("human_lead", "classifier_lead"),
    },
    "similarity": {"pair", "property", "difference", "p", "overlap_83", "verdict"},
    "discrimination": {"pair", "trials", "correct", "interval", "verdict"},
    "error_consistency": {"pair", "condition", "n", "kappa"},
}
VERDICTS = {"equivalent", "different", "undecided"}


def begin(media_root: Path, *more: str, serve: bool = False) -> subprocess.Popen[str]:
    own = {"DJANGO_SETTINGS_MODULE", "DATABASE_URL", "PUBLIC_URL", "MARKETPLACE_URL"}
    arguments = ["--participants", str(PARTICIPANTS), "--seed", "3", *more, *([] if serve else ["--no-serve"])]
    return subprocess.Popen(
        [sys.executable, "manage.py", "demo", *arguments],
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if name not in own},
            "MEDIA_ROOT": str(media_root),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(media_root: Path, *more: str) -> tuple[int, str, str]:
    process = begin(media_root, *more)
    said, complained = process.communicate(timeout=400)
    return process.returncode, said, complained


def numbers_of(media_root: Path, *more: str) -> tuple[bytes, str]:
    file = media_root.with_suffix(".json")
    status, said, complained = run(media_root, "--json", str(file), *more)
    assert status == 0, said + complained
    return file.read_bytes(), said


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MEDIA_ROOT of a demo that has been made."""
    return tmp_path_factory.mktemp("first") / "media"


@pytest.fixture(scope="module")
def first(made: Path) -> bytes:
    return numbers_of(made)[0]


@pytest.fixture(scope="module")
def numbers(first: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(first)
    return found


def test_the_same_seed_gives_the_same_bytes_in_another_folder(first: bytes, tmp_path: Path) -> None:
    assert numbers_of(tmp_path / "media")[0] == first


def test_people_of_the_panel_take_part_and_are_paid_too(tmp_path: Path) -> None:
    found = json.loads(numbers_of(tmp_path / "media", "--recruiter", "panel")[0])
    assert found["sessions"]["submitted"] == found["payments"]["approved"] == PARTICIPANTS


def test_a_demo_that_is_there_tells_the_same_again_at_once(first: bytes, made: Path) -> None:
    text, said = numbers_of(made)
    assert text == first
    assert "there already" in said


def test_it_is_served_until_it_is_stopped(first: bytes, made: Path) -> None:
    for port in (8000, 8001):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                pytest.skip(f"port {port} is in use")
    demo = begin(made, serve=True)
    try:
        told = addresses_of(demo)
        processes = children(demo)
        assert requests.get(told["Take"].split()[-1], timeout=20).status_code == 200
        assert requests.get(told["Marketplace"], timeout=20).status_code == 200
        browser = requests.Session()
        login = browser.get(told["Dashboard"], timeout=20)
        username, _, password = told["Login"].partition("password: ")
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', login.text)[0]
        form = {"username": username.strip(), "password": password, "csrfmiddlewaretoken": token}
        board = browser.post(login.url, data=form, headers={"Referer": login.url}, timeout=20)
        assert board.url == told["Dashboard"]
        assert "HMRI" in board.text
    finally:
        demo.terminate()
        demo.communicate(timeout=300)
    assert demo.returncode == 0
    assert not any(is_alive(pid) for pid in processes)


def addresses_of(demo: subprocess.Popen[str]) -> dict[str, str]:
    """What stands at the end, once everything is being served."""
    assert demo.stdout is not None
    said: list[str] = []
    while not said or not said[-1].startswith("Ctrl-C"):
        said.append(demo.stdout.readline())
        assert said[-1] or demo.poll() is None, said
    lines = (line for line in said if line.startswith(("Login", "Dashboard", "Take", "Marketplace")))
    return {name: rest.strip() for name, rest in (line.split(maxsplit=1) for line in lines)}


def test_the_json_has_the_documented_shape(numbers: dict[str, Any]) -> None:
    assert numbers["study"] == "demo"
    assert {"version", "data_digest", "sessions", "payments", "truth"} <= set(numbers)
    for name, keys in SHAPE.items():
        assert numbers[name], name
        for entry in numbers[name]:
            assert keys <= set(entry), name
    assert {observer["kind"] for observer in numbers["observers"]} == {"human", "classifier"}
    assert {"opened", "submitted", "accepted", "excluded"} <= set(numbers["sessions"])
    assert {"approved", "rejected", "bonuses", "total_cents"} <= set(numbers["payments"])
    for curve in numbers["curves"]:
        low, high = curve["interval"]
        assert 0 <= low <= curve["area"] <= high <= 1
        assert curve["property"] in ("accuracy", "consistency")
        assert all(0 <= entry["v"] <= 1 and 0 <= entry["rate"] <= 1 and entry["n"] > 0 for entry in curve["bins"])
    for entry in [*numbers["similarity"], *numbers["discrimination"]]:
        assert entry["verdict"] in VERDICTS
    corruptions = {curve["corruption"] for curve in numbers["curves"] if curve["population"] == "humans"}
    assert {row["corruption"] for row in numbers["truth"]["curves"]} == corruptions
    assert all(0 < row["area"] < 1 and isinstance(row["inside"], bool) for row in numbers["truth"]["curves"])


def test_everybody_who_submitted_was_paid(numbers: dict[str, Any]) -> None:
    sessions, payments = numbers["sessions"], numbers["payments"]
    assert sessions["opened"] == sessions["submitted"] == payments["approved"] == PARTICIPANTS
    assert sessions["accepted"] == PARTICIPANTS - sum(sessions["excluded"].values())
    assert payments["rejected"] == payments["bonuses"] == 0
    assert payments["total_cents"] > 0
    assert payments["total_cents"] % PARTICIPANTS == 0


def test_areas_and_indices_fit_together(numbers: dict[str, Any]) -> None:
    """A_h HMRI = A_m (1 - MRSI): what both reach, counted from either side."""
    areas = {(c["population"], c["corruption"], c["property"]): c["area"] for c in numbers["curves"]}
    assert len(numbers["comparisons"]) == 12, "2 networks, 3 corruptions, 2 properties"
    for row in numbers["comparisons"]:
        both = row["human_area"] * row["hmri"]
        assert both == pytest.approx(row["classifier_area"] * (1 - row["mrsi"]), abs=1e-12)
        assert row["human_area"] - row["human_lead"] == pytest.approx(both, abs=1e-12)
        assert row["human_area"] - row["classifier_area"] == pytest.approx(
            row["human_lead"] - row["classifier_lead"], abs=1e-12
        )
        assert row["human_area"] == areas["humans", row["corruption"], row["property"]]
        assert row["classifier_area"] == areas[row["classifier"], row["corruption"], row["property"]]
        assert 0 <= row["hmri"] <= 1
        assert 0 <= row["mrsi"] <= 1


def test_real_pictures_run_through(tmp_path: Path) -> None:
    text, said = numbers_of(tmp_path / "media", "--images", str(reference_folder("stylised16")))
    numbers = json.loads(text)
    assert numbers["sessions"]["submitted"] == numbers["payments"]["approved"] == PARTICIPANTS
    assert "Note: " in said, "128 pictures are few: what was cut is told"


def test_photographs_are_asked_of_a_network_that_knows_them(tmp_path: Path) -> None:
    text, _ = numbers_of(tmp_path / "media", "--images", str(reference_folder("photos16")))
    numbers = json.loads(text)
    assert any("118 originals are few" in note for note in numbers["notes"])
    networks = {row["classifier"] for row in numbers["comparisons"]}
    if is_installed("lite:0"):
        assert networks == {"efficientnet-lite0"}
        [clean] = [row for row in numbers["accuracy"] if row["observer"] in networks and row["condition"] == "none"]
        assert clean["accuracy"] > 0.8
    else:
        assert not networks
        assert any("requirements/networks.txt" in note for note in numbers["notes"])
    # What was made stands in nobody's way.
    status, _, complained = run(tmp_path / "media", "--images", "/nowhere")
    assert status == 1
    assert "no such folder" in complained


def test_a_killed_demo_takes_its_processes_along_and_the_next_one_begins_anew(first: bytes, tmp_path: Path) -> None:
    media_root = tmp_path / "media"
    demo = begin(media_root)
    plans = media_root / "plans"
    wait_for(lambda: plans.exists() or demo.poll() is not None, "a plan", patience_s=200)
    processes = children(demo)
    demo.send_signal(signal.SIGKILL)
    demo.communicate()
    wait_for(lambda: not any(is_alive(pid) for pid in processes), "the end of its processes")
    assert numbers_of(media_root)[0] == first


def children(demo: subprocess.Popen[str]) -> list[int]:
    """Web, marketplace and job runner."""
    found = [int(pid) for pid in Path(f"/proc/{demo.pid}/task/{demo.pid}/children").read_text().split()]
    assert len(found) == 3
    return found


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def reference_folder(name: str) -> Path:
    root = os.environ.get("REFERENCE_DATA", "")
    folder = Path(root) / name
    if not root or not folder.is_dir():
        pytest.skip(f"REFERENCE_DATA has no {name}")
    return folder
