from __future__ import annotations

from datetime import timedelta

import pytest

from humanexp.console.templatetags import console
from humanexp.core import clock
from humanexp.jobs.registry import handlers


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.12345, 3, "0.123"), (-0.5, 1, "−0.5"), (-0.0001, 2, "0.00"), (None, 2, "–"), (0.9999, 3, "1.000")],
)
def test_numbers_have_a_true_minus_sign_and_no_negative_nothing(value: float | None, digits: int, text: str) -> None:
    assert console.number(value, digits) == text


def test_shares_counts_and_probabilities() -> None:
    assert console.percent(0.8281) == "82.8\u202f%"
    assert console.percent_number(0.75125, 2) == "75.12"
    assert console.count(33_280) == "33,280"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.2, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (7260, "2 h 01 min"), (90_000, "1 d 1 h")],
)
def test_durations_show_their_two_largest_units(seconds: float | None, text: str) -> None:
    assert console.duration(seconds) == text


@pytest.mark.parametrize(
    ("passed", "text"), [(20, "just now"), (90, "1 minute ago"), (7_300, "2 hours ago"), (200_000, "2 days ago")]
)
def test_how_long_ago(passed: float, text: str) -> None:
    assert console.ago(clock.now() - timedelta(seconds=passed)) == text


def test_specifications_are_named_without_folders() -> None:
    told = {
        "classifier:export:fixtures/classifiers/robust.pt2": "classifier:export:robust.pt2",
        "vqgan:a/b.ckpt,step=0.1,sparse=/srv/c.npy": "vqgan:b.ckpt,step=0.1,sparse=c.npy",
        "ensemble:clip:ViT-B-32@x/w.pt|classifier:hf:microsoft/resnet-50": (
            "ensemble:clip:ViT-B-32@w.pt|classifier:hf:microsoft/resnet-50"
        ),
    }
    assert {spec: console.without_folders(spec) for spec in told} == told


def test_jobs_read_as_words() -> None:
    assert console.job_title("stimuli.generate") == "Stimuli are made"
    assert console.job_title("lab.count_things") == "Lab: count things"
    assert console.job_subject("stimulus_set:7") == "stimulus set 7"
    ours = [known for known in handlers().values() if known.run.__module__.startswith("humanexp.")]
    assert ours and [known.kind for known in ours if not known.title] == []


def test_the_longest_matching_section_is_current(rf: object) -> None:
    def current(path: str) -> list[str]:
        links = console.section_links({"request": rf.get(path)})  # type: ignore[attr-defined]
        return [link.label for link in links if link.is_current]

    assert current("/") == ["Studies"]
    assert current("/studies/noise/results/") == ["Studies"]
    assert current("/jobs/7/") == ["Jobs"]
    assert current("/account/notices/") == [], "a page of no section"
