"""The ground the demo stands on: what an earlier run left, and how to begin anew."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from humanexp.core.errors import StudyRefused
from humanexp.core.storage import media_path, write_whole
from humanexp.experiments.models import Study
from humanexp.stimuli.models import SourceSet

#: Everything of the demo has one of these names.
NAMES = frozenset({"demo", "try-it"})
_RECORD = "demo.json"
_KEPT = frozenset({"keys", "logs"})


@dataclass(frozen=True, kw_only=True)
class Options:
    """What decides the demo's numbers."""

    participants: int
    seed: int
    #: folder of photographs; empty: the drawings
    images: str = ""


def finished_with(options: Options) -> bool:
    """Whether the demo of these options stands here, complete.

    Raises
    ------
    StudyRefused
        If one of other options does.
    """
    try:
        record = json.loads(media_path(_RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    if record != asdict(options):
        made = ", ".join(f"{name} {value}" for name, value in record.items() if value)
        raise StudyRefused(f"The demo here was made with {made}. Add --fresh to make it anew.")
    return True


def record_finished(options: Options) -> None:
    write_whole(media_path(_RECORD), json.dumps(asdict(options)).encode())


def clear() -> None:
    """Remove what demos made. Other studies or pictures in this database are never touched: then nothing is removed.

    Raises
    ------
    StudyRefused
        Naming what is in the way.
    """
    others = [*Study.objects.exclude(slug__in=NAMES), *SourceSet.objects.exclude(name__in=NAMES)]
    if others:
        raise StudyRefused(
            f"This database holds other work ({', '.join(map(str, others[:3]))}). "
            "Set MEDIA_ROOT to another folder for the demo: nothing was removed."
        )
    call_command("flush", interactive=False, verbosity=0)
    root = Path(settings.MEDIA_ROOT)
    database = Path(str(settings.DATABASES["default"]["NAME"])).name
    for entry in root.iterdir():
        if entry.name in _KEPT or entry.name.startswith(database):
            continue
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
