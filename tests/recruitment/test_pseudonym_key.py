"""The key behind people's codes is believed only when stored codes speak for it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from humanexp.core import fingerprints
from humanexp.core.errors import Conflict, PseudonymKeyRefused
from humanexp.core.fingerprints import Standing, check_at_start, examine, pseudonym_key, record_keys
from humanexp.core.models import AuditEvent, KeyFingerprint, User
from humanexp.recruiters.models.people import Exclusion
from humanexp.recruiters.people import exclusion_code, person_for
from humanexp.studies.models import StudyFamily

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def place(settings, tmp_path: Path):
    """Nothing was compared yet, and keys are made in a folder of the test's own."""
    settings.MEDIA_ROOT = tmp_path
    fingerprints._compared.clear()
    yield tmp_path
    fingerprints._compared.clear()


@pytest.fixture
def family() -> StudyFamily:
    return StudyFamily.objects.create(slug="blur")


def recruit(family: StudyFamily, worker: str) -> None:
    person_for(environment="link", worker_id=worker, family=family)


def exclude(family: StudyFamily, worker: str) -> None:
    Exclusion.objects.create(family=family, code=exclusion_code(environment="link", worker_id=worker))


def use(settings, key: str) -> None:
    """As a process would that starts with this key."""
    settings.PSEUDONYM_KEY = key
    fingerprints._compared.clear()


def recorded() -> list[str]:
    return list(KeyFingerprint.objects.filter(name="pseudonym").values_list("how", flat=True))


def test_an_empty_database_takes_the_key_that_is_there(settings) -> None:
    use(settings, "one")
    check_at_start()
    assert recorded() == [Standing.FREE.value]
    use(settings, "another")
    with pytest.raises(PseudonymKeyRefused, match="is not the key"):
        check_at_start()
    with pytest.raises(PseudonymKeyRefused, match="is not the key"):
        pseudonym_key()


def test_stored_ids_prove_the_key_before_it_is_recorded(settings, family: StudyFamily) -> None:
    use(settings, "one")
    recruit(family, "ann")
    exclude(family, "eve")
    use(settings, "another")
    with pytest.raises(PseudonymKeyRefused):
        check_at_start()
    assert recorded() == []
    use(settings, "one")
    check_at_start()
    assert recorded() == [Standing.PROVEN.value]


def test_accounts_are_made_under_another_key_with_a_warning(settings, family: StudyFamily) -> None:
    """Who restores an installation has to get in; no code is made by it."""
    use(settings, "one")
    recruit(family, "ann")
    check_at_start()
    use(settings, "another")
    out, warned = StringIO(), StringIO()
    call_command("user", "add", "ada", "--role", "administrator", stdout=out, stderr=warned)
    assert User.objects.get(username="ada").is_staff and "/account/new-password/" in out.getvalue()
    assert "is not the key" in warned.getvalue()
    use(settings, "one")
    warned = StringIO()
    call_command("user", "list", stdout=StringIO(), stderr=warned)
    assert warned.getvalue() == ""


def test_scripted_participants_prove_nothing(settings, family: StudyFamily) -> None:
    use(settings, "one")
    person_for(environment="link", worker_id="robot", family=family, scripted=True)
    use(settings, "another")
    assert examine().standing == Standing.FREE


def test_an_installation_with_two_keys_in_its_past_runs_and_says_so(settings, family: StudyFamily) -> None:
    for key, worker in (("one", "ann"), ("another", "bob")):
        use(settings, key)
        recruit(family, worker)
    check_at_start()
    assert recorded() == [] and "1 participants' codes were made with another" in examine().sentence
    with pytest.raises(Conflict, match="--key-is-lost"):
        record_keys()
    record_keys(key_is_lost=True)
    assert recorded() == ["operator"] and examine().standing == Standing.HOLDS
    assert AuditEvent.objects.get(action="replace-pseudonym-key").facts == {"standing": "MIXED"}


def test_exclusions_alone_prove_nothing_so_a_person_says_it(settings, family: StudyFamily) -> None:
    use(settings, "one")
    exclude(family, "eve")
    check_at_start()
    assert recorded() == [] and "It cannot be computed" in examine().sentence
    record_keys()
    assert recorded() == ["operator"] and examine().sentence == ""


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_key_that_is_gone_is_not_made_anew(settings, place: Path, family: StudyFamily, is_recorded: bool) -> None:
    use(settings, "")
    recruit(family, "ann")
    file = place / fingerprints.FILE
    if is_recorded:
        check_at_start()
    file.unlink()
    use(settings, "")
    for ask in (check_at_start, pseudonym_key):
        with pytest.raises(PseudonymKeyRefused, match="is gone"):
            ask()
    with pytest.raises(Conflict):
        record_keys()
    assert not file.exists()
    record_keys(key_is_lost=True)
    assert file.exists() and pseudonym_key() == file.read_text(encoding="ascii")


def test_a_new_signing_key_is_told_until_the_old_one_is_a_fallback(settings) -> None:
    check_at_start()
    old = settings.SECRET_KEY
    settings.SECRET_KEY = "a new one"
    check_at_start()
    assert fingerprints.signing_key_changed() is not None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert fingerprints.signing_key_changed() is None
    settings.SECRET_KEY_FALLBACKS = []
    record_keys()
    assert fingerprints.signing_key_changed() is None


def test_the_fingerprint_tells_nothing_of_the_key(settings) -> None:
    use(settings, "one")
    check_at_start()
    row = KeyFingerprint.objects.get(name="pseudonym")
    assert "one" not in (row.digest, row.how) and len(row.digest) == 64
    assert row.digest != KeyFingerprint.digest_of("secret", "one")
