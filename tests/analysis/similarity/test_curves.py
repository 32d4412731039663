from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.curves.fit import fit_curve
from analysis.differences.answers import AnswersToOne
from analysis.errors import BandsMissing
from analysis.similarity.curves import CurveSimilarity, compare_all
from analysis.similarity.family import alike_classes
from analysis.similarity.verdicts import bands_overlap
from tests.analysis.curves.truths import crowd, gradual

Truth = Callable[[np.ndarray], np.ndarray]


def shifted(by: float) -> Truth:
    return lambda v: gradual(np.clip(v + by, 0, 1))


def answers_of(seed: int, truth: Truth = gradual, *, start: str = "", **options: float) -> AnswersToOne:
    experiment = crowd(seed, curve=truth, **{"people": 60, "trials_each": 25, **options})  # type: ignore[arg-type]
    people, originals = (np.char.add(start, experiment[name]) for name in ("participants", "images"))
    return AnswersToOne.of(experiment["visual_change"], experiment["correct"], originals, people)


def pair(first: AnswersToOne, second: AnswersToOne, **options: float) -> CurveSimilarity:
    (found,) = compare_all({"first": first, "second": second}, **options).values()  # type: ignore[arg-type]
    return found


def two_samples(seed: int, second: Truth = gradual, **options: float) -> tuple[AnswersToOne, AnswersToOne]:
    """Two crowds over different originals and people."""
    return (
        answers_of(2 * seed, start="a", **options),
        answers_of(2 * seed + 1, second, start="b", **options),
    )


def test_the_mean_difference_is_the_t_test_of_two_samples() -> None:
    """One answer a person and original: the mean of 5,000 answers in equal cells is their mean, within a hair."""
    rng = np.random.default_rng(1)
    samples = []
    for name, rate in (("a", 0.62), ("b", 0.6)):
        v = np.tile((np.arange(40) + 0.5) / 40, 60)
        names = [f"{name}{number}" for number in range(len(v))]
        samples.append(AnswersToOne.of(v, (rng.random(len(v)) < rate).astype(float), names, names))
    found = pair(*samples)
    test = stats.ttest_ind(samples[0].outcome, samples[1].outcome, equal_var=False)
    assert found.difference == pytest.approx(samples[0].outcome.mean() - samples[1].outcome.mean(), abs=1e-12)
    # Residuals are from the means of 40 cells, not from one mean.
    assert found.standard_error == pytest.approx(found.difference / test.statistic, rel=0.02)
    assert found.p == pytest.approx(test.pvalue, abs=0.03)
    assert found.span == (0.0, 1.0) and found.gaps == ()


def test_a_large_sample_of_equal_curves_is_equivalent() -> None:
    found = pair(*two_samples(1, people=300, trials_each=40, image_sd=0.5, participant_sd=0.2))
    assert found.verdict == "equivalent" and found.answers_to_decide is found.answers_to_differ is None
    assert max(map(abs, found.interval)) < 0.03 and max(map(abs, found.band)) < 0.10
    assert found.area_equivalent and found.band_equivalent


def test_a_small_sample_of_equal_curves_is_undecided_never_equivalent() -> None:
    found = pair(*two_samples(2, people=20, trials_each=20))
    assert found.verdict == "undecided" and found.answers == 800
    assert found.answers_to_decide is not None and found.answers_to_decide > found.answers
    assert found.answers_to_differ is not None and found.answers_to_differ > found.answers
    assert f"{found.answers_to_decide:,} answers" in found.statement


def all_alike(n: int, right: float, name: str) -> AnswersToOne:
    """Of n originals by n people, every answer right or every answer wrong."""
    names = [f"{name}-{k}" for k in range(n)]
    return AnswersToOne.of((np.arange(n) + 0.5) / n, np.full(n, right), names, names)


def test_a_few_answers_without_any_spread_prove_nothing() -> None:
    equal = pair(all_alike(100, 1.0, "a"), all_alike(100, 1.0, "b"))
    assert equal.verdict == "undecided" and equal.answers_to_decide is not None and equal.answers_to_decide > 200
    assert pair(all_alike(2000, 1.0, "a"), all_alike(2000, 1.0, "b")).verdict == "equivalent"
    assert pair(all_alike(2000, 1.0, "a"), all_alike(2000, 0.0, "c")).verdict == "different"


def test_far_curves_are_different_and_it_is_said_where() -> None:
    found = pair(*two_samples(3, shifted(0.25), people=150, trials_each=10))
    assert found.verdict == "different" and found.p < 1e-6 and found.p_adjusted == pytest.approx(1 / 2001)
    assert found.difference == pytest.approx(0.2, abs=0.05)
    assert found.higher_on and not found.lower_on
    # The curves part around .5; at the right end both are at chance.
    assert found.higher_on[0][0] < 0.5 < found.higher_on[-1][1] < 1.0


def test_curves_that_cross_with_equal_areas_are_different() -> None:
    """The mean difference is none; the windows show that the first is higher on the left and lower on the right."""

    def crossing(v: np.ndarray) -> np.ndarray:
        return np.asarray(gradual(v) - 0.25 * np.sin(2 * np.pi * v) * (v < 1))

    found = pair(*two_samples(4, crossing, people=150, trials_each=20, image_sd=0.1, participant_sd=0.1))
    assert found.different and abs(found.difference) < 0.03 and found.p > 0.001
    assert found.higher_on[0][1] < 0.6 < found.lower_on[-1][1]


def test_exchanging_the_two_turns_every_sign() -> None:
    first, second = two_samples(5, shifted(0.1))
    there, back = pair(first, second), pair(second, first)
    assert back.difference == pytest.approx(-there.difference)
    assert back.interval == pytest.approx((-there.interval[1], -there.interval[0]))
    assert back.standard_error == pytest.approx(there.standard_error)
    assert (back.higher_on, back.lower_on) == (there.lower_on, there.higher_on)


def test_shared_people_and_originals_narrow_the_difference() -> None:
    """What a person or an original adds to both corruptions cancels; names of their own keep it."""
    first = answers_of(6, people=40, trials_each=40, participant_sd=1.5)
    rng = np.random.default_rng(1)
    outcome = np.where(rng.random(1600) < 0.9, first.outcome, rng.random(1600) < 0.5)
    second = replace(first, outcome=outcome)
    others = [np.char.add("x", own.names) for own in (second.originals, second.people) if own is not None]
    apart = replace(
        second,
        originals=replace(second.originals, names=others[0]),
        people=None if second.people is None else replace(second.people, names=others[1]),
    )
    assert pair(first, second).standard_error < 0.75 * pair(first, apart).standard_error


def test_margins_hold_for_answers_that_came_from_looking() -> None:
    samples = {"a": answers_of(1, people=300, trials_each=40, image_sd=0.5, participant_sd=0.2)}
    samples["b"] = answers_of(2, people=300, trials_each=40, image_sd=0.5, participant_sd=0.2)
    by_share = {share: compare_all(samples, attentive={"a": 1.0, "b": share})["a", "b"] for share in (1.0, 0.85, 0.7)}
    assert by_share[1.0].verdict == by_share[0.85].verdict == "equivalent"
    assert by_share[0.85].answers_to_decide is None and by_share[0.85].attentive == 0.85
    careless = by_share[0.7]
    assert careless.verdict == "undecided" and "could not have shown it" in careless.statement
    assert compare_all(samples, attentive={"a": 1.0})["a", "b"].verdict == "undecided", "nothing is known of b"
    # An interval that fits into the margin does not fit into what a share of .85 leaves of it.
    just = max(map(abs, by_share[1.0].interval)) / 0.9
    assert compare_all(samples, margin=just)["a", "b"].area_equivalent
    assert not compare_all(samples, margin=just, attentive={"a": 0.85, "b": 0.85})["a", "b"].area_equivalent


def test_nothing_is_equivalent_across_a_gap() -> None:
    whole = [answers_of(seed, people=300, trials_each=40, image_sd=0.5, participant_sd=0.2) for seed in (1, 2)]
    holed = [one.select((one.place < 0.4) | (one.place > 0.5)) for one in whole]
    found = pair(*holed)
    assert pair(*whole).equivalent and not found.equivalent and found.gaps == ((0.4, 0.5),)
    assert found.area_equivalent and not found.band_equivalent
    assert found.statement == "undecided: a part of the range between was not measured"


def test_corruptions_without_a_common_stretch_are_not_compared() -> None:
    samples = {"light": answers_of(1), "whole": answers_of(2), "heavy": answers_of(3)}
    samples["light"] = samples["light"].select(samples["light"].place < 0.3)
    samples["heavy"] = samples["heavy"].select(samples["heavy"].place > 0.6)
    found = compare_all(samples, margin=0.9, band_margin=0.99)
    assert set(found) == {("light", "whole"), ("whole", "heavy")}
    assert found["light", "whole"].span == pytest.approx((0.0, 0.3))
    classes = alike_classes(list(samples), found)
    assert len(classes) == 2 and not any({"light", "heavy"} <= set(group) for group in classes)
    assert compare_all({"light": samples["light"], "heavy": samples["heavy"]}) == {}


def test_all_pairs_are_corrected_together_and_classed() -> None:
    options = {"people": 300, "trials_each": 40, "image_sd": 0.5, "participant_sd": 0.2}
    samples = {
        name: answers_of(seed, truth, start=name, **options)
        for name, truth, seed in (("a", gradual, 1), ("b", gradual, 2), ("c", shifted(0.3), 3))
    }
    found = compare_all(samples)
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c")]
    alone = compare_all({name: samples[name] for name in "ab"})["a", "b"]
    assert alone.difference == found["a", "b"].difference
    assert [found[names].verdict for names in found] == ["equivalent", "different", "different"]
    assert alike_classes(list(samples), found) == [["a", "b"], ["c"]]
    again = compare_all(samples)
    assert again == found, "one seed, one result"


@pytest.mark.promise(9)
def test_a_small_share_of_studies_of_equal_curves_shows_a_difference() -> None:
    false = [pair(*two_samples(seed, people=20, trials_each=40)).different for seed in range(100)]
    assert np.mean(false) <= 0.05 + 2.6 * (0.05 * 0.95 / 100) ** 0.5


def test_classes_need_every_pair_to_be_equivalent() -> None:
    template = pair(*two_samples(1, people=20, trials_each=20))
    chain = {
        ("a", "b"): replace(template, difference=0.01, equivalent=True),
        ("b", "c"): replace(template, difference=0.002, equivalent=True),
        ("a", "c"): replace(template, difference=0.04, equivalent=False),
    }
    assert alike_classes(["a", "b", "c"], chain) == [["a"], ["b", "c"]]


def test_both_equivalent_and_different_says_by_how_much() -> None:
    """Many answers show a difference of .01 that is less than the margins."""
    found = pair(*two_samples(9, shifted(0.013), people=400, trials_each=200, image_sd=0.1, participant_sd=0.05))
    assert found.equivalent and found.different and found.verdict == "equivalent"
    assert found.statement == f"equivalent, differs by {abs(found.difference):.3f}"


def test_the_papers_rule_needs_bands() -> None:
    v, y = np.linspace(0, 1, 60), np.arange(60) < 40
    with pytest.raises(BandsMissing):
        bands_overlap(fit_curve(v, y, n_bootstrap=5), fit_curve(v, y), np.linspace(0, 1, 11), simultaneous=True)


@pytest.mark.slow
def test_overlap_rule_is_seldom_wrong_with_simultaneous_bands() -> None:
    """Design A of the reference: 550 people x 9 trials, 5 answers an image."""
    dissimilar = []
    for seed in range(100):
        curves = [
            fit_curve(
                **crowd(2 * seed + part, people=550, trials_each=9, answers_an_image=5, curve=gradual),
                n_bootstrap=100,
                rng=seed,
            )
            for part in range(2)
        ]
        dissimilar.append(not bands_overlap(*curves, np.linspace(0, 1, 201), simultaneous=True))
    assert np.mean(dissimilar) <= 0.10
