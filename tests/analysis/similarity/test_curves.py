from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from analysis.curves import CurveFit, fit_curve
from analysis.errors import BandsMissing, GridMismatch, InvalidInput, LabelSpaceMismatch, NoCommonRange
from analysis.similarity import (
    CurveSimilarity,
    CurveTrials,
    alike_classes,
    compare_all,
    compare_curves,
    permutation_test,
)
from tests.analysis.curves.truths import crowd, gradual

Truth = Callable[[np.ndarray], np.ndarray]


def shifted(by: float) -> Truth:
    return lambda v: gradual(np.clip(v + by, 0, 1))


def two_samples(
    seed: int, second: Truth = gradual, *, people: int = 60, each: int = 25, **options: float
) -> tuple[tuple[CurveFit, CurveFit], tuple[CurveTrials, CurveTrials]]:
    """Two crowds over different originals and people."""
    curves, samples = [], []
    for part, truth in enumerate((gradual, second)):
        experiment = crowd(2 * seed + part, people=people, trials_each=each, curve=truth, **options)  # type: ignore[arg-type]
        for column in ("participants", "images"):
            experiment[column] = np.char.add(f"{part}-", experiment[column])
        curves.append(fit_curve(**experiment, n_bootstrap=100, rng=seed))
        samples.append(CurveTrials(**experiment))
    return (curves[0], curves[1]), (samples[0], samples[1])


def test_a_large_sample_of_equal_curves_is_equivalent() -> None:
    curves, trials = two_samples(1, people=300, each=40, image_sd=0.5, participant_sd=0.2)
    found = compare_curves(*curves, trials=trials)
    assert found.verdict == "equivalent" and found.answers_to_decide is None
    assert max(map(abs, found.interval)) < 0.03 and max(map(abs, found.band)) < 0.10


def test_a_small_sample_of_equal_curves_is_undecided_never_equivalent() -> None:
    curves, trials = two_samples(2, people=20, each=20)
    found = compare_curves(*curves, trials=trials)
    assert found.verdict == "undecided"
    assert found.answers == 800
    assert found.answers_to_decide is not None and found.answers_to_decide > found.answers


def all_alike(n: int, right: float, name: str) -> CurveFit:
    """A curve of n originals, every answer right or every answer wrong."""
    originals = [f"{name}-{k}" for k in range(n)]
    return fit_curve(np.linspace(0.05, 0.95, n), np.full(n, right), images=originals, n_bootstrap=200, rng=1)


def test_a_few_answers_without_any_spread_prove_nothing() -> None:
    """Resampled right answers are right answers: the bootstrap alone would call five of them proof."""
    few = [all_alike(5, 1.0, "a"), all_alike(5, 1.0, "b"), all_alike(2, 1.0, "c"), all_alike(2, 0.0, "d")]
    equal, apart = compare_curves(few[0], few[1]), compare_curves(few[2], few[3])
    assert equal.verdict == "undecided" and equal.answers_to_decide is not None and equal.answers_to_decide > 100
    assert apart.verdict == "undecided" and apart.p > 0.05
    many = [all_alike(400, 1.0, "a"), all_alike(400, 1.0, "b"), all_alike(400, 0.0, "c")]
    assert compare_curves(many[0], many[1]).verdict == "equivalent"
    assert compare_curves(many[0], many[2]).verdict == "different"


def test_far_curves_are_different_by_both_tests() -> None:
    curves, trials = two_samples(3, shifted(0.25), people=150, each=10)
    permuted, resampled = compare_curves(*curves, trials=trials), compare_curves(*curves)
    assert (permuted.test, resampled.test) == ("permutation", "bootstrap")
    assert permuted.verdict == resampled.verdict == "different"
    assert permuted.p == 0.001 and resampled.p < 0.001
    assert not permuted.overlap_83 and not permuted.overlap_83_pointwise
    assert permuted.difference == pytest.approx(0.2, abs=0.05)


def test_difference_is_the_mean_gap_on_the_common_range() -> None:
    rng = np.random.default_rng(0)
    v = rng.uniform(0.3, 0.8, 4000)
    v[:2] = [0.301, 0.799]
    low = fit_curve(v, rng.random(4000) < 0.6, n_bootstrap=50, rng=1)
    high = fit_curve(np.r_[v, 0.05], np.r_[rng.random(4000) < 0.8, True], n_bootstrap=50, rng=2)
    found = compare_curves(high, low)
    assert found.span == pytest.approx((0.3, 0.8))
    assert found.difference == pytest.approx(high.mean_between(0.3, 0.8) - low.mean_between(0.3, 0.8))
    assert compare_curves(low, high).difference == pytest.approx(-found.difference)


def test_shared_originals_or_few_people_call_for_the_bootstrap() -> None:
    curves, trials = two_samples(4)
    joined = (trials[0], replace(trials[1], images=trials[0].images))
    assert compare_curves(*curves, trials=joined).test == "bootstrap"
    with pytest.raises(InvalidInput, match="share"):
        permutation_test(*curves, joined, span=(0.0, 1.0), rng=np.random.default_rng(0))
    few, few_trials = two_samples(5, people=6, each=250, participant_sd=1.5)
    assert compare_curves(*few, trials=few_trials).test == "bootstrap"


def test_joint_resampling_of_shared_clusters_narrows_the_difference() -> None:
    experiment = crowd(6, people=40, trials_each=40)
    rng = np.random.default_rng(1)
    other = dict(experiment, correct=np.where(rng.random(1600) < 0.9, experiment["correct"], rng.random(1600) < 0.5))
    joint = compare_curves(*(fit_curve(**e, n_bootstrap=200, rng=1) for e in (experiment, other)))
    apart = compare_curves(*(fit_curve(**e, n_bootstrap=200, rng=s) for s, e in enumerate((experiment, other))))
    assert joint.standard_error < 0.75 * apart.standard_error


def test_permutations_keep_the_number_of_originals_in_every_stratum() -> None:
    from analysis.similarity.permutation import _Exchange

    curves, trials = two_samples(7, people=20, each=20, answers_an_image=2)
    exchange = _Exchange.of(*curves, trials)
    drawn = exchange.permuted(np.random.default_rng(0), 30)
    assert (drawn >= 0).all() and (drawn <= exchange.size[:, None]).all()
    for kinds in exchange.strata:
        assert (drawn[kinds].sum(axis=0) == exchange.of_first[kinds].sum()).all()
    assert (drawn != exchange.of_first[:, None]).any()
    assert exchange.size.sum() == len(np.unique(np.concatenate([trials[0].images, trials[1].images])))
    # Kinds hold all answers: one original's answers, as often as there are originals of the kind.
    assert (exchange.trials @ exchange.size).sum() == 800
    right = np.concatenate([np.asarray(part.correct) for part in trials]).sum()
    assert (exchange.correct @ exchange.size).sum() == right
    assert (exchange.correct @ exchange.of_first).sum() == np.sum(trials[0].correct)


def test_permutation_p_equals_that_of_a_plain_loop() -> None:
    """Labels of originals shuffled one permutation at a time, refitted with the ordinary fit."""
    curves, trials = two_samples(11, shifted(0.05), people=30, each=20, answers_an_image=2)
    found = permutation_test(
        *curves, trials, span=(0.0, 1.0), rng=np.random.default_rng(0), most=1999, exceedances=2000
    )
    v, y, images = (
        np.concatenate([np.asarray(getattr(part, name)) for part in trials])
        for name in ("visual_change", "correct", "images")
    )
    names, original = np.unique(images, return_inverse=True)
    first = np.char.startswith(names, "0-")
    stratum = np.minimum((np.bincount(original, v) / np.bincount(original) * 40).astype(int), 39)
    rng = np.random.default_rng(1)

    def difference(chosen: np.ndarray) -> float:
        rows = chosen[original]
        return fit_curve(v[rows], y[rows]).area - fit_curve(v[~rows], y[~rows]).area

    observed, extreme = abs(difference(first)), 0
    for _ in range(99):
        shuffled = first.copy()
        for one in np.unique(stratum):
            rows = stratum == one
            shuffled[rows] = rng.permutation(first[rows])
        extreme += abs(difference(shuffled)) >= observed
    p = (1 + extreme) / 100
    assert found.permutations == 1999
    assert found.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 99) + 0.01)


def test_permutation_stops_early_where_clearly_null() -> None:
    curves, trials = two_samples(8)
    found = permutation_test(*curves, trials, span=(0.0, 1.0), rng=np.random.default_rng(0), most=4999)
    assert found.permutations < 4999 and found.p > 0.002


def test_people_widen_the_permutations_and_never_narrow_them() -> None:
    from analysis.similarity.curves import _people_stretch

    calm, trials = two_samples(12, people=150, each=10, participant_sd=0.0)
    few, _ = two_samples(13, people=12, each=100, participant_sd=1.0)
    contrast = calm[0].basis.integrals
    assert 1.0 <= _people_stretch(*calm, contrast) < 1.2 < _people_stretch(*few, contrast)
    by_originals = tuple(fit_curve(**vars(part), n_bootstrap=20, rng=1, scheme="image") for part in trials)
    assert _people_stretch(by_originals[0], by_originals[1], contrast) == pytest.approx(1.0)
    plain, wider = (
        permutation_test(*calm, trials, span=(0.0, 1.0), rng=np.random.default_rng(0), stretch=stretch).p
        for stretch in (1.0, 1.15)
    )
    assert wider >= plain


def test_size_of_both_tests() -> None:
    """Equal curves: p below 0.05 in about 5 of 100 runs."""
    permuted, resampled = [], []
    for seed in range(30):
        curves, trials = two_samples(seed, people=40, each=20)
        permuted.append(compare_curves(*curves, trials=trials).p)
        resampled.append(compare_curves(*curves).p)
    assert np.mean(np.array(permuted) < 0.05) <= 0.14
    assert np.mean(np.array(resampled) < 0.05) <= 0.14
    assert 0.25 < np.median(permuted) < 0.75


@pytest.mark.slow
def test_overlap_rule_is_seldom_wrong_with_simultaneous_bands() -> None:
    """Design A of the reference: 550 people x 9 trials, 5 answers an image."""
    dissimilar = []
    for seed in range(100):
        curves, _ = two_samples(seed, people=550, each=9, answers_an_image=5)
        dissimilar.append(not compare_curves(*curves).overlap_83)
    assert np.mean(dissimilar) <= 0.10


def test_all_pairs_are_corrected_together_and_classed() -> None:
    curves = {}
    for name, truth, seed in (("a", gradual, 1), ("b", gradual, 2), ("c", shifted(0.3), 3)):
        experiment = crowd(seed, people=300, trials_each=40, image_sd=0.5, participant_sd=0.2, curve=truth)
        for column in ("participants", "images"):
            experiment[column] = np.char.add(f"{name}-", experiment[column])
        curves[name] = fit_curve(**experiment, n_bootstrap=100, rng=0)
    found = compare_all(curves)
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(outcome.p_adjusted >= outcome.p for outcome in found.values())
    assert found["a", "c"].p_adjusted == pytest.approx(min(1, 3 * found["a", "c"].p), abs=1e-6)
    assert [found[pair].verdict for pair in found] == ["equivalent", "different", "different"]
    assert alike_classes(list(curves), found) == [["a", "b"], ["c"]]


def outcome_of(template: CurveSimilarity, difference: float, *, equivalent: bool) -> CurveSimilarity:
    return replace(template, difference=difference, equivalent=equivalent)


def test_classes_need_every_pair_to_be_equivalent() -> None:
    curves, _ = two_samples(1, people=20, each=20)
    template = compare_curves(*curves)
    chain = {
        ("a", "b"): outcome_of(template, 0.01, equivalent=True),
        ("b", "c"): outcome_of(template, 0.002, equivalent=True),
        ("a", "c"): outcome_of(template, 0.04, equivalent=False),
    }
    assert alike_classes(["a", "b", "c"], chain) == [["a"], ["b", "c"]]


def test_curves_that_cannot_be_compared_are_refused() -> None:
    v, y = np.linspace(0, 0.4, 60), np.arange(60) < 40
    plain = fit_curve(v, y, n_bootstrap=5)
    with pytest.raises(BandsMissing):
        compare_curves(plain, fit_curve(v, y))
    with pytest.raises(GridMismatch):
        compare_curves(plain, fit_curve(v, y, segments=10, n_bootstrap=5))
    with pytest.raises(LabelSpaceMismatch):
        compare_curves(plain, fit_curve(v, y, label_space=1000, n_bootstrap=5))
    with pytest.raises(NoCommonRange):
        compare_curves(plain, fit_curve(v + 0.6, y, n_bootstrap=5))
    assert compare_all({"low": plain, "high": fit_curve(v + 0.6, y, n_bootstrap=5)}) == {}


def test_both_equivalent_and_different_says_by_how_much() -> None:
    curves, _ = two_samples(1, people=20, each=20)
    found = replace(compare_curves(*curves), equivalent=True, different=True, verdict="equivalent", difference=-0.0123)
    assert found.statement == "equivalent, differs by 0.012"
