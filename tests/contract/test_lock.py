"""requirements/lock has the pins of the other files, hashes for everything, and no address of a registry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
MADE_OF = {
    "web": ("analysis", "server", "postgres", "s3"),
    "worker": ("analysis", "server", "torch", "postgres", "s3", "classifiers", "cluster"),
}
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.M)


def pins(text: str) -> dict[str, str]:
    """Versions by name, as packaging compares names."""
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in _PIN.findall(text)}


@pytest.mark.parametrize("lock", MADE_OF)
def test_the_lock_satisfies_every_pin(lock: str) -> None:
    locked = pins((REQUIREMENTS / "lock" / f"{lock}.txt").read_text(encoding="utf-8"))
    wanted: dict[str, str] = {}
    for name in MADE_OF[lock]:
        wanted |= pins((REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8"))
    assert len(wanted) > 20 and len(locked) > len(wanted)
    others = {name: version for name, version in wanted.items() if locked.get(name) != version}
    assert others == {}, "make lock"


@pytest.mark.parametrize("lock", MADE_OF)
def test_everything_has_a_hash_and_nothing_an_address(lock: str) -> None:
    text = (REQUIREMENTS / "lock" / f"{lock}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) == len(_PIN.findall(text)) > 50
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text and "--index" not in text


def test_the_lock_has_no_torch_where_none_is_installed() -> None:
    assert "torch" not in pins((REQUIREMENTS / "lock/web.txt").read_text(encoding="utf-8"))


def test_names_are_compared_as_packaging_compares_them() -> None:
    assert pins("Django_Storages[s3]==1.0 ; x\nopen_clip_torch==2 \\\n") == {
        "django-storages": "1.0",
        "open-clip-torch": "2",
    }
