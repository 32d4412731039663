"""What is claimed of machines among people: never that there are none, and a bound only for a stated catch."""

from __future__ import annotations

from analysis.claims.claim import Claim

BOUND = Claim(
    name="people-without-machines",
    statement=(
        "If the sentinels catch at least {catch} of the machines, at most {machines} of {people} people are machines, "
        "and the area of people alone is between {lower} and {upper}."
    ),
    estimand=(
        "Area under the mean curve of the people among the accepted, without the machines, over new people and new "
        "pictures, as for the area."
    ),
    conditions=(
        "Each machine is flagged with the stated chance or more, independently of others. No study can measure this "
        "chance, because machines that are not caught are not known. No machine has a lower area than the worst model "
        "of the study (chance, without any); every machine may be right always. People without sentinels count as "
        "machines. At a catch of 0 there is no bound, and none is stated."
    ),
    promise="covers in at least",
    rate=0.95,
)

CLAIMS = (BOUND,)

NO_BOUND = "If the sentinels catch no machines, nothing bounds their number: there is no bound."


def bound_sentence(catch: float, machines: int | None, people: int) -> str:
    """What the flags say of the number of machines, for a stated catch."""
    if machines is None or machines >= people:
        return NO_BOUND if machines is None else f"If they catch at least {catch:g}, everybody may be a machine."
    return f"If they catch at least {catch:g} of the machines, at most {machines} of {people} people are machines."


def few_people(people: int, upper: float) -> str:
    """What the number of people leaves open."""
    said = f"At this number of people ({people}), up to {100 * upper:.0f} % of honest people could be flagged"
    return f"{said} if none of them was." + (" Ten people bound nobody." if people <= 10 else "")


def definitions() -> tuple[str, ...]:
    """What the numbers of this page mean."""
    return (
        "Score: log of how much likelier a person's answers to the sentinel pictures are among people than among the "
        "models of the registry. Above 0 like people, below 0 like models. Tables of the other people are used, in "
        "which everybody counts by the chance that they are a person.",
        "Both sides have an effect of the observer (habits, guesses, hidden texture answers), so that more trials do "
        "not make an honest person with rare habits look worse and worse.",
        "Flagged: the answers are at least ten times as likely from the models, and at most 1 % of simulated honest "
        "sessions on the same pictures score as low.",
        "Caught: the models of the registry in people's places, scored without their family of weights; the mean over "
        "families, and the model that is caught least.",
        "The bound: as many machines as the flags allow if the sentinels catch the stated share; the lowest area of a "
        "model of this study or a machine that is always right, at the ends of the area's interval (97.5 % each).",
    )


def caveats() -> tuple[str, ...]:
    """What the numbers of this page do not say."""
    return (
        "A flag excludes no one, and pay never depends on it. Look at the sessions.",
        "No score proves that a person is one: a machine that is unlike every model of the registry, or that imitates "
        "people, may score like people.",
        "Models get better: ask new ones (evaluate) and analyse again before you rely on what is caught.",
        "A threshold that is chosen after looking at this page is no planned analysis: say so.",
    )
