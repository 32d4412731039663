"""What an alert is, and where it is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.urls import reverse

from humanexp.recruitment.models import Campaign, RecruiterAccount
from humanexp.recruitment.selectors.alert_words import WORDS, Words
from humanexp.recruitment.selectors.state_counts import Tally
from humanexp.studies.models import Study
from humanexp.studies.roles import Action


@dataclass(frozen=True, kw_only=True)
class Attention:
    """A sentence about what waits for a person, and one about what can be done."""

    text: str
    tone: str = "warn"
    #: under which pages know it
    kind: str = ""
    #: a name of `WORDS`
    name: str = ""
    resolution: str = ""
    #: of the payment, the assignment or the HIT, by kind
    subject_pk: int | None = None
    count: int = 1
    #: of a recruiter's account: pauses and money
    environment: str = ""
    #: the same without sums, ids and files
    notice: str = ""
    actions: tuple[Action, ...] = ()
    page: str = ""
    button: str = ""

    def address(self, slug: str) -> str:
        """Where it is solved in a study of this name."""
        name = re.split("[#?]", self.page)[0]
        return reverse(name, args=[slug]) + self.page.removeprefix(name)


#: The key of a study, and what was found there.
Found = tuple[int, Attention]


@dataclass(frozen=True, kw_only=True)
class Looked:
    """Where it is looked: studies that have campaigns, by their keys, and all their campaigns."""

    studies: Mapping[int, Study]
    campaigns: Sequence[Campaign]
    #: of the only study, where a page has made one
    tally: Tally | None = None

    @cached_property
    def by_study(self) -> Mapping[int, list[Campaign]]:
        found: dict[int, list[Campaign]] = {}
        for campaign in self.campaigns:
            found.setdefault(campaign.study_id, []).append(campaign)
        return found

    @cached_property
    def accounts(self) -> list[RecruiterAccount]:
        used = {campaign.environment for campaign in self.campaigns}
        return list(RecruiterAccount.objects.filter(environment__in=used))

    def studies_at(self, environment: str) -> list[int]:
        """Those that were published through an account."""
        return list(dict.fromkeys(one.study_id for one in self.campaigns if one.environment == environment))


def told(
    name: str,
    *,
    subject_pk: int | None = None,
    count: int = 1,
    environment: str = "",
    among: Mapping[str, Words] = WORDS,
    **named: object,
) -> Attention:
    """In the words of its name, which use `named` and the count."""
    words, named = among[name], {"count": count, **named}
    text = str(words.text % named)
    return Attention(
        text=text,
        tone=words.tone,
        kind=words.kind or name,
        name=name,
        resolution=str(words.resolution % named),
        subject_pk=subject_pk,
        count=count,
        environment=environment,
        notice=str(words.notice % named) if words.notice else text,
        actions=words.actions,
        page=words.page,
        button=str(words.button),
    )


def counted(name: str, keys: Iterable[tuple[int, int]]) -> Iterator[Found]:
    """All of a study in one sentence, about the first of them; nothing where there are none."""
    by_study: dict[int, list[int]] = {}
    for study, key in keys:
        by_study.setdefault(study, []).append(key)
    return ((study, told(name, subject_pk=pks[0], count=len(pks))) for study, pks in by_study.items())
