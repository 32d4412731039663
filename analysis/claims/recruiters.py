"""Several recruiters in one study: the pooled estimate, and their crowds beside each other."""

from __future__ import annotations

from typing import Literal

from analysis.claims.claim import Claim

RecruitersWord = Literal["alike", "different", "undecided"]

#: Difference of mean accuracy for which sizes are planned, and with which power: frozen with the method.
TRUE_GAP, POWER = 0.03, 0.9
#: Shares of people who may have taken part twice without anybody noticing.
REPEATS = (0.02, 0.05)

_CONDITIONS = (
    "the study's exposure and task; accepted sessions of the people whom these recruiters sent, each person counting "
    "once and the categories equally; inference is to new people like these and new originals of these categories"
)
POOLED = Claim(
    name="recruiters-pooled-area",
    statement="The area is {area} [{lower}, {upper}], with the recruiters weighted as the plan has fixed.",
    estimand="sum over the recruiters of the plan's weight times the area under the mean curve of their people",
    conditions=_CONDITIONS,
    promise="covers in at least",
    rate=0.93,
)
ALIKE = Claim(
    name="recruiters-alike",
    statement="The people of {first} and {second} are alike in mean accuracy within {margin}.",
    estimand="mean accuracy of the one recruiter's people minus that of the other's at equal visual change, averaged "
    "over everything that both measured and over the study's corruptions, of answers that came from looking",
    conditions=f"{_CONDITIONS}; at least four in five answers of both surely came from looking, and the margin shrinks "
    "by the share that may not have; curves that cross can be alike in mean accuracy; at the level of one pair",
    promise="false claims at most",
    rate=0.05,
)
DIFFERENT = Claim(
    name="recruiters-different",
    statement="The people of {first} and {second} are different in mean accuracy.",
    estimand=ALIKE.estimand,
    conditions=f"{_CONDITIONS}; corrected over all pairs of recruiters together",
    promise="false claims at most",
    rate=0.05,
)
DIFFERENCE = Claim(
    name="recruiter-minus-recruiter",
    statement="The mean accuracy of {first} is {difference} above or below that of {second} (90 % interval {low} to "
    "{high}).",
    estimand="the same difference, of the answers as they are",
    conditions=f"{_CONDITIONS}; with four people of each recruiter it covers in 86 of 100 studies, from 12 on in 89",
    promise="covers in at least",
    rate=0.90,
)
PLANNED = Claim(
    name="recruiters-planned",
    statement="To find a difference of {difference} with a power of {power} takes {people} people of each recruiter.",
    estimand="people of each of two recruiters with whom a true difference of this size is called a difference",
    conditions=f"{_CONDITIONS}; people and pictures spread as they are believed to",
    promise="comes true in at least",
    rate=POWER,
)
REPEATED = Claim(
    name="recruiters-repeats",
    statement="If {share} of the people had taken part twice unnoticed, the pooled mean accuracy would move by at "
    "most {shift} without their second sessions, and its interval would be at most {width} wide.",
    estimand="the pooled mean accuracy without the second sessions of so many people, whoever they are; and the width "
    "of its 95 % interval if sessions of one person are known to be",
    conditions=f"{_CONDITIONS}; whoever took part twice came through two recruiters and did the same both times as far "
    "as the answers of any two people are alike",
    promise="comes true in at least",
    rate=0.95,
)
CLAIMS = (POOLED, ALIKE, DIFFERENT, DIFFERENCE, PLANNED, REPEATED)


def verdict_words(
    word: RecruitersWord,
    *,
    differs: bool,
    names: tuple[str, str],
    difference: float,
    gaps: bool,
    careless: bool,
    times_to_match: float,
    times_to_differ: float,
    too_few: str = "",
) -> str:
    """The verdict on the crowds of two recruiters; if it is open, why, and what would decide it.

    Parameters
    ----------
    word : {"alike", "different", "undecided"}
    differs : bool
        A difference was shown; by less than the margin, if they are alike.
    names : tuple of str
    difference : float
        Of mean accuracy, the first minus the second.
    gaps : bool
        A stretch between was not measured by both.
    careless : bool
        They would be alike, had more answers surely come from looking.
    times_to_match, times_to_differ : float
        So many times as many people would decide it with the planned power.
    too_few : str
        Why nothing is said of people at large; empty where enough answered.
    """
    if too_few:
        return f"undecided: {too_few}"
    if word == "alike":
        return f"alike in mean accuracy, differ by {abs(difference):.3f}" if differs else "alike in mean accuracy"
    if word == "different":
        first, second = names
        return f"different: {first} is {abs(difference):.3f} {'above' if difference > 0.0 else 'below'} {second}"
    if gaps:
        return "undecided: a part of the range between was not measured by both"
    if careless:
        return "undecided: these crowds could not have shown it, too few of their answers surely came from looking"
    return (
        f"undecided: {times_to_match:.1f} times as many people would show two crowds without any difference to be "
        f"alike, and {times_to_differ:.1f} times as many a difference of {TRUE_GAP:g}"
    )


def marked_sentence(sessions: int) -> str:
    """Sessions that count although the browser had begun the study through another recruiter."""
    begun = "1 session that counts was" if sessions == 1 else f"{sessions:,} sessions that count were"
    return f"{begun} opened in a browser in which the study had been begun through another recruiter."


def too_few_sentence(names: tuple[str, str]) -> str:
    """Why nothing is said of two recruiters' crowds."""
    return f"{' and '.join(names)} have too few answers at equal visual change to be compared."


def repeats_sentence(*, share: float, people: int, corruption: str, shift: float, width: float, at_most: float) -> str:
    """What unnoticed repeats could do to the pooled estimate on one corruption."""
    who = "1 person" if people == 1 else f"{people:,} people"
    return (
        f"{corruption}: if {100 * share:g} % of the participants ({who}) had taken part a second time through another "
        f"recruiter without anybody noticing, the pooled mean accuracy would move by at most {shift:.3f} without their "
        f"second sessions, and its interval, {width:.3f} wide, would be at most {at_most:.3f} wide."
    )


#: Beside everything that is said of several recruiters whose people were asked, and of others.
IDENTITY_NOTE = (
    "Nobody took part twice through one recruiter. Across recruiters people were asked at the entry, and their "
    "browsers were marked: as far as known, nobody took part through two."
)
NOT_ASKED_NOTE = (
    "Nobody took part twice through one recruiter. The plan names no recruiters, so people were not asked whether they "
    "had taken part through another one: how many did is not known."
)
#: Where the plan names no weights.
UNWEIGHTED_NOTE = (
    "The plan fixes no weights of recruiters: in the pooled estimates every person counts once, so the mix of "
    "recruiters is that of the people who came."
)


def weights_sentence(shares: dict[str, float]) -> str:
    """How the recruiters are weighted in everything that is pooled."""
    listed = ", ".join(f"{name} {share:.3f}" for name, share in shares.items())
    return (
        f"In curves, areas and comparisons the people of each recruiter count together by the weight that the plan "
        f"has fixed: {listed}. Within a recruiter every person counts once."
    )


def method_sentence(*, pairs: int, margin: float) -> str:
    """How the crowds were compared, for methods and results."""
    return (
        "Whether the crowds of two recruiters are alike was asked of the difference of their mean accuracies at equal "
        "visual change over everything that both measured, averaged over corruptions, without a curve in between; "
        f"variances are two-way over people and originals. Two crowds are alike where the 90 % interval lies within "
        f"{margin:g}, a margin shrunk by the share of answers that may not have come from looking; they are different "
        f"where {'the test' if pairs == 1 else f'a step-down over all {pairs} pairs'} says so at level 0.05. The "
        "pooled estimates are the same whatever this says."
    )


def planned_sentence(*, people: int, difference: float, power: float, planned: tuple[int, int], reached: float) -> str:
    """What a study must have to tell two recruiters' crowds apart, and what the plan has.

    Parameters
    ----------
    people : int
        Of each recruiter.
    difference, power : float
    planned : tuple of int
        People of the two recruiters whose crowds are told apart worst.
    reached : float
        Power with these.
    """
    return (
        f"To find that the crowds of two recruiters differ by {difference:g} in mean accuracy with a power of "
        f"{power:g} takes about {people:,} people of each. With {planned[0]:,} and {planned[1]:,} people the power is "
        f"{reached:.2f}."
    )
