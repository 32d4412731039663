"""Whether the keys are those that this database was filled under.

The database knows its keys by fingerprints. The first one is recorded only after stored codes were computed again with
the key that is there: whoever starts with another key is told, not believed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, PseudonymKeyRefused
from humanexp.core.models import KeyFingerprint
from humanexp.core.storage import media_path
from humanexp.key_files import read_key, read_or_create_key

logger = logging.getLogger(__name__)

PSEUDONYM, SECRET = "pseudonym", "secret"
#: Under MEDIA_ROOT, where the setting is empty.
FILE = "keys/pseudonym_key"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the database holds that was made with the pseudonym key, and how much of it a key makes again."""

    alike: int = 0
    otherwise: int = 0
    #: hashes of ids that are not kept
    beyond_proof: int = 0

    def __add__(self, more: Stored) -> Stored:
        return Stored(
            alike=self.alike + more.alike,
            otherwise=self.otherwise + more.otherwise,
            beyond_proof=self.beyond_proof + more.beyond_proof,
        )


#: How an app compares the codes that it stores with a key; registered in AppConfig.ready().
Witness = Callable[[str], Stored]
WITNESSES: list[Witness] = []


def register_witness(witness: Witness) -> None:
    WITNESSES.append(witness)


class Standing(Enum):
    """How the pseudonym key that is there stands to the database."""

    HOLDS = "the fingerprint is this key's"
    FREE = "nothing was made with a key yet"
    PROVEN = "every stored code is this key's"
    UNPROVEN = "there are codes that no id is kept of"
    MIXED = "some stored codes are this key's, others are not"
    FOREIGN = "the fingerprint, or every stored code, is another key's"
    MISSING = "there is no key, and codes were made with one"


#: In which nothing may start: known people would be strangers, and who is excluded would be let in.
REFUSED = (Standing.FOREIGN, Standing.MISSING)
#: In which the key needs nobody's word.
EVIDENT = (Standing.FREE, Standing.PROVEN)


@dataclass(frozen=True, kw_only=True)
class Examined:
    standing: Standing
    recorded: KeyFingerprint | None = None
    stored: Stored = Stored()

    @property
    def sentence(self) -> str:
        """What is the matter; empty where all is well."""
        since = f" on {self.recorded.recorded_at:%d %B %Y}" if self.recorded else ""
        return _SENTENCES.get(self.standing, "").format(since=since, stored=self.stored)

    @property
    def remedy(self) -> str:
        """What to do; empty where nothing is to be done."""
        return _REMEDIES.get(self.standing, "")


_SENTENCES = {
    Standing.FOREIGN: (
        "PSEUDONYM_KEY is not the key that this database was filled under{since}: people who took part would be "
        "strangers, and excluded people would be let in."
    ),
    Standing.MISSING: "The PSEUDONYM_KEY that this database was filled under{since} is gone.",
    Standing.MIXED: (
        "{stored.otherwise} participants' codes were made with another PSEUDONYM_KEY, {stored.alike} with this one: "
        "those of one group are not recognised when they come again."
    ),
    Standing.UNPROVEN: (
        "It cannot be computed whether PSEUDONYM_KEY is the key of the {stored.beyond_proof} stored exclusions: their "
        "worker ids are not stored."
    ),
}
_FROM_BACKUP = (
    f"Put the key back from the backup: the setting PSEUDONYM_KEY, or the file MEDIA_ROOT/{FILE}. "
    "Only if it is lost for good: python manage.py doctor --key-is-lost"
)
_REMEDIES = {
    Standing.FOREIGN: _FROM_BACKUP,
    Standing.MISSING: _FROM_BACKUP,
    Standing.MIXED: _FROM_BACKUP,
    Standing.UNPROVEN: "If you know that it is: python manage.py doctor --record-keys",
}


def pseudonym_key() -> str:
    """The key that hashes worker ids. Made when an empty database first needs it; refused where it is not this one's.

    Raises
    ------
    PseudonymKeyRefused
        If the database was filled under another key, or under one that is gone.
    """
    place = (settings.PSEUDONYM_KEY, str(settings.MEDIA_ROOT))
    if place not in _compared:
        key = _configured()
        if key is None:
            _refuse_unless_startable(examine())
            key = read_or_create_key(media_path(FILE))
        recorded = _recorded(PSEUDONYM)
        if recorded is not None and not recorded.is_of(key):
            _refuse_unless_startable(Examined(standing=Standing.FOREIGN, recorded=recorded))
        _compared[place] = key
    return _compared[place]


#: Keys that this process has compared with its database, by where they were found.
_compared: dict[tuple[str, str], str] = {}


def examine() -> Examined:
    """Compare the pseudonym key with its fingerprint or, where none is recorded, with all stored codes."""
    key, recorded = _configured(), _recorded(PSEUDONYM)
    if recorded is not None:
        if key is None:
            return Examined(standing=Standing.MISSING, recorded=recorded)
        return Examined(standing=Standing.HOLDS if recorded.is_of(key) else Standing.FOREIGN, recorded=recorded)
    stored = sum((witness(key or "") for witness in WITNESSES), Stored())
    return Examined(standing=_standing(stored, has_key=key is not None), stored=stored)


def _standing(stored: Stored, *, has_key: bool) -> Standing:
    if stored == Stored():
        return Standing.FREE
    if not has_key:
        return Standing.MISSING
    if stored.alike and stored.otherwise:
        return Standing.MIXED
    if stored.otherwise:
        return Standing.FOREIGN
    return Standing.PROVEN if stored.alike else Standing.UNPROVEN


def check_at_start() -> None:
    """Done at every start. A database that does not answer yet keeps nobody down: keys are compared again
    before they are used.

    Raises
    ------
    PseudonymKeyRefused
        If the pseudonym key is not the one that this database was filled under.
    """
    try:
        if not is_migrated():
            return
        examined = examine()
        _refuse_unless_startable(examined)
        if examined.standing in EVIDENT:
            _record(PSEUDONYM, _configured() or read_or_create_key(media_path(FILE)), how=examined.standing.value)
        elif examined.sentence:
            logger.warning("%s %s", examined.sentence, examined.remedy)
        _record(SECRET, settings.SECRET_KEY, how="first start")
    except DatabaseError:
        logger.warning("the keys cannot be compared with the database now: it does not answer", exc_info=True)


def record_keys(*, key_is_lost: bool = False) -> KeyFingerprint:
    """An operator's word for the keys that are there; `key_is_lost`: even where stored codes are another key's.

    Raises
    ------
    Conflict
        If codes speak against the key, and the operator has not said that theirs is lost.
    """
    examined = examine()
    speaks_against = examined.standing in (*REFUSED, Standing.MIXED)
    if speaks_against and not key_is_lost:
        raise Conflict(f"{examined.sentence} {examined.remedy}")
    with transaction.atomic():
        if speaks_against:
            record(action="replace-pseudonym-key", subject="keys", standing=examined.standing.name)
        KeyFingerprint.objects.filter(name__in=[SECRET, *([PSEUDONYM] if speaks_against else [])]).delete()
        _record(SECRET, settings.SECRET_KEY, how="operator")
        _compared.clear()
        return _record(PSEUDONYM, _configured() or read_or_create_key(media_path(FILE)), how="operator")


def signing_key_changed() -> KeyFingerprint | None:
    """The recorded fingerprint of SECRET_KEY, where no key is of it any more: old signatures are void."""
    recorded = _recorded(SECRET)
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return recorded if recorded is not None and not any(map(recorded.is_of, keys)) else None


def is_migrated() -> bool:
    """Whether the database can hold fingerprints."""
    return KeyFingerprint._meta.db_table in connection.introspection.table_names()


def _recorded(name: str) -> KeyFingerprint | None:
    return KeyFingerprint.objects.filter(name=name).first()


def _record(name: str, key: str, *, how: str) -> KeyFingerprint:
    """The first one stays."""
    return KeyFingerprint.objects.get_or_create(
        name=name, defaults={"digest": KeyFingerprint.digest_of(name, key), "how": how}
    )[0]


def _configured() -> str | None:
    return settings.PSEUDONYM_KEY or read_key(media_path(FILE))


def _refuse_unless_startable(examined: Examined) -> None:
    if examined.standing in REFUSED:
        raise PseudonymKeyRefused(f"{examined.sentence} {examined.remedy}")
