"""What is said of people who are judged one at a time as a model is: by hand, and where it must not be said."""

from __future__ import annotations

from analysis.claims.models import individuals_words


def test_what_single_people_would_be_called_is_said_with_its_counts() -> None:
    said = individuals_words(people=12, answers=140, matches=7, differs=2, undecided=3, too_few=1)
    assert said.startswith("7 of 12 people, judged one at a time against the others, would match, 2 differ and 3 be")
    assert "(1 with too few answers for the rule)" in said and "140 answers on the median" in said
    assert "too few" not in individuals_words(people=12, answers=140, matches=9, differs=2, undecided=1, too_few=0)


def test_where_nobody_gave_enough_answers_no_share_is_said() -> None:
    said = individuals_words(people=12, answers=20, matches=0, differs=0, undecided=12, too_few=12)
    assert said.startswith("None of 12 people gave enough answers") and said.endswith("is not known")
    assert "would match," not in said
