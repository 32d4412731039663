"""Same/different and ABX of models in words: the same d' of the same planned trials as people's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.clusters import exact_bound
from analysis.findings.discrimination import finite, finite_ends, tested
from analysis.findings.model.told_apart import ModelDiscrimination
from analysis.observers.comparisons import ANSWERS, TASKS
from analysis.similarity.verdicts import holm
from analysis.study.analysis_plan import ObserverModel
from analysis.study.design import DiscriminationForm

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class ComparisonSummary:
    """What became of all comparisons of one model.

    Attributes
    ----------
    trials, plain : int
        Comparisons that are asked about, and plain ones.
    correct, plain_correct : int
    kinds : dict of str to int
        Over both.
    first_option : float or None
        Share of the answers that name the word offered first; None without an answer.
    first_option_interval : tuple of float or None
        95 %, exact.
    tokens_in, tokens_out : int
    """

    trials: int
    plain: int
    correct: int
    plain_correct: int
    kinds: dict[str, int]
    first_option: float | None
    first_option_interval: tuple[float, float] | None
    tokens_in: int
    tokens_out: int


def comparison_summary(rows: pd.DataFrame) -> ComparisonSummary:
    """Count the answers of one model.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns of `analysis.tables.comparisons.COMPARISONS`.
    """
    main, plain = (rows[rows["role"] == role] for role in ("main", "negative"))
    named = rows[rows["kind"] == "label"]
    share = interval = None
    if len(named):
        first = sum(
            ANSWERS[TASKS[task]][shown.split()[0]] == response
            for task, shown, response in zip(named["task"], named["shown"], named["response"], strict=True)
        )
        share, interval = first / len(named), exact_bound(first, len(named), 0.025)
    return ComparisonSummary(
        trials=len(main),
        plain=len(plain),
        correct=int(main["correct"].sum()),
        plain_correct=int(plain["correct"].sum()),
        kinds={str(kind): int(count) for kind, count in rows["kind"].value_counts().items()},
        first_option=share,
        first_option_interval=interval,
        tokens_in=int(rows["tokens_in"].sum()),
        tokens_out=int(rows["tokens_out"].sum()),
    )


def model_discrimination_entries(
    rows: pd.DataFrame,
    *,
    d_prime_margin: Mapping[DiscriminationForm, float],
    observer_model: ObserverModel,
    level: float,
) -> list[ModelDiscrimination]:
    """Test every pair of corruptions that a model compared.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns of `analysis.tables.comparisons.COMPARISONS`.
    d_prime_margin, observer_model, level
        As for people, `analysis.findings.discrimination.discrimination_entries`.

    Returns
    -------
    list of ModelDiscrimination
        By model, form and pair.

    Notes
    -----
    A model is one observer with one criterion, and sees each comparison once: its answers are independent. Its trials
    are sorted into pairs as people's are.
    """
    entries: list[ModelDiscrimination] = []
    for name, own in rows.groupby("classifier", sort=True):
        found = []
        for task, form in TASKS.items():
            of_task = own[own["task"] == task].sort_values("position", kind="stable")
            main = of_task[of_task["role"] == "main"].assign(participant=name)
            if main.empty:
                continue
            about = comparison_summary(of_task)
            for one in tested(
                main, form, plain=None, d_prime_margin=d_prime_margin[form], observer_model=observer_model, level=level
            ):
                found.append((one, form, about, main))
        adjusted = holm([one.test.p for one, *_ in found])
        for (one, form, about, main), p in zip(found, adjusted, strict=True):
            test = one.test
            kinds = main.loc[one.chosen, "kind"].value_counts()
            entries.append(
                ModelDiscrimination(
                    observer=str(name),
                    pair=one.pair,
                    form=form,
                    trials=test.trials,
                    correct=test.correct,
                    accuracy=test.accuracy,
                    interval=test.interval,
                    kinds={str(kind): int(count) for kind, count in kinds.items()},
                    p=test.p,
                    p_adjusted=p,
                    different=p < 0.05,
                    observer_model=test.observer_model,
                    d_prime=finite(test.d_prime),
                    d_prime_interval=finite_ends(test.d_prime_interval) if test.d_prime_interval else None,
                    hit_rate=test.hit_rate,
                    false_alarm_rate=test.false_alarm_rate,
                    criterion=test.criterion,
                    plain=about.plain,
                    plain_correct=about.plain_correct,
                    first_option=about.first_option,
                    first_option_interval=about.first_option_interval,
                )  # fmt: skip
            )
    return entries
