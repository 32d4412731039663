"""What a process remembers beyond a test: forgotten before each, so that no test depends on those before it."""

from __future__ import annotations

from django.core.cache import cache

from analysis.classifiers import shards
from humanexp.core import limits, sealing
from humanexp.entry import admission
from humanexp.participation import presentation, previews
from humanexp.recruiters import registry
from humanexp.results.selectors import _read
from humanexp.studies import plans

#: Caches whose keys are rows: the next test's row may have the same number.
_OF_ROWS = (plans._lines, plans._planned_names, plans._cells, previews._read, presentation.course_of, _read)
_DICTIONARIES = (sealing._read, registry._opened, registry._settled, shards._held)


def forget() -> None:
    cache.clear()
    limits.clear_all()
    admission.BEGUN.clear()
    for remembered in _OF_ROWS:
        remembered.cache_clear()
    for dictionary in _DICTIONARIES:
        dictionary.clear()
