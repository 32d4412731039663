"""Same/different and ABX: what is said of a pair of corruptions that people had to tell apart."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.claims.claim import Claim

#: What an observer does, by name of the model.
OBSERVERS: Mapping[str, str] = {
    "differencing": "an observer who goes by how much the pictures differ from each other",
    "independent": "an observer who judges every picture on its own",
}
_CONDITIONS = (
    "The study's exposure and task (same/different or ABX, either answer right in half of the trials, pictures matched "
    "in visual change), its crowd after its screening. People differ in their criteria, which are normal over people "
    "on the scale of z(false alarms); {sensitivity}. New people, and new pictures where several people saw the same."
)
_ONE = "d' is one for all, and what people differ in it counts as clusters"
CLAIMS = (
    Claim(
        name="told-apart-equivalent",
        statement="People cannot tell {first} and {second} apart by more than d' = {margin} ({model}): equivalent.",
        estimand="d′ of answers given with care, under the named observer model",
        conditions=_CONDITIONS.format(sensitivity=_ONE)
        + " Careless answers fall on either side with equal chance, and as often on plain pairs as on others.",
        promise="false claims at most",
        rate=0.05,
    ),
    Claim(
        name="told-apart-different",
        statement="People tell {first} and {second} apart: different.",
        estimand="whether d' is above 0",
        conditions=_CONDITIONS.format(sensitivity=_ONE) + " The rate is that of one pair; Holm's rule over all pairs.",
        promise="false claims at most",
        rate=0.05,
    ),
    Claim(
        name="told-apart-d-prime",
        statement="d' is {d_prime}, 95 % interval {lower} to {upper} ({model}).",
        estimand="d' of the answers as they are, under the named observer model",
        conditions=_CONDITIONS.format(sensitivity=_ONE),
        promise="covers in at least",
        rate=0.95,
    ),
    Claim(
        name="told-apart-share-right",
        statement="{accuracy} of the answers are right, 95 % interval {lower} to {upper}.",
        estimand="share of right answers of people like these, their bias included: a translation, no verdict",
        conditions=_CONDITIONS.format(sensitivity="their shares differ"),
        promise="covers in at least",
        rate=0.95,
    ),
    Claim(
        name="told-apart-planned",
        statement="It takes {people} people to show that {first} and {second} are equivalent, or different.",
        estimand="people with whom the verdict on d' is reached, where d' is 0 or as large as stated; no more than 1.3 "
        "times too many",
        conditions=_CONDITIONS.format(sensitivity=_ONE)
        + " Criteria, careless answers and missed plain pairs are as believed; plain pairs are told apart.",
        promise="comes true in at least",
        rate=0.8,
    ),
)


def verdict_words(
    verdict: str,
    *,
    d_prime_margin: float,
    as_answered: float | None,
    has_plain_pairs: bool | None,
    plain_pairs_told_apart: bool,
    too_few: str = "",
) -> str:
    """Say the verdict, and why it is open where the crowd is the reason.

    Parameters
    ----------
    verdict : {"equivalent", "different", "undecided"}
    d_prime_margin : float
    as_answered : float or None
        Upper end of the interval of d' for the answers as they are; None where there is none.
    has_plain_pairs : bool or None
        None where an earlier version did not look for them.
    plain_pairs_told_apart : bool
    too_few : str
        Why nothing is said of people at large; empty where enough answered.
    """
    if too_few:
        return f"undecided: {too_few}"
    if verdict != "undecided" or has_plain_pairs is None:
        return verdict
    if not has_plain_pairs:
        return "undecided: without plain pairs nothing says what this crowd could have shown"
    if not plain_pairs_told_apart or (as_answered is not None and as_answered < d_prime_margin):
        return "undecided: this crowd could not have shown it"
    return verdict


#: What the paper's test is, and what it is not, beside every number of it.
AS_PUBLISHED = (
    "As published (VCR, section 4.4): share right of the answers given, and p of the two-sided binomial test against "
    "1/2, answers taken as independent. A large p does not show that people cannot tell two corruptions apart, and no "
    "verdict rests on it. The paper tests each pair by itself; p (Holm) over all pairs is ours."
)
#: Of the interval that stands beside it.
OWN_INTERVAL = (
    "The interval is ours, of the share of all trials, missed ones counted as wrong: answers of one person, and to the "
    "same pictures, are clusters in it."
)
#: Why there is no p; the numbers stand in braces.
SHARED_PICTURES = "withheld: several people saw {several} of {pairs} pairs of pictures, so answers are not independent"
NO_PICTURES = "withheld: the trials do not name their pictures, so several people may have seen the same"


def published_words(
    *, trials: int, correct: int, share: float | None, p: float | None, p_holm: float | None, withheld: str
) -> str:
    """Say what the published test gives on a pair, with its name.

    Parameters
    ----------
    trials, correct : int
        Answers given in time, and right ones.
    share, p, p_holm : float or None
        Share right, p as published, and by Holm's rule over all pairs; None where there is none.
    withheld : str
        Why there is no p; empty where there is one.
    """
    if share is None:
        return "binomial test as published: no answers"
    said = f"binomial test as published: {correct} of {trials} answers right ({share:.3f})"
    if p is None:
        return f"{said}, p {withheld}"
    return f"{said}, p = {p:.2g}" + ("" if p_holm is None else f" (by Holm's rule over all pairs, ours: {p_holm:.2g})")


#: Tasks as pages call them.
FORMS = {"same-different": "same/different", "abx": "ABX"}


def rule_sentence(*, form: str, margin: float, d_prime_margin: float, model: str | None) -> str:
    """Say what counts as equivalent; `model` is None where an earlier version judged the share right."""
    if model is None:
        return f"Equivalent in {FORMS[form]}: the one-sided bound on the share right lies below {0.5 + margin:g}."
    return (
        f"Equivalent in {FORMS[form]}: d′ of answers given with care lies below {d_prime_margin:.3g} "
        f"(one-sided 95 % bound; {OBSERVERS[model]}, who would be right in {100 * (0.5 + margin):.1f} % without bias; "
        "criteria differ from person to person), and plain pairs of the same sessions are told apart by more than that."
    )


def d_prime_words(d_prime: float | None, upper: float | None) -> str:
    """Say d' and its one-sided bound; None is what these answers set no limit."""
    if d_prime is None:
        return "d′ not determined by these answers"
    return f"d′ {d_prime:.2f}, " + ("no upper bound" if upper is None else f"at most {upper:.2f}")


def planned_sentence(
    *,
    power: float,
    alpha: float,
    pairs: int,
    model: str,
    bias: float,
    bias_sd: float,
    careless: float,
    plain_missed: float,
    plain_each: int,
) -> str:
    """On what the numbers of people rest that are planned for."""
    holm = "" if pairs == 1 else f", at the hardest step of Holm's rule over {pairs} pairs for a difference"
    plain = (
        f"A person answers {plain_each} plain pairs, of which {100 * plain_missed:.0f} % of the differences are missed"
        if plain_each
        else "Without plain pairs nothing can be shown to be equivalent"
    )
    leaning = f'lean by {bias:g} towards "same"' if bias else "lean to neither side"
    return (
        f"Planned by the verdict on d′ with a power of {power:g} at level {alpha:g}{holm}: {OBSERVERS[model]}; "
        f"criteria {leaning} and spread by {bias_sd:g} over people; {100 * careless:.0f} % of the answers are "
        f"careless. {plain}. Where several people see the same pictures, and for sessions that will be excluded, more "
        "are needed."
    )
