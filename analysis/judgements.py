"""The answer to the two questions of validation: is it one, and could it be used as one?

Both questions are answered on one screen, so that the answer to a trial is one of four: ``"yes-no"`` says that the
picture shows the wanted category, and that what it shows could not be used as one (ImageNet-D, supplement).
"""

from __future__ import annotations

#: Every answer; the first word answers "does the picture show one?", the second "could it be used as one?".
JUDGEMENTS = ("yes-yes", "yes-no", "no-yes", "no-no")
#: What a plain example, and a picture that plainly lacks the wanted category, are answered with.
IS_ONE, IS_NONE = "yes-yes", "no-no"


def judgement(shows: bool, usable: bool) -> str:
    """The answer that joins the two."""
    return f"{'yes' if shows else 'no'}-{'yes' if usable else 'no'}"
