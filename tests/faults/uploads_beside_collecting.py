"""Uploads and forgets a content over and over while another thread collects; says what the storage has lost.

python -m tests.faults.uploads_beside_collecting ROUNDS
"""

from __future__ import annotations

import os
import sys
import threading
from datetime import timedelta

import django


def main(rounds: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from django.db import connection

    from humanexp.core import clock, file_store
    from humanexp.core.models import StoredFile, StoredObject
    from humanexp.core.objects import objects
    from humanexp.core.storage import media_path, write_whole

    stop, collected = threading.Event(), []

    def collect() -> None:
        while not stop.is_set():
            collected.append(file_store.collect())
        connection.close()

    def grow_old() -> None:
        StoredObject.objects.filter(names=None).update(touched_at=clock.now() - timedelta(days=2))

    collector = threading.Thread(target=collect)
    collector.start()
    lost = 0
    for number in range(rounds):
        path = f"plans/{number}.jsonl"
        write_whole(media_path(path), b"the same content")
        file_store.publish(path)
        named = StoredFile.objects.get(path=path).content_id
        lost += not objects().has(named)
        file_store.forget(path)
        grow_old()
    stop.set()
    collector.join()
    sys.stdout.write(f"{rounds} rounds, {sum(collected)} collected, {lost} lost\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
