"""The key behind people's codes is sealed under SECRET_KEY; another SECRET_KEY is refused, not believed."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from humanexp.core import sealing
from humanexp.core.errors import Conflict, SecretKeyRefused
from humanexp.core.models import AuditEvent, PseudonymKey, User
from humanexp.core.sealing import check_at_start, check_value, fault_of_key, pseudonym_key, replace_lost_key
from humanexp.recruiters.people import person_for
from humanexp.studies.models import StudyFamily

pytestmark = pytest.mark.django_db


def use(settings: Any, key: str, *fallbacks: str) -> None:
    """As a process would that starts with this key."""
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = key, list(fallbacks)
    sealing._read.clear()


def test_the_first_start_seals_a_key_and_another_secret_key_is_refused(settings: Any) -> None:
    use(settings, "one")
    check_at_start()
    made = pseudonym_key()
    use(settings, "another")
    for ask in (check_at_start, pseudonym_key):
        with pytest.raises(SecretKeyRefused, match="SECRET_KEY is not the key.*doctor --key-is-lost"):
            ask()
    use(settings, "one")
    check_at_start()
    assert pseudonym_key() == made and fault_of_key() == ""


def test_a_secret_key_is_replaced_with_the_old_one_as_a_fallback(settings: Any) -> None:
    use(settings, "one")
    check_at_start()
    made = pseudonym_key()
    use(settings, "two", "one")
    assert pseudonym_key() == made and fault_of_key() == ""
    check_at_start()
    use(settings, "two")
    assert pseudonym_key() == made, "it was sealed again at the start"


def test_the_key_of_a_transaction_that_was_taken_back_is_forgotten(settings: Any) -> None:
    use(settings, "one")
    made = pseudonym_key()
    PseudonymKey.objects.all().delete()
    assert pseudonym_key() != made


def test_a_lost_key_is_replaced_only_by_word(settings: Any) -> None:
    use(settings, "one")
    family = StudyFamily.objects.create(slug="blur")
    ann = person_for(environment="link", worker_id="ann", family=family)
    with pytest.raises(Conflict, match="nothing was changed"):
        replace_lost_key()
    use(settings, "another")
    replace_lost_key()
    assert fault_of_key() == "" and AuditEvent.objects.filter(action="replace-pseudonym-key").count() == 1
    assert person_for(environment="link", worker_id="ann", family=family) == ann, "ids that are kept still say who"


def test_accounts_are_made_under_another_key_with_a_warning(settings: Any) -> None:
    """Who restores an installation has to get in; no code is made by it."""
    use(settings, "one")
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


def test_the_row_tells_nothing_of_either_key(settings: Any) -> None:
    use(settings, "a long secret key")
    check_at_start()
    row = PseudonymKey.objects.get()
    assert row.check_value == check_value("a long secret key") and len(row.check_value) == 64
    assert pseudonym_key() not in row.sealed and "long secret" not in row.sealed + row.check_value
