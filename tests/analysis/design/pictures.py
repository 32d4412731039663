"""Picture sets for plans: names and visual changes, no pixels."""

from __future__ import annotations

from collections import Counter

import numpy as np

from analysis.labels.files import default_labels

FUNCTIONS = ("gaussian_blur", "gaussian_noise", "uniform_noise")
#: A real, uneven collection of 58 photographs: one airplane, one knife, one oven.
UNEVEN = (1, 4, 2, 6, 5, 6, 3, 6, 4, 3, 6, 2, 2, 1, 1, 6)


def picture_set(by_category, per_function, functions=FUNCTIONS, seed=0):
    """Originals with `by_category` pictures a category, and `per_function` stimuli of each function over [0, 1].

    Where there are fewer labels than numbers, the first labels have the pictures of the last, too.
    """
    rng = np.random.default_rng(seed)
    labels = default_labels().ids
    counts = Counter()
    for place, n in enumerate(by_category):
        counts[labels[place % len(labels)]] += n
    originals = {f"{category}-{k:03d}": category for category in labels for k in range(counts[category])}
    keys = sorted(originals)
    rows = [_row(f"none-{key}", key, originals[key], "none", 0.0) for key in keys]
    for function in functions:
        offset = int(rng.integers(len(keys)))
        for k in range(per_function):
            key = keys[(k * 7 + offset) % len(keys)]
            visual_change = (k + float(rng.random())) / per_function
            rows.append(_row(f"{function}-{k:05d}", key, originals[key], function, visual_change))
    return originals, rows


#: What a set made with plain pairs holds beside FUNCTIONS.
PLAIN = ("brightness", "impulse_noise")


def with_plain(originals, rows, plain=PLAIN, visual_change=0.6):
    """The rows, and one stimulus of each plain function for every original."""
    return [
        *rows,
        *(
            _row(f"{function}-{key}", key, originals[key], function, visual_change + 0.001 * (k % 5))
            for function in plain
            for k, key in enumerate(sorted(originals))
        ),
    ]


def _row(stimulus, original, category, corruption, visual_change):
    return {
        "stimulus": stimulus,
        "original": original,
        "category": category,
        "corruption": corruption,
        "visual_change": visual_change,
    }
