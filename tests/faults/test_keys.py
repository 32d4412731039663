"""Another SECRET_KEY than the one that the database was filled under: nothing starts, and everything says why."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.faults.site import Installation
from tests.limits import LIMIT

pytestmark = pytest.mark.process

RECRUIT = """
from humanexp.studies.models import StudyFamily
from humanexp.recruiters.people import person_for
family = StudyFamily.objects.get_or_create(slug="blur")[0]
person_for(environment="link", worker_id="{worker}", family=family)
"""
EXCLUDE = """
from humanexp.studies.models import StudyFamily
from humanexp.recruiters.models import Exclusion
from humanexp.recruiters.people import exclusion_code
family = StudyFamily.objects.get_or_create(slug="blur")[0]
Exclusion.objects.create(family=family, code=exclusion_code(environment="link", worker_id="{worker}"))
"""
ASK = """
from humanexp.studies.models import StudyFamily
from humanexp.recruiters.people import is_excluded
print(is_excluded(StudyFamily.objects.get(slug="blur"), environment="link", worker_id="ann"))
"""


@pytest.fixture
def site(tmp_path: Path, migrated_database: Path) -> Installation:
    made = Installation(tmp_path / "media")
    made.media.mkdir(mode=0o700)
    shutil.copyfile(migrated_database, made.media / "humanexp.sqlite3")
    (made.media / "humanexp.sqlite3").chmod(0o600)
    return made


def starts(site: Installation, **env: str) -> subprocess.CompletedProcess[str]:
    return site.manage("run_jobs", "--once", env=env)


def test_web_and_runner_refuse_to_start_with_a_foreign_key_and_the_doctor_says_why(site: Installation) -> None:
    site.python(RECRUIT.format(worker="ann"))
    assert starts(site).returncode == 0
    foreign = {"SECRET_KEY": "another key"}
    refused = starts(site, **foreign)
    assert refused.returncode == 1 and "is not the key that this database was filled under" in refused.stderr
    web = site.web(env=foreign)
    said, _ = web.communicate(timeout=LIMIT)
    # 3 by the first of gunicorn's workers, or 1 where the second one refuses while the first one's refusal is acted on
    assert web.returncode in (1, 3), "a web server that cannot start ends, it does not try for ever"
    assert "is not the key that this database was filled under" in said and "Put the old key back" in said
    told = site.manage("doctor", "--strict", env={**foreign, "COLUMNS": "400"})
    assert "is not the key that this database was filled under" in told.stdout and "--key-is-lost" in told.stdout
    assert told.returncode == 1 and "Secret key" in told.stderr
    assert site.manage("migrate", "--check", env=foreign).returncode == 0
    assert starts(site).returncode == 0, "with the right key all is well again"


def test_no_code_is_made_with_a_foreign_key_by_any_process(site: Installation) -> None:
    site.python(RECRUIT.format(worker="ann") + EXCLUDE.format(worker="ann"))
    assert starts(site).returncode == 0
    assert site.python(ASK).strip() == "True"
    done = site.run([sys.executable, "-c", f"import django; django.setup()\n{ASK}"], env={"SECRET_KEY": "another"})
    assert done.returncode == 1 and "SecretKeyRefused" in done.stderr and "False" not in done.stdout


def test_a_lost_key_is_not_replaced_silently(site: Installation) -> None:
    site.python(RECRUIT.format(worker="ann"))
    (site.media / "keys" / "secret_key").unlink()
    refused = starts(site)
    assert refused.returncode == 1 and "is not the key" in refused.stderr
    assert site.manage("doctor", "--key-is-lost").returncode == 0
    assert starts(site).returncode == 0


def test_a_database_that_does_not_answer_keeps_nobody_down(site: Installation) -> None:
    env = {"DATABASE_URL": "sqlite:////nowhere/at/all.sqlite3"}
    web = site.python("import humanexp.wsgi; print('up')", env=env)
    assert web.strip() == "up"


def test_files_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    site = Installation(tmp_path / "media")
    photos = tmp_path / "photos" / "cat"
    photos.mkdir(parents=True)
    Image.effect_noise((300, 300), 60).save(photos / "one.png")
    assert site.manage("migrate", "--verbosity=0").returncode == 0
    assert starts(site).returncode == 0
    imported = site.manage("import_images", str(photos.parent), "--name", "photos")
    assert imported.returncode == 0, imported.stderr
    masks = str(site.media / "masks")
    made = site.manage("make_masks", "--kind", "vcr", "--size", "64", "--count", "1", "--to", masks)
    assert made.returncode == 0, made.stderr
    open_to_others = [
        str(path.relative_to(site.media.parent))
        for path in (site.media, *site.media.rglob("*"))
        if path.stat().st_mode & 0o077
    ]
    assert open_to_others == []
