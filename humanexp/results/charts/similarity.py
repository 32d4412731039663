"""Which corruptions are alike for people and for classifiers, and which can people tell apart?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.claims.telling_apart import AS_PUBLISHED, FORMS, OBSERVERS, OWN_INTERVAL, rule_sentence
from analysis.figures.rows import Pair, similarity_figure
from analysis.figures.table import Cell, Column, Table
from analysis.findings.model.curves import Discrimination, Similarity
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.findings.model.told_apart import ModelDiscrimination
from humanexp.results.charts.chart import (
    Chart,
    ChartChoice,
    Family,
    only_chart,
    population_keys,
    population_label,
    ranges_words,
    readable,
)


def entries_of(findings: Findings, measure: str, population: str) -> list[Similarity]:
    """Pairs of one population; `population` is a value of `population_keys`."""
    keys = population_keys(findings)
    return [
        entry
        for entry in (*findings.similarity, *findings.classifier_similarity)
        if entry.property == measure and keys[entry.population] == population
    ]


def pairs_table(entries: list[Similarity], title: str, about: tuple[str, ...]) -> Table:
    """One row a pair; `about` is what is said of whoever answered."""
    return Table(
        "similarity",
        title,
        (
            Column("first", "First"),
            Column("second", "Second"),
            Column("difference", "Mean difference", "estimate"),
            Column("p_holm", "p (corrected)", "p"),
            Column("overlap_83", "83 % bands"),
            Column("overlap_83_pointwise", "83 % bands, pointwise"),
            Column("verdict", "Verdict"),
            Column("answers", "Answers", "count"),
            Column("answers_to_decide", "Would show equal ones to be equivalent", "count"),
            Column("answers_to_differ", "Would show .05 to differ", "count"),
        ),
        tuple(
            (
                readable(entry.pair[0]),
                readable(entry.pair[1]),
                (entry.difference, *entry.interval),
                entry.p_adjusted,
                _overlap(entry.overlap_83),
                _overlap(entry.overlap_83_pointwise),
                _verdict(entry),
                entry.answers,
                entry.answers_to_decide,
                entry.answers_to_differ,
            )
            for entry in entries
        ),
        (*(f"Margin of equivalence ±{entry.margin:g}." for entry in entries[:1]), *about),
    )


def _verdict(entry: Similarity) -> str:
    """The verdict, and where the first is shown to be higher and lower where they differ."""
    where = [
        f"{word} at Δv {ranges_words(ranges)}"
        for word, ranges in (("higher", entry.higher_on), ("lower", entry.lower_on))
        if ranges
    ]
    return f"{entry.verdict} ({', '.join(where)})" if where else entry.verdict


def _overlap(value: bool) -> str:
    return "overlap" if value else "part"


def _choices_similarity(findings: Findings) -> list[ChartChoice]:
    pairs = dict.fromkeys(
        (entry.property, entry.population) for entry in (*findings.similarity, *findings.classifier_similarity)
    )
    keys = population_keys(findings)
    return [
        ChartChoice(f"similarity--{measure}--{keys[population]}", population_label(population), measure)
        for measure, population in sorted(pairs, key=lambda pair: (pair[0] != "accuracy", pair[1] != HUMANS))
    ]


def _build_similarity(findings: Findings, key: str) -> Chart:
    _family, measure, population = key.split("--")
    entries = entries_of(findings, measure, population)
    label, is_of_people = population_label(entries[0].population), entries[0].population == HUMANS
    names = list(dict.fromkeys(name for entry in entries for name in entry.pair))
    title = f"Similarity of corruptions for {label}, {measure}"
    pairs = [
        Pair(
            first=readable(entry.pair[0]),
            second=readable(entry.pair[1]),
            difference=entry.difference,
            verdict=entry.verdict,
            detail=_detail(entry),
        )
        for entry in entries
    ]
    return Chart(
        key=key,
        title="Are these corruptions alike?",
        figure=similarity_figure([readable(name) for name in names], pairs, title=title),
        tables=(pairs_table(entries, title, findings.about_people if is_of_people else ()),),
        definition=(
            (
                "Equivalent: the difference of mean accuracies lies within the margin over everything measured, and "
                "within ±0.10 over every window of 0.15 of visual change (two one-sided tests each). Margins shrink by "
                "the share of answers that may not have come from looking; below 80 % from looking, nothing is called "
                "equivalent."
            ),
            ("Different: a window, or the mean, differs at level 0.05, corrected over all windows and pairs together."),
            (
                "Undecided: neither. Undecided is not similar. The table says with how many answers two corruptions "
                "without any difference would be shown to be equivalent, and a difference of 0.05 in mean "
                "accuracy to be different."
            ),
        ),
        caveats=(
            "On the range of visual change that both corruptions measured.",
            "The papers' rule, overlap of 83 % bands, stands beside the verdict and does not enter it.",
        ),
    )


def _detail(entry: Similarity) -> str:
    first, second = (readable(name) for name in entry.pair)
    low, high = entry.interval
    return f"{first} · {second}: {_verdict(entry)}, difference {entry.difference:.3f} [{low:.3f}, {high:.3f}]"


SIMILARITY = Family("similarity", _choices_similarity, _build_similarity)


_TOLD_APART = (
    "Same/different: two pictures of equal visual change; half of the pairs are of two corruptions.",
    "ABX: A and B of two corruptions, then X of one of them; either is right in half of the trials.",
    (
        "d′: sensitivity under the named observer model, freed of bias; criteria differ from person to person. "
        "Different: d′ above 0, Holm's correction over all pairs, level 0.05."
    ),
    (
        "Equivalent: the one-sided 95 % bound of d′ lies below the margin, with as many careless answers as "
        "plain pairs of the same sessions leave possible. Answers of one person are a cluster."
    ),
)


def _build_discrimination(findings: Findings, key: str) -> Chart:
    return Chart(
        key=key,
        title=f"Can people{' and models' if findings.model_discrimination else ''} tell the corruptions apart?",
        figure=None,
        tables=(
            *_told_apart(findings),
            *_published_tables(findings.discrimination),
            *_replies_of_models(findings),
        ),
        definition=_TOLD_APART,
        caveats=(
            "Undecided is not indistinguishable. Without plain pairs no pair is called equivalent.",
            (
                "d′ depends on what observers do with the pictures: the same answers stand for another d′ under "
                "another model."
            ),
        ),
    )


def _told_apart(findings: Findings) -> Iterator[Table]:
    """People, and below them, pair by pair, models in words that answered the same comparisons."""
    entries, models = findings.discrimination, findings.model_discrimination
    rows: list[tuple[Cell, ...]] = []
    for entry in entries:
        rows.append(
            (
                "people",
                *map(readable, entry.pair),
                FORMS[entry.form],
                entry.trials,
                entry.correct,
                (entry.accuracy, *entry.interval),
                (entry.d_prime, *(entry.d_prime_interval or (None, None))),
                entry.d_prime_upper,
                entry.other_model.d_prime if entry.other_model else None,
                entry.p_adjusted,
                entry.said,
            )
        )
        rows += [_of_model(one) for one in models if (one.pair, one.form) == (entry.pair, entry.form)]
    known = {(entry.pair, entry.form) for entry in entries}
    rows += [_of_model(one) for one in models if (one.pair, one.form) not in known]
    columns = (
        Column("observer", "Observer"),
        Column("first", "First"),
        Column("second", "Second"),
        Column("form", "Form"),
        Column("trials", "Trials", "count"),
        Column("correct", "Right", "count"),
        Column("accuracy", "Share right", "estimate"),
        Column("d_prime", "d′", "estimate", 2),
        Column("d_prime_upper", "d′ at most", "number", 2),
        Column("d_prime_other", "d′, other model", "number", 2),
        Column("p_holm", "p (Holm)", "p"),
        Column("verdict", "Verdict"),
    )
    kept = 0 if models else 1
    notes = (*(_notes(findings) if entries else ()), *(_ABOUT_MODELS if models else ()))
    yield Table(
        "discrimination",
        "Pairs of corruptions told apart",
        columns[kept:],
        tuple(row[kept:] for row in rows),
        notes,
    )


_ABOUT_MODELS = (
    "Models have no limit of viewing time, no mask and no practice, and answer each planned comparison once. Refused, "
    "unreadable and empty replies are wrong and enter no d\u2032. A model is one observer: its intervals are for new "
    "pictures, p is corrected over its own pairs, and nothing is called equivalent of it.",
)


def _of_model(one: ModelDiscrimination) -> tuple[Cell, ...]:
    return (
        one.observer,
        *map(readable, one.pair),
        FORMS[one.form],
        one.trials,
        one.correct,
        (one.accuracy, *one.interval),
        (one.d_prime, *(one.d_prime_interval or (None, None))),
        None,
        None,
        one.p_adjusted,
        "different" if one.different else "undecided",
    )


def _replies_of_models(findings: Findings) -> Iterator[Table]:
    """Bias and replies of models in words; nothing where none compared."""
    entries = findings.model_discrimination
    if not entries:
        return
    yield Table(
        "models",
        "Models in words: bias, and what became of their replies",
        (
            Column("observer", "Model"),
            Column("first", "First"),
            Column("second", "Second"),
            Column("form", "Form"),
            Column("criterion", "Bias to \u201csame\u201d or the first", "number", 2),
            Column("refused", "Refused", "count"),
            Column("unreadable", "Unreadable", "count"),
            Column("empty", "Empty", "count"),
            Column("error", "Errors", "count"),
            Column("first_option", "Word offered first named", "estimate"),
            Column("plain_correct", "Plain ones right", "count"),
            Column("plain", "of", "count"),
        ),
        tuple(
            (
                one.observer,
                *map(readable, one.pair),
                FORMS[one.form],
                one.criterion,
                *(one.kinds.get(kind, 0) for kind in ("refusal", "unreadable", "miss", "error")),
                None if one.first_option is None else (one.first_option, *(one.first_option_interval or (None, None))),
                one.plain_correct,
                one.plain,
            )
            for one in entries
        ),
        (
            "Plain comparisons and the word offered first are of all pairs of a form together; without a preference "
            "the word offered first is named in 0.5.",
        ),
    )


def _published_tables(entries: Sequence[Discrimination]) -> Iterator[Table]:
    """The paper's test of the same answers; nothing where an earlier version made none."""
    known = [(entry, entry.published) for entry in entries if entry.published]
    if not known:
        return
    yield Table(
        "binomial",
        "Binomial test, as published",
        (
            Column("first", "First"),
            Column("second", "Second"),
            Column("form", "Form"),
            Column("answers", "Answers given", "count"),
            Column("correct", "Right", "count"),
            Column("share", "Share right", "number"),
            Column("accuracy", "Of all trials (ours)", "estimate"),
            Column("p", "p, as published", "p"),
            Column("p_holm", "p (Holm), ours", "p"),
            Column("withheld", "No p"),
        ),
        tuple(
            (
                *map(readable, entry.pair),
                FORMS[entry.form],
                test.trials,
                test.correct,
                test.share,
                (entry.accuracy, *entry.interval),
                test.p,
                test.p_holm,
                test.withheld,
            )
            for entry, test in known
        ),
        (AS_PUBLISHED, OWN_INTERVAL),
    )


def _notes(findings: Findings) -> tuple[str, ...]:
    entries = findings.discrimination
    notes = [f"Guessing gives 0.5; {100 * findings.level:g} % intervals."]
    for form in dict.fromkeys(entry.form for entry in entries):
        one = next(entry for entry in entries if entry.form == form)
        notes.append(
            rule_sentence(form=form, margin=one.margin, d_prime_margin=one.margin_d_prime, model=one.observer_model)
        )
    others = {entry.other_model.model for entry in entries if entry.other_model}
    notes += [f"Other model: {OBSERVERS[name]}." for name in sorted(others)]
    return (*notes, *findings.about_people)


DISCRIMINATION = only_chart(
    "discrimination",
    "all pairs",
    lambda findings: findings.discrimination or findings.model_discrimination,
    _build_discrimination,
)
