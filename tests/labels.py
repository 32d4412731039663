"""Labels of made-up pictures: all of the default ones in turn, however many there are."""

from __future__ import annotations

import pytest

from analysis.labels.files import default_labels

#: For tests whose expected numbers, words or published data are of the 16 categories; the others pass with any labels.
of_the_sixteen = pytest.mark.skipif(default_labels().name != "entry16", reason="expects the 16 categories")


def label_at(number: int) -> str:
    """One of the default labels for each number, round and round."""
    return default_labels().ids[number % len(default_labels())]
