"""Each fault turns its line red; `--strict` ends with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from humanexp.console import doctor_checks
from humanexp.console.doctor_checks import examine
from humanexp.core.problems import Problem
from humanexp.core.storage import media_path, write_whole
from humanexp.jobs.models import Runner
from humanexp.participation.models import DamagedPicture, Trial
from humanexp.recruiters.models import Campaign
from humanexp.stimuli.models import SourceImage, Stimulus
from humanexp.studies.models import Study
from tests.results.collected import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(django_user_model: Any) -> Study:
    return make_study(by=django_user_model.objects.create_user("lab"))


def found() -> dict[str, Problem]:
    return {finding.subject: finding for finding in examine()}


def store(relative: str, content: bytes) -> tuple[str, str]:
    write_whole(media_path(relative), content)
    return relative, hashlib.sha256(content).hexdigest()


def test_a_missing_or_altered_file_is_told_by_name(study: Study, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    for pictures in (SourceImage.objects.all(), Stimulus.objects.all()):
        for picture in pictures:
            name = f"pictures/{picture._meta.model_name}-{picture.pk}.png"
            picture.file, picture.sha256 = store(name, name.encode())
        pictures.model.objects.bulk_update(pictures, ["file", "sha256"])
    study.plan_file, study.plan_digest = store("plans/plan.jsonl", b"plan")
    study.save()
    assert doctor_checks.files().severity == "good"
    plan = media_path(study.plan_file)
    plan.unlink()
    told = doctor_checks.files()
    assert told.severity == "bad" and "1 missing" in told.text and study.plan_file in told.text and told.remedy
    plan.write_bytes(b"another plan")
    told = doctor_checks.files()
    assert told.severity == "bad" and "1 altered" in told.text
    plan.write_bytes(b"plan")
    for stimulus in Stimulus.objects.all():  # more than are drawn: whichever are, some are among them
        media_path(stimulus.file).write_bytes(b"another picture")
    told = doctor_checks.files()
    assert told.severity == "bad" and f"{min(doctor_checks.SAMPLE, Stimulus.objects.count())} altered" in told.text


@pytest.fixture
def own_root(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setitem(doctor_checks.connection.settings_dict, "NAME", str(tmp_path / "humanexp.sqlite3"))
    tmp_path.chmod(0o700)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "secret_key").write_text("k")
    (tmp_path / "keys" / "secret_key").chmod(0o600)
    yield tmp_path


def test_a_key_that_others_can_read_is_a_fault(own_root: Path) -> None:
    assert doctor_checks.file_modes().severity == "good"
    own_root.chmod(0o755)
    assert doctor_checks.file_modes().severity == "note"
    key = own_root / "keys" / "secret_key"
    key.chmod(0o644)
    told = doctor_checks.file_modes()
    assert told.severity == "bad" and told.remedy == f"chmod go= {key}"


def test_a_database_that_others_can_read_is_a_fault(own_root: Path) -> None:
    for name in ("humanexp.sqlite3", "humanexp.sqlite3-wal"):
        (own_root / name).touch(mode=0o600)
    assert doctor_checks.file_modes().severity == "good"
    (own_root / "humanexp.sqlite3-wal").chmod(0o640)
    told = doctor_checks.file_modes()
    assert told.severity == "bad" and "humanexp.sqlite3-wal" in told.text


@pytest.mark.parametrize(
    ("public_url", "severity"),
    [
        ("http://127.0.0.1:8000", "good"),
        ("http://[::1]:8000", "good"),
        ("http://localhost:8000", "good"),
        ("https://lab.example", "good"),
        ("http://lab.example", "bad"),
        ("http://192.0.2.7", "bad"),
    ],
)
def test_an_address_without_tls_is_for_this_machine_alone(settings: Any, public_url: str, severity: str) -> None:
    settings.PUBLIC_URL = public_url
    assert doctor_checks.address().severity == severity


def test_a_silent_runner_is_a_fault(study: Study) -> None:
    assert doctor_checks.job_runner().severity == "bad"
    now = timezone.now()
    runner = Runner.objects.create(name="one", started_at=now, beat_at=now, prompt_at=now, long_at=now)
    assert doctor_checks.job_runner().severity == "good"
    Runner.objects.filter(pk=runner.pk).update(prompt_at=now - timedelta(minutes=2))
    told = doctor_checks.job_runner()
    assert told.severity == "bad" and "no one is paid" in told.text


def test_a_picture_that_people_were_not_shown_is_told_once(study: Study) -> None:
    def told() -> list[Problem]:
        return [finding for subject, finding in found().items() if subject.startswith("Pictures")]

    (well,) = told()
    assert well.severity == "good"
    for trial in Trial.objects.filter(session__study=study, position=0)[:2]:
        DamagedPicture.objects.create(
            session=trial.session, trial=trial, stimulus=trial.stimulus, is_missing=True, found_at=timezone.now()
        )
    (fault,) = told()
    first = Trial.objects.filter(session__study=study, position=0)[0].stimulus
    assert fault.severity == "bad" and first.file in fault.text and "missing" in fault.text
    assert f"verify_stimuli {first.stimulus_set.name}" in fault.remedy
    DamagedPicture.objects.update(mended_at=timezone.now())
    assert told() == [well]


def test_keys_of_a_storage_are_no_money(study: Study, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of the pictures")
    settings.PUBLIC_URL = "https://lab.example"
    assert doctor_checks.money().severity == "good"
    campaign = Campaign.objects.create(
        study=study, environment="production", entry="entry", title="Pictures", description="Pictures",
        reward_cents=120, assignments=10, assignments_per_hit=9, estimated_minutes=8, assignment_duration_s=1800,
        lifetime_s=86_400, quoted_cents=1440, cap_cents=2000, launched_at=timezone.now(),
    )  # fmt: skip
    assert doctor_checks.money().severity == "note" and study.slug in doctor_checks.money().text
    Campaign.objects.filter(pk=campaign.pk).update(state="stopped")
    assert doctor_checks.money().severity == "good"


def test_a_proxy_that_is_not_trusted_is_a_fault(settings: Any) -> None:
    """TLS is always a proxy's: whoever has an address with it has one."""
    settings.PUBLIC_URL, settings.SECURE_PROXY_SSL_HEADER = "https://lab.example", None
    told = doctor_checks.proxy()
    assert told.severity == "bad" and "count as one" in told.text and "TRUST_PROXY_HEADER=1" in told.remedy
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert doctor_checks.proxy().severity == "good" and "the last address" in doctor_checks.proxy().text
    settings.TRUSTED_PROXIES = 2
    assert "2 proxies" in doctor_checks.proxy().text
    settings.PUBLIC_URL, settings.SECURE_PROXY_SSL_HEADER = "http://127.0.0.1:8000", None
    assert doctor_checks.proxy().severity == "good"


def test_strict_ends_with_a_fault_and_without_it_nothing_changes(settings: Any) -> None:
    settings.PUBLIC_URL = "http://lab.example"
    out = StringIO()
    call_command("doctor", stdout=out)
    assert "set PUBLIC_URL=https://" in " ".join(out.getvalue().split())
    with pytest.raises(CommandError, match="Address"):
        call_command("doctor", "--strict", stdout=StringIO())


def test_the_findings_can_be_read_by_a_program() -> None:
    out = StringIO()
    call_command("doctor", "--json", stdout=out)
    lines = json.loads(out.getvalue())
    assert {"subject", "state", "detail", "remedy"} == set(lines[0])
    assert {"Job runner", "Secret key", "Files", "Address", "Database"} <= {line["subject"] for line in lines}
