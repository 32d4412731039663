"""Models beside people: what is claimed, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from analysis.claims.claim import Claim
from analysis.wording import joined

#: What "undecided" is planned against, frozen with the method: a true difference in mean accuracy, and the power.
TRUE_GAP, POWER = 0.05, 0.8

_CONDITIONS = (
    "people see a picture for the study's exposure and a mask, models have no limit of time; accepted sessions of this "
    "crowd; inference is to new people like these and new originals of these categories"
)

DIFFERS = Claim(
    name="model-differs-from-people",
    statement="{model} differs from people (above / below / crosses) on {count} of {corruptions} corruptions.",
    estimand="the model's accuracy minus that of people (the mean over people), averaged over windows of .15 of visual "
    "change and over everything measured",
    conditions=f"{_CONDITIONS}; corrected over models, corruptions and windows together",
    promise="false claims at most",
    rate=0.05,
)
MATCHES = Claim(
    name="model-matches-people",
    statement="{model} matches people on {corruption}: mean accuracies over the measured windows (conditions) "
    "within {margin}, every window of .15 (condition) within {window_margin}.",
    estimand=DIFFERS.estimand,
    conditions=f"{_CONDITIONS}; a narrower difference than a window is not claimed absent; at least four in five of "
    "people's answers surely came from looking; at the level of one model and corruption, all of which must match",
    promise="false claims at most",
    rate=0.05,
)
DIFFERENCE = Claim(
    name="model-minus-people",
    statement="{model}'s mean accuracy over the measured windows (conditions) is {difference} above or below that of "
    "people (95 % interval {low} to {high}).",
    estimand="mean over corruptions of the model's accuracy minus that of people, over everything measured",
    conditions=_CONDITIONS,
    promise="covers in at least",
    rate=0.95,
)
MEAN_INDICES = Claim(
    name="mean-hmri-and-mrsi",
    statement="{model} on average over {corruptions} corruptions: HMRI {hmri} (95 % interval {low} to {high}), MRSI "
    "{mrsi} (95 % interval {low} to {high}).",
    estimand="means over corruptions of HMRI and MRSI of the true curves (VCR, section 3.3); no verdict rests on them",
    conditions=f"{_CONDITIONS}; an interval reaches the edge (HMRI 1, MRSI 0) on every corruption on which the model "
    "was not shown to lead or to fall behind",
    promise="covers in at least",
    rate=0.95,
)
CEILING = Claim(
    name="ceiling-of-hmri-and-mrsi",
    statement="A simulated twin of people reaches HMRI {hmri} (90 % of twins: {low} to {high}) and MRSI {mrsi} (90 %: "
    "{low} to {high}) at this size.",
    estimand="HMRI and MRSI that a model answering by people's own curve is found to have in a study of this size, on "
    "one corruption and as a mean over corruptions",
    conditions="accuracy; the same people, pictures and numbers of answers, the twin answers each picture once; what "
    "is hard for people is as hard for the twin, as far as people's answers to the same pictures tell; no verdict "
    "rests on it",
    promise="covers in at least",
    rate=0.85,
)
RANKS = Claim(
    name="rank-sets",
    statement="{model} is rank {best} to {worst} of {models} by mean accuracy; or: these data do not order the "
    "{models} models.",
    estimand="the place of each model by its mean accuracy over everything measured and over corruptions; models of "
    "equal accuracy share all the places of their group, and the set of each holds all of them",
    conditions="models that answered the same pictures of the same corruptions; for all models at once; inference is "
    "to new originals of these categories and to these weights of the models; no rank rests on HMRI or MRSI",
    promise="covers in at least",
    rate=0.95,
)
ANSWERS_THAT_DECIDE = Claim(
    name="answers-that-decide",
    statement="undecided: {answers} answers would show a model without any difference to match (two corruptions to be "
    "equivalent), and {answers} a difference of .05 in mean accuracy.",
    estimand="people's answers with which a new study reaches the word, where nothing differs, or mean accuracy by .05",
    conditions="as many answers of a person as in this study, of more people like these, on new originals; the same "
    "models and corruptions are asked about together; never computed at the difference that was found",
    promise="comes true in at least",
    rate=POWER,
)
FRAGILITY = Claim(
    name="verdict-hangs-on",
    statement="The verdict on {model} hangs on {size} of {count} sessions (pictures, categories): without them it is "
    "{word}.",
    estimand="the smallest set whose removal changes the word of the same analysis of the remaining study",
    conditions="no inference: about these answers; up to the size that is said to be exact every set was tried, larger "
    "ones step by step (at most so many); a change that holds only within the Monte Carlo error of the step-down is "
    "left out",
    promise="false claims at most",
    rate=0.05,
)
CLAIMS = (DIFFERS, MATCHES, DIFFERENCE, ANSWERS_THAT_DECIDE, FRAGILITY, MEAN_INDICES, CEILING, RANKS)


def verdict_words(*, matches: bool, differs: bool, direction: str | None, difference: float) -> str:
    """The verdict on a model, to follow its name."""
    if matches:
        return f"matches people, differs by {abs(difference):.3f}" if differs else "matches people"
    if differs:
        return f"differs from people ({direction})"
    return "undecided"


def measured_words(have_conditions: Iterable[bool]) -> str:
    """What a mean accuracy is over, where each of these comparisons is of conditions, or else of windows."""
    kinds = {"conditions" if one else "windows" for one in have_conditions}
    return f"the measured {' and '.join(sorted(kinds)) or 'windows'}"


def mean_accuracy_note(measured: str) -> str:
    """Beside a table with mean accuracies and areas: they weigh the axis differently."""
    return (
        f"Mean accuracy is over {measured}, from the answers themselves. R̂ is the area under the fitted curve over the "
        "axis: the difference of two areas is another number."
    )


def overall_word(*, matches: bool, differs: bool) -> Literal["matches", "differs", "undecided"]:
    """One word; what matches and differs, by less than the margins, matches."""
    if matches:
        return "matches"
    return "differs" if differs else "undecided"


_NOT_MEASURED = "undecided: a part of the range between was not measured"
#: More thin categories than this are counted.
_MOST_NAMED = 3


def withheld_words(
    thin: Sequence[tuple[str, Sequence[tuple[float, float]], int]], *, fewest: int, stretch: float
) -> str:
    """Why there is no verdict on a model, and what would mend that.

    Parameters
    ----------
    thin : sequence of (str, sequence of (float, float), int)
        Categories with the stretches, within [0, 1] and in order, in which they have too few pictures, and how many
        more of them would do; none where answers are few in all categories.
    fewest : int
        Answers of people and of the model that a stretch of the axis needs.
    stretch : float
        Its width, in (0, 1].
    """
    if not thin:
        return (
            f"no verdict: no {stretch:g} of the axis holds {fewest} answers of people and of the model; {fewest} of "
            f"either in each would take {round(fewest / stretch)} answers, spread evenly"
        )
    told = [
        f"{name} between {where[0][0]:.2f} and {where[-1][1]:.2f} ({more} more"
        f"{', spread evenly where it is missing, would mend it' if place == 0 else ''})"
        for place, (name, where, more) in enumerate(thin[:_MOST_NAMED])
    ]
    left = len(thin) - len(told)
    if left:
        told.append(f"{left} more categor{'y' if left == 1 else 'ies'}")
    return f"no verdict: categories count equally, and too few pictures are of {joined(told)}"


def undecided_words(
    *,
    gaps: int,
    careless: bool,
    answers_to_match: int,
    answers_to_differ: int,
    alike: str = "a model without any difference to match",
    stretches: Sequence[tuple[float, float]] = (),
) -> str:
    """Why nothing is said of a model, or of whatever was compared, and what would decide it."""
    if gaps:
        where = ", ".join(f"from {start:.2f} to {end:.2f}" for start, end in stretches)
        return f"undecided: the range {where} was not measured" if where else _NOT_MEASURED
    if careless:
        return "undecided: this crowd could not have shown it, too few of its answers surely came from looking"
    return (
        f"undecided: {answers_to_match:,} answers would show {alike}, and "
        f"{answers_to_differ:,} a difference of {TRUE_GAP:g} in mean accuracy"
    )


def planned_words(
    *,
    people: int,
    corruptions: int,
    answers: int,
    matches: float,
    own_matches: float,
    matches_one: float,
    own_matches_one: float,
    gap: float,
    gap_differs: float,
) -> tuple[str, ...]:
    """What a study of this size would say of models, before anybody is invited: one or two sentences.

    Parameters
    ----------
    people, corruptions, answers : int
        Answers of people on each corruption.
    matches, own_matches : float
        Share of simulated studies in which a model exactly like people matches on all corruptions: on pictures that
        are hard for both, and where other pictures are hard for it.
    matches_one, own_matches_one : float
        The same on one corruption.
    gap, gap_differs : float
        Difference of area, and how often it is said on one corruption.
    """
    if f"{matches:.2f}" == f"{own_matches:.2f}":
        rate = f"in {100 * matches:.0f} % of such studies, whichever pictures are hard for it"
    else:
        rate = (
            f"in {100 * matches:.0f} % of such studies if the same pictures are hard for it, in "
            f"{100 * own_matches:.0f} % if others are"
        )
    one = " and ".join(dict.fromkeys(f"{100 * share:.0f} %" for share in (matches_one, own_matches_one)))
    on_all, on_one = ("", "") if corruptions == 1 else (f" on all {corruptions} corruptions", f"; on one in {one}")
    few = "" if min(matches, own_matches) >= POWER else ". Else it mostly stays undecided, which is no sign against it"
    return (
        f"With {people:,} people and {answers:,} answers on {'the' if corruptions == 1 else 'each'} corruption, a "
        f"model that is exactly like people would be said to match them{on_all} {rate}{on_one}{few}.",
        f"A model whose area is smaller by {gap:g} would be said to differ on a corruption in "
        f"{100 * gap_differs:.0f} %.",
    )


def fragility_words(*, unit: str, count: int, size: int, word: str | None, tried: int, exact: int) -> str:
    """How few units of a kind decide a verdict; ``size`` is 0 where no set was found."""
    if not tried:
        return "not sought: the study is too large"
    if not size:
        found = "no set" if exact >= tried else "no set found"
        return f"{found} of up to {tried} of {count:,} {unit}"
    most = "at most " if size > exact + 1 else ""
    return f"{most}{size} of {count:,} {unit} (without {'it' if size == 1 else 'them'}: {word})"


def individuals_words(*, people: int, answers: int, matches: int, differs: int, undecided: int, too_few: int) -> str:
    """What people would be called by the rule for models."""
    if too_few == people:
        return (
            f"None of {people:,} people gave enough answers to be judged as a model is ({answers:,} on the median): "
            "whether single people would match the others is not known"
        )
    said = f"{matches:,} of {people:,} people, judged one at a time against the others, would match"
    few = f" ({too_few:,} with too few answers for the rule)" if too_few else ""
    return (
        f"{said}, {differs:,} differ and {undecided:,} be undecided{few}; a person gave {answers:,} answers on the "
        "median, a model answered all pictures"
    )


def twin_words(
    *, hmri: float, hmri_range: tuple[float, float], mrsi: float, mrsi_range: tuple[float, float], shared_by: str
) -> str:
    """What a simulated twin of people reaches at this size."""
    own = {
        "stimuli": "",
        "originals": "; how much twins share of what is hard is estimated from originals, and rather too low",
        "nothing": "; too few answers to the same pictures tell what is hard for everybody, so twins share none of it",
    }[shared_by]
    return (
        f"A simulated twin of people reaches HMRI {hmri:.3f} (90 % of twins: {hmri_range[0]:.3f} to "
        f"{hmri_range[1]:.3f}) and MRSI {mrsi:.3f} (90 %: {mrsi_range[0]:.3f} to {mrsi_range[1]:.3f}) at this size{own}"
    )


def method_sentence(*, pairs: int, margin: float, window_margin: float, window: float) -> str:
    """How models were judged, for methods and results."""
    return (
        "Whether a model matches people in accuracy was asked of the difference of their mean accuracies (the mean "
        "over people, each counting once; categories weighted as along the curves) over everything measured and over "
        "every window of "
        f"{window:g} of visual change, without a curve in between; variances are two-way over people "
        "and originals. A model matches where all 90 % "
        f"intervals lie within {margin:g} and {window_margin:g}; it differs where a step-down over all {pairs} pairs "
        "of model and corruption with their windows says so at level 0.05."
    )


#: Beside a table with ranks.
RANKS_NOTE = (
    "Ranks are the places that the data leave open by mean accuracy, for all models together at 95 %; models that "
    "share a place are not ordered."
)
#: Beside ranks at fixed levels, which are places as published ones are.
LEVEL_RANKS_NOTE = (
    "These ranks are places by the numbers beside them, as in published tables: they describe these pictures, and no "
    "change of place is claimed for others. Which order of the models the data support is said by the ranks of the "
    "leaderboard."
)
#: In which order rows stand that a reader could take for a ranking.
ORDER_BY_ACCURACY = "Ordered by mean accuracy."
ORDER_BY_HMRI = "Ordered by HMRI, which ranks no models."


def rank_words(best: int, worst: int) -> str:
    """The places that the data leave open to a model."""
    return str(best) if best == worst else f"{best} to {worst}"


def order_sentence(ranks: Mapping[str, tuple[int, int]]) -> str:
    """What the data say of the order of two or more models by mean accuracy."""
    count = len(ranks)
    if all(places == (1, count) for places in ranks.values()):
        return f"By mean accuracy these data do not order the {count} models: a tie"
    first = [name for name, (best, _) in ranks.items() if best == 1]
    if len(first) == 1:
        return f"By mean accuracy {first[0]} is the first of {count} models"
    return f"By mean accuracy the first place among {count} models is open to {_counted(first)}"


def ranks_sentence(ranks: Mapping[str, tuple[int, int]]) -> str:
    """Which places are open to each of two or more models."""
    by_places: dict[tuple[int, int], list[str]] = {}
    for name, places in ranks.items():
        by_places.setdefault(places, []).append(name)
    listed = "; ".join(f"{', '.join(names)} {rank_words(*places)}" for places, names in sorted(by_places.items()))
    return (
        f"{order_sentence(ranks)}. Ranks, for all models together at 95 % (Mogstad et al. 2024; models that share a "
        f"place are not ordered): {listed}."
    )


def models_sentence(matching: Sequence[str], differing: Sequence[str], undecided: Sequence[str], *, where: str) -> str:
    """How many models match people, differ, or are undecided; ``where`` names the corruptions.

    A model that matches and differs, by less than the margins, counts among the matching ones. Nothing is said of
    words that no model has: "none matches" would be read as shown.
    """
    total = len(matching) + len(differing) + len(undecided)
    if not matching and not differing:
        subject = f"the model {undecided[0]}" if total == 1 else f"any of {total} models"
        return f"Whether {subject} matches people {where} is undecided"
    if total == 1:
        return f"The model {(*matching, *differing)[0]} {'matches' if matching else 'differs from'} people {where}"
    groups = ((matching, "matches", "match", "people"), (differing, "differs", "differ", "from people"))
    parts = [
        f"{_counted(names)} {one if len(names) == 1 else several} {rest}"
        for names, one, several, rest in groups
        if names
    ]
    if undecided:
        parts.append(f"{_counted(undecided)} {'is' if len(undecided) == 1 else 'are'} undecided")
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"Of {total} models, {where}, {listed}"


def _counted(names: Sequence[str]) -> str:
    """How many, with their names as long as they are few."""
    return f"{len(names)} ({', '.join(names)})" if len(names) < 4 else str(len(names))
