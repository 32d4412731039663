"""What waits for a person in a study, in the words of its name, and who may solve it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from django.urls import reverse

from humanexp.core.problems import Problem, Severity
from humanexp.studies.models import Action, Study

#: A sentence; of two, the first is for one of what was found.
Sentence = str | tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Words:
    """Of one kind. Sentences name what was found, and how many: `%(count)d`."""

    text: Sentence
    resolution: str
    tone: Severity = Severity.WARN
    #: under which pages know it, where it is not its own name
    kind: str = ""
    #: any of these lets a member solve it; none: administrators
    actions: tuple[Action, ...] = (Action.EVIDENCE,)
    #: where it is solved: the name of an address that takes the study's name, and what follows it; and the button there
    page: str = "recruitment:monitor"
    button: str = "Look"
    #: the name of an address that takes the study's name and the first of what was found: instead of `page` where there
    #: is only one, or where no page has them all
    first: str = ""
    #: who sees the button in the study
    seen_by: Action = Action.EVIDENCE
    #: for messages that leave the site, where `text` names a sum, an id or a file, or what a recruiter said
    notice: Sentence = ""


@dataclass(frozen=True, kw_only=True)
class Waiting(Problem):
    """A problem that a person solves: of a study, of an account that several studies use, or of the installation."""

    words: Words
    study: Study | None = None
    #: of the payment, the assignment or the HIT, by kind
    subject_pk: int | None = None
    count: int = 1
    #: of a recruiter's account: pauses and money
    environment: str = ""
    #: tells events of one name apart
    about: str = ""
    #: keys of the studies whose members it concerns, where there is no single one
    studies: frozenset[int] = frozenset()

    @property
    def kind(self) -> str:
        return self.words.kind or self.key

    @property
    def is_elsewhere(self) -> bool:
        """Whether there is more to see than on the monitor as a whole."""
        return bool(self.words.first) or self.words.page != Words.page

    @property
    def event(self) -> tuple[str, int | None, str]:
        """Two of the same are one event."""
        return (self.key, self.study.pk if self.study is not None else None, self.about)

    @property
    def concerned(self) -> set[int]:
        return {self.study.pk} if self.study is not None else set(self.studies)

    def within(self, study: Study) -> Self:
        """The same, with the address in this study where it is solved."""
        words = self.words
        if words.first and self.subject_pk is not None and (self.count == 1 or words.page == Words.page):
            return replace(self, study=study, url=reverse(words.first, args=[study.slug, self.subject_pk]))
        name = re.split("[#?]", words.page)[0]
        return replace(self, study=study, url=reverse(name, args=[study.slug]) + words.page.removeprefix(name))


def in_words(
    name: str,
    among: Mapping[str, Words],
    *,
    subject_pk: int | None = None,
    count: int = 1,
    environment: str = "",
    about: str = "",
    **named: object,
) -> Waiting:
    """In the words of its name, which use `named` and the count."""
    words = among[name]

    def said(sentence: Sentence) -> str:
        text = sentence if isinstance(sentence, str) else sentence[count != 1]
        return text % {"count": count, **named}

    return Waiting(
        key=name,
        severity=words.tone,
        text=said(words.text),
        remedy=said(words.resolution),
        notice=said(words.notice),
        button=words.button,
        words=words,
        subject_pk=subject_pk,
        count=count,
        environment=environment,
        about=about,
    )
