from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.curves.trials import CleanTrials
from analysis.findings.fits import FitSettings, fit_outcomes
from analysis.findings.observations import Observations, joined
from analysis.findings.outcomes import Outcomes, categories_of, counted_weights, people_weights


def outcomes(sizes: tuple[int, ...], rates: tuple[float, ...]) -> Outcomes:
    """People who answered so often, each right at a rate of their own wherever the picture stands."""
    person = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
    right = np.concatenate(
        [np.diff(np.floor(np.arange(size + 1) * rate)) for size, rate in zip(sizes, rates, strict=True)]
    )
    n = len(person)
    text, numbers = np.full(n, "x", dtype=np.str_), np.zeros(n)
    answers = Observations(
        np.char.add("P-", person.astype(np.str_)), *(text,) * 2, text, text, text, text, text, place, right, numbers,
        numbers, np.zeros(n, dtype=np.bool_), text,
    )  # fmt: skip
    return Outcomes(place, right, answers)


def test_each_person_counts_once_unless_answers_are_asked_for() -> None:
    unequal = outcomes((800, 200), (0.8, 0.4))
    settings = FitSettings(seed=1, n_bootstrap=0)
    assert fit_outcomes(unequal, settings).area == pytest.approx(0.6, abs=0.01)
    by_answers = fit_outcomes(unequal, settings.model_copy(update={"estimand": "answers"}))
    assert by_answers.area == pytest.approx(0.8 * 0.8 + 0.2 * 0.4, abs=0.01)
    weights = people_weights(unequal)
    assert weights is not None and weights[0].mean() == pytest.approx(1.0)
    assert np.unique(weights[0]) == pytest.approx([0.625, 2.5])


def test_equal_numbers_need_no_weights_and_stay_as_they_are() -> None:
    equal = outcomes((300, 300), (0.8, 0.4))
    assert people_weights(equal) is None
    assert people_weights(replace(outcomes((800, 200), (0.8, 0.4)), of_people=False)) is None
    clean = CleanTrials(np.ones(3), ["a", "a", "b"], ["1", "2", "3"])
    both = people_weights(replace(equal, clean=clean))
    assert both is not None and both[1] == pytest.approx([0.75, 0.75, 1.5])


def shown(rates: dict[str, tuple[int, float]]) -> Outcomes:
    """So many answers to each category at its rate, along the whole axis."""
    one = [outcomes((count,), (rate,)) for count, rate in rates.values()]
    names = np.repeat(list(rates), [count for count, _ in rates.values()])
    answers = joined([own.answers for own in one])
    return Outcomes(
        np.concatenate([own.place for own in one]),
        answers.correct,
        replace(answers, category=names, original=np.arange(len(names)).astype(np.str_)),
    )


def test_categories_count_equally_for_people_and_models_where_the_plan_and_the_tables_say_so() -> None:
    unequal = shown({"cat": (600, 0.8), "dog": (200, 0.4)})
    settings = FitSettings(seed=1, n_bootstrap=0, categories=("cat", "dog"))
    for of_people in (True, False):
        own = replace(unequal, of_people=of_people)
        assert fit_outcomes(own, settings).area == pytest.approx(0.6, abs=0.01)
        for other in ({"estimand": "people"}, {"categories": ()}):
            assert fit_outcomes(own, settings.model_copy(update=other)).area == pytest.approx(0.7, abs=0.01)
        weights = counted_weights(own, "categories", settings.equal_categories)
        assert weights is not None
        assert weights[0][:600].sum() == pytest.approx(weights[0][600:].sum(), rel=1e-9)
        assert counted_weights(own, "people", None) is None
    unknown = replace(unequal, answers=replace(unequal.answers, category=np.full(800, "", dtype=np.str_)))
    assert fit_outcomes(unknown, settings).area == pytest.approx(0.7, abs=0.01)


def test_the_categories_are_those_of_people_unless_any_is_unknown() -> None:
    cats, dogs = (shown({name: (20, 0.5)}).answers for name in ("cat", "dog"))
    nobody, unknown = cats.select(np.zeros(20, dtype=np.bool_)), replace(cats, category=np.full(20, "", dtype=np.str_))
    assert categories_of(cats, dogs) == ("cat",) and categories_of(nobody, dogs) == ("dog",)
    assert categories_of(cats, unknown) == () == categories_of(unknown, dogs)
