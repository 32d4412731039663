"""Claims about observers beside each other: do they err on the same pictures?"""

from __future__ import annotations

from analysis.claims.claim import Claim

#: Kappa of a pair is shown, and enters the means over pairs, from so many pictures in common.
ENOUGH_PICTURES = 30
#: Pooled kappa rests on conditions with so many common pictures; the others are left out.
ENOUGH_IN_CONDITION = 10
#: Soft agreement rests on pictures that so many people answered; the others are left out.
ENOUGH_ANSWERING = 4

#: In place of a kappa that is none.
UNDEFINED = "undefined: both observers are always right, or both always wrong"

KAPPA_OF_A_PAIR = Claim(
    name="kappa-of-a-pair",
    statement="Error consistency of two observers in a condition: κ = {kappa} [{lower}, {upper}], on {n} pictures.",
    estimand=(
        "Cohen's κ of right and wrong between these two observers, over all pictures of which the common ones of this "
        "condition are a sample."
    ),
    conditions=(
        f"Shown with pictures of {ENOUGH_PICTURES} different originals in common or more, unless both observers are "
        "always right or both always wrong: κ is undefined there. Other observers may agree more or less. Where "
        "pictures share originals, the interval is over originals; with 25 pictures of each of 30 it is too "
        "narrow where the difficulty of a picture is that of its original alone (it covered in .90)."
    ),
    promise="covers in at least",
    rate=0.93,
)

POOLED_KAPPA = Claim(
    name="kappa-pooled",
    statement="Error consistency over every picture that both answered: κ = {kappa} [{lower}, {upper}].",
    estimand=(
        "κ of a random answer of the one and a random answer of the other (or of two people), over all pictures of "
        "which these are a sample; what observers that are independent given the condition would reach is computed "
        "within conditions, from answers to different pictures."
    ),
    conditions=(
        f"Conditions with {ENOUGH_IN_CONDITION} common pictures or more; without such kappa includes shared "
        "difficulty, is named so and has no interval. Pictures of one original count together. People are taken as "
        "they are: that new people may agree more or less is left out; it was tried with people who differ little "
        "(standard deviation .5 on the logit)."
    ),
    promise="covers in at least",
    rate=0.93,
)

SHAPE_BIAS = Claim(
    name="shape-bias",
    statement="Of the answers that name the shape or the texture, {bias} [{lower}, {upper}] name the shape.",
    estimand=(
        "The share of shape among answers that name either, over all people of this kind and all pictures of this "
        "kind; of one observer, over all pictures."
    ),
    conditions=(
        "Several people, or several answers to a picture: those that share either resemble each other. Of a single "
        "observer every picture counts as drawn by itself."
    ),
    promise="covers in at least",
    rate=0.93,
)

BENCHMARK_MEAN = Claim(
    name="benchmark-mean",
    statement="On average over conditions, people and experiments: {value} [{lower}, {upper}].",
    estimand=(
        "Mean accuracy, people's lead in it, corrected squared difference of it, observed consistency or κ of an "
        "observer and people, over new people and new pictures of these experiments."
    ),
    conditions=(
        "Forced choice at the published exposure. Of people among themselves in at least 5 people. Tried with people "
        "who differ (standard deviation .5 on the logit) and pictures that differ (2)."
    ),
    promise="covers in at least",
    rate=0.9,
)

COPIED_SHARE = Claim(
    name="copied-share",
    statement=(
        "As if the less accurate observer copied the other's answer on {share} of the pictures, [{lower}, {upper}]."
    ),
    estimand=(
        "How much more often the less accurate observer is right where the other is right than where the other is "
        "wrong, over all pictures of which the common ones are a sample: the share of copied answers in the model of "
        "Klein et al. (2025)."
    ),
    conditions=(
        "As κ of a pair; none where the more accurate observer is always right. That answers are copied is a way to "
        "read κ: shared difficulty gives the same number."
    ),
    promise="covers in at least",
    rate=0.93,
)

KAPPA_OF_CHANCE = Claim(
    name="kappa-of-chance",
    statement="These two observers are not right and wrong independently: p = {p}.",
    estimand="Whether κ of right and wrong between these two observers is 0 over all pictures of this kind.",
    conditions=(
        "p below .05, each pair by itself. Pictures that are hard for everybody make observers dependent, too. Where "
        "pictures share originals, the normal deviate of p is divided by what widens the interval of κ."
    ),
    promise="false claims at most",
    rate=0.05,
)

KAPPA_DIFFERENCE = Claim(
    name="kappa-difference",
    statement="{first} errs more as people do than {second}: κ differs by {difference} [{lower}, {upper}], p = {p}.",
    estimand=(
        "The difference of two models' pooled κ with these people over all pictures of this kind; the rate is that of "
        "any false difference among all pairs of models that are compared."
    ),
    conditions=(
        f"Pictures of {ENOUGH_PICTURES} originals or more that people and every model answered, in conditions with "
        f"{ENOUGH_IN_CONDITION} or more. People are taken as they are; no model is always right or always wrong."
    ),
    promise="false claims at most",
    rate=0.05,
)

SOFT_AGREEMENT = Claim(
    name="soft-agreement",
    statement="People's answers are predicted at {bits} [{lower}, {upper}] bits an answer.",
    estimand=(
        "Mean cross-entropy of these people's answers over all pictures of this kind, predicted by the rest of people "
        "or by a model; and the difference of both."
    ),
    conditions=(
        f"Pictures that {ENOUGH_ANSWERING} people or more answered, of {ENOUGH_PICTURES} originals or more. A "
        "model whose probabilities are those of all people is said to predict worse than the rest of people in at most "
        ".025 of studies."
    ),
    promise="covers in at least",
    rate=0.93,
)

CLAIMS = (
    KAPPA_OF_A_PAIR,
    POOLED_KAPPA,
    SHAPE_BIAS,
    BENCHMARK_MEAN,
    COPIED_SHARE,
    KAPPA_OF_CHANCE,
    KAPPA_DIFFERENCE,
    SOFT_AGREEMENT,
)


def copied_text(share: float, interval: tuple[float, float] | None = None) -> str:
    """Kappa as a share of copied answers, with what is taken for granted."""
    answer = "answer" if share >= 0.0 else "opposite of the answer"
    between = ""
    if interval is not None:
        low, high = sorted(100.0 * (one if share >= 0.0 else -one) for one in interval)
        between = f", [{low:.0f} %, {high:.0f} %]"
    return (
        f"as if the less accurate observer copied the other's {answer} on {100.0 * abs(share):.0f} % of the pictures"
        f"{between} (Klein et al. 2025)"
    )


def differences_note(pairs: int, differ: int, most: int) -> str:
    """How many pairs of models differ in their kappa with people, and which are listed."""
    listed = "" if pairs <= most else f" The first {most} are listed; the JSON has all."
    if pairs == 1:
        return f"These two models {'differ' if differ else 'are not shown to differ'} in κ."
    return f"Of {pairs:,} pairs of models, {differ:,} are shown to differ in κ.{listed}"


#: Accuracy of both observers, and κ, at which the width of an interval is told before there are answers.
PLANNED_ACCURACY, PLANNED_KAPPA = 0.8, 0.4


def planned_text(pictures: int, width: float, power: float) -> str:
    """What a κ of two people on so many pictures of one corruption would be worth."""
    if pictures < ENOUGH_PICTURES:
        return (
            f"κ of two people in one corruption will not be shown: it needs {ENOUGH_PICTURES} of them and has about "
            f"{pictures}"
        )
    return (
        f"the interval of κ of two people in one corruption, on about {pictures} of them, would be {width:.2f} wide "
        f"(accuracies {PLANNED_ACCURACY:g}, κ {PLANNED_KAPPA:g}), and κ found to differ from 0 with a power of about "
        f"{power:.2f}"
    )


def planned_kappa_text(
    kappas: tuple[float, ...], accuracies: tuple[float, ...], between: float | None, *, runs: int
) -> str:
    """What numbers of pictures were planned for, and by which test."""
    shares = " and ".join((", ".join(f"{one:g}" for one in accuracies[:-1]), f"{accuracies[-1]:g}"))
    if len(kappas) == 1:
        return (
            f"To tell a κ of {kappas[0]:g} from 0, of observers with accuracies {shares}: Fisher's exact test, "
            f"two-sided, at .05; {runs:,} simulated studies of each size."
        )
    models = "alike only through the person" if between is None else f"with κ {between:g} between them"
    return (
        f"To tell a κ of {kappas[0]:g} from one of {kappas[1]:g}, of two models ({models}) with one person "
        f"(accuracies {shares}, the person's first), on the same pictures: t test of the paired difference at .05; "
        f"{runs:,} simulated studies of each size."
    )


def pairs_note(most: int) -> str:
    """Which pairs of observers a table holds."""
    return (
        f"Pairs with at least {ENOUGH_PICTURES} pictures in common, the first {most}; none where both observers are "
        "always right, or both always wrong: κ is undefined there."
    )


def no_pairs_note() -> str:
    """Why a table has no means over pairs."""
    return f"No two observers share {ENOUGH_PICTURES} pictures in a condition."


def ceiling_notes(*, people_are_stratified: bool, some_are_not: bool, left_out: int) -> tuple[str, ...]:
    """What pooled kappas are worth: of people among themselves the ceiling, unless difficulty is in it."""
    found = []
    if people_are_stratified:
        found.append("κ, pooled, in the row of people is the human ceiling.")
    if some_are_not:
        found.append(
            f"κ that includes shared difficulty: no condition holds {ENOUGH_IN_CONDITION} pictures in common, so that "
            "conditions that are easy or hard for everybody count as agreement. It has no interval and is no ceiling."
        )
    if left_out:
        found.append(
            f"Pictures in common in conditions with fewer than {ENOUGH_IN_CONDITION} are left out, at most "
            f"{left_out:,} of an observer."
        )
    return tuple(found)


def definitions() -> tuple[str, ...]:
    """What the numbers of agreement mean."""
    return (
        "Accuracy: on corrupted pictures, mean over conditions (tenths of visual change, or those of the experiment).",
        "Error consistency κ: 1 = right and wrong on the same pictures; 0 = no more than the accuracies imply.",
        f"Of pairs: means over all pairs of observers that share {ENOUGH_PICTURES} pictures in a condition (Geirhos et "
        "al. 2021); as published, κ of two observers who are always right counts as 1.",
        "Intervals of a pair: equal-tailed, from Jeffreys' prior on the four shares of pictures (both right, one, the "
        "other, neither); for these two observers and new pictures; wider where they share pictures of one original.",
        "Copied: what κ of a pair says as a share of pictures on which the less accurate observer copies the other's "
        "answer, right and wrong independently on the rest (Klein et al. 2025); below 0 the opposite is copied. Its "
        "interval comes from the same posterior as that of κ.",
        "p of a pair: Fisher's exact test that both are right and wrong independently; each pair by itself, not "
        "corrected for their number.",
        f"Pooled: one κ over all pictures that both answered in conditions with at least {ENOUGH_IN_CONDITION} of "
        "them, however few a pair shares. Chance: answers to different pictures of one condition. Interval: jackknife "
        "over originals, extended to 0 where answers that change places within conditions agree as much (p > .05).",
        "Models compared: differences of pooled κ on the same pictures and people, with jackknife intervals over "
        f"originals (at least {ENOUGH_PICTURES}) and p corrected over all pairs. Places by κ follow from them: those "
        "that the pictures leave open to a model, for all models at once. Models that are always right or always wrong "
        "are left out. People are taken as they are.",
    )


def caveats() -> tuple[str, ...]:
    """What the numbers of agreement do not say."""
    return ("κ needs pictures that both observers saw; few in common, or accuracies near 0 or 1, make it unsteady.",)


def benchmark_definitions() -> tuple[str, ...]:
    """What the numbers of published experiments mean."""
    return (
        "As in Geirhos et al. (2021): accuracy is the mean over conditions; the squared difference of accuracies, the "
        "observed consistency and κ are means over conditions, then over people. Controls, and conditions in which "
        "people are right at most 20 % of the time, are left out.",
        "People's lead: their accuracy minus the observer's, mean over conditions, then over people. The corrected "
        "squared difference leaves out what the choice of pictures adds to the published one on average; where the "
        "accuracies are close, the published one can be above its interval.",
        "Intervals: for new people and new pictures in these experiments. The published squared difference has none.",
        "Rank: the places that the data leave open to a model by its accuracy, from the differences of all pairs of "
        "models together; rank by κ: the same by error consistency, for new people, too. Mean rank: as published, the "
        "mean of a model's places by the three measures of likeness to people; it has no interval.",
        "Each person is compared with the others.",
    )


def benchmark_caveats() -> tuple[str, ...]:
    """What the numbers of published experiments do not say."""
    return (
        "Published pictures may be in a model's training data.",
        "People saw each picture briefly; models have no limit of time.",
    )


def soft_definitions() -> tuple[str, ...]:
    """What soft agreement means."""
    return (
        f"On pictures that at least {ENOUGH_ANSWERING} people answered, of {ENOUGH_PICTURES} originals or more: the "
        "mean number of bits by which a person's answer surprises an observer who predicts it (cross-entropy); less is "
        "better.",
        "People, the ceiling: with n answers to a picture, each is predicted by the other n - 1 and one answer more "
        "that is spread evenly over all labels.",
        "A model: the probability that it gave its response; the rest is spread evenly over the other labels, since no "
        "more is kept. Its distribution is mixed with as much guessing as people's, 1 / n. Models without a "
        "probability are left out.",
        "Beyond people: the model's bits less people's on the same pictures; above 0 it predicts people worse than the "
        "rest of people does. Intervals are over originals, for these people.",
    )


def soft_caveats() -> tuple[str, ...]:
    """What soft agreement does not say."""
    return (
        "More people predict each other better: the ceiling falls with their number, so compare models on the same "
        "pictures alone. A model can be below it.",
        "A model that is too sure of itself predicts worse than its answers are.",
    )


def soft_words(lower: float, upper: float) -> str:
    """Whether a model predicts people as well as the rest of people does."""
    if lower > 0.0:
        return "worse than the rest of people"
    if upper < 0.0:
        return "better than the rest of people"
    return "not shown to differ from the rest of people"


def shape_bias_definitions() -> tuple[str, ...]:
    """What shape bias means."""
    return (
        "Of the answers that name either the shape or the texture of a picture whose two disagree, the share that "
        "names the shape.",
        "Interval of people together: for new people and new pictures; answers of one person, and to one picture, "
        "count at what they are worth. Of one observer: for new pictures.",
    )
