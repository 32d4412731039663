"""People of each recruiter with whom their crowds are told apart."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest
from scipy.stats import norm

from analysis.errors import InvalidInput
from analysis.power.crowd import Crowd, LogisticDrop
from analysis.power.recruiters import RecruitersReport, plan_recruiters
from analysis.power.sizes import SizeReport, estimate_sizes
from analysis.power.study import PlannedStudy

STUDY = PlannedStudy(Crowd(100, 20, originals=500), curve=LogisticDrop(bend=0.6, width=0.12), recruiters=(60, 40))


def test_with_as_many_people_as_are_needed_the_power_is_what_was_asked_for() -> None:
    first = plan_recruiters(STUDY, runs=4)
    again = plan_recruiters(replace(STUDY, recruiters=(first.people, first.people)), runs=4)
    assert again.people == first.people and again.reached == pytest.approx(0.9, abs=0.01)
    assert norm.cdf(0.03 / first.error - norm.ppf(0.975)) == pytest.approx(0.9, abs=0.01)


def test_the_power_of_the_plan_follows_from_its_two_smallest_crowds() -> None:
    found = plan_recruiters(replace(STUDY, recruiters=(300, 50, 80)), runs=4)
    assert found.planned == (50, 80)
    error = found.error * sqrt(found.people / 2.0 * (1.0 / 50 + 1.0 / 80))
    # three pairs: the first step of the step-down is the hardest
    assert found.reached == pytest.approx(norm.cdf(0.03 / error - norm.ppf(1.0 - 0.05 / 6)))


def test_larger_differences_and_alike_people_take_fewer() -> None:
    usual = plan_recruiters(STUDY, runs=4).people
    assert plan_recruiters(STUDY, runs=4, difference=0.06).people == pytest.approx(usual / 4, rel=0.15)
    spread = replace(STUDY, crowd=replace(STUDY.crowd, participant_sd=1.5))
    assert plan_recruiters(spread, runs=4).people > 1.5 * usual


def test_one_recruiter_has_nobody_to_be_told_apart_from() -> None:
    with pytest.raises(InvalidInput, match="at least two recruiters"):
        plan_recruiters(replace(STUDY, recruiters=(60,)), runs=2)


def test_it_stands_in_the_report_of_sizes_and_comes_back_from_json() -> None:
    small = replace(STUDY, crowd=replace(STUDY.crowd, people=8))
    told: list[tuple[int, int]] = []
    report = estimate_sizes(
        small, 0.3, runs=2, levels=(0.5, 0.95), progress=lambda done, total, _: told.append((done, total))
    )
    assert isinstance(report.recruiters, RecruitersReport) and report.recruiters.planned == (40, 60)
    assert SizeReport.from_dict(report.to_dict()) == report
    assert told[-1][0] == told[-1][1] == 5 * 2 + 40
    assert PlannedStudy.from_dict(small.to_dict()) == small
