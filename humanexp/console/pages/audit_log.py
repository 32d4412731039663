"""Who did what, in a study or in the whole house: the lines of the record, for a page and a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from humanexp.core.models import AuditEvent, User
from humanexp.recruiters import money
from humanexp.studies.models import Study

ON_A_PAGE = 50
#: Of the file.
COLUMNS = ("at", "by", "action", "study", "subject", "facts")
_DIGEST = re.compile(r"[0-9a-f]{32,}")

#: Who acts without an account: the record does not tell which of the two it was.
BY_NOBODY = "a command or a job"
#: What an act is called. An act that is missing here is shown under its own name.
ACTS: Mapping[str, str] = {
    "create-study": "created the study",
    "revise-study": "changed the study",
    "freeze-plan": "froze the plan: the first session was opened",
    "study-collecting": "let participants in",
    "study-paused": "paused the study",
    "study-stopped": "stopped the study",
    "member-invite": "invited a person",
    "member-role": "changed a role",
    "member-remove": "removed a person",
    "preflight": "ran the pre-flight check",
    "publish": "launched",
    "stop": "stopped a campaign",
    "reopen": "opened a stopped campaign again",
    "extend": "added places",
    "prolong": "kept a campaign open longer",
    "retry-hit": "had places offered again",
    "study-cap": "set the study's cap",
    "month-cap": "set the month's cap",
    "set-launchers": "said who may launch through an account",
    "campaign-cap": "set a campaign's cap",
    "exclude": "put a person on the exclusion list",
    "lift-exclusion": "took a person off the exclusion list",
    "notify": "wrote to participants",
    "add-account": "opened an account with a recruiter",
    "rename-account": "renamed an account with a recruiter",
    "account-currency": "took over the currency of an account with a recruiter",
    "try-account": "tried an account with a recruiter out",
    "pause": "paused a campaign",
    "park": "left a payment of unknown outcome to a person",
    "pay-again": "had a payment of unknown outcome paid again",
    "found-paid": "noted that a payment had arrived",
    "returned": "withdrew a session whose place was returned",
    "refuse-ticket": "refused a session whose ids the recruiter does not know",
    "pause-account": "paused an account with a recruiter",
    "resume-account": "resumed an account with a recruiter",
    "store-keys": "stored keys of an account with a recruiter",
    "start-site": "started a site on this machine",
    "stop-site": "stopped a site on this machine",
    "try-keys-again": "tried the keys again",
    "top-up": "topped wages up",
    "top-up-campaign": "topped up everyone in a campaign",
    "pay-bonuses": "paid bonuses by a list",
    "begin-anew": "began another session under the same id",
    "go-on-elsewhere": "went on on another device",
    "check-recruiter": "checked a recruiter with a paid study",
    "reopen-offer": "offered places again that had been given back",
    "open-batch": "opened a batch of places",
    "continue-batches": "let batches of places be opened again",
    "hold": "found a reason to stop and look at a campaign",
    "pay-by-hand": "noted that a person was paid by hand",
    "settle": "planned payments",
    "list-finished": "took the list of who finished away",
    "look-up-id": "looked up whether somebody finished, by an id",
    "make-way-back": "let a person back into their session",
    "use-way-back": "a person came back into their session",
    "revoke-way-back": "took a way back into a session away",
    "clear": "paid a submission after a look",
    "review-policy": "set how many people a rejection takes",
    "propose-rejection": "proposed a rejection",
    "agree-to-rejection": "agreed to a rejection",
    "decline-rejection": "declined a rejection",
    "reject": "rejected a submission",
    "override-rejection": "paid a rejected submission after all",
    "rejected-elsewhere": "was notified of a rejection",
    "bonus": "planned a bonus",
    "compensation": "planned a compensation",
    "try-again": "sent a payment again",
    "send-again": "sent something again",
    "reconcile": "compared the books",
    "decide-session": "decided about a session",
    "return-to-rules": "gave a session back to the rules",
    "judge": "judged every session",
    "freeze-analysis-plan": "froze the analysis plan",
    "power": "asked for the power of the plan",
    "attach-pictures": "attached the pictures of published trials",
    "analyse": "asked for an analysis",
    "retrain": "had a network retrained",
    "export": "took data away",
    "publish-set": "wrote the study as a published set",
    "delete-stimuli": "deleted a stimulus set",
    "store-labels": "stored labels",
    "mend-labels": "changed what people see of labels",
    "delete-labels": "deleted labels",
    "delete-pictures": "deleted a set of pictures",
    "freeze-pictures": "froze a set of pictures",
    "describe-pictures": "changed the notes on a set of pictures",
    "evaluate": "had a network evaluated",
    "ask-observer": "had a model asked in words",
    "upload-model": "uploaded a model",
    "replace-predictions": "replaced predictions",
    "delete-predictions": "deleted predictions",
    "set-kind": "said of which kind a network is",
    "search": "started a search for counterfactuals",
    "freeze-search": "froze the pictures of a search",
    "delete-participant": "deleted a participant",
    "take-personal-data": "took everything that is stored about a participant",
    "forget-ids": "erased people's ids",
    "delete-by-code": "deleted the answers of a session by its code",
    "undo-withdrawal": "undid a withdrawal",
    "clear-comment": "cleared a comment for export",
    "hold-comment": "kept a comment out of exports",
    "erase-withdrawn": "erased withdrawn answers",
    "picture-damaged": "found a damaged picture",
    "make-account": "made an account",
    "invite": "made an invitation to an account",
    "password-link": "made a link that replaces a password",
    "add-second-factor": "set up a second factor",
    "remove-second-factor": "removed a second factor",
    "reset-second-factor": "took the second factor of an account away",
    "renew-recovery-codes": "made new recovery codes",
    "link-account": "linked an account with the organisation's sign-in",
    "house-role": "changed an account's role",
    "lab-by-groups": "moved an account to another laboratory by its groups",
    "end-sessions": "signed an account out everywhere",
    "open-account": "opened an account again",
    "close-account": "closed an account",
    "change-address": "changed an account's address",
    "add-notice-address": "added an address for notices",
    "remove-notice-address": "removed an address for notices",
    "mute-notices": "muted notices",
    "unmute-notices": "ended a mute of notices",
    "change-password": "changed a password",
    "replace-pseudonym-key": "replaced the key of people's codes",
    "restore": "restored an archive",
    "restored-database": "noticed that the database was restored",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One act."""

    at: datetime
    who: str
    act: str
    subject: str
    study: str
    facts: list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class RecordPage:
    """One page of the record, and what it can be narrowed to."""

    lines: list[Line]
    page: Page[AuditEvent]
    people: list[tuple[str, str]]
    kinds: list[tuple[str, str]]
    person: str
    kind: str

    @property
    def query(self) -> str:
        """For links to other pages of the same choice."""
        return f"person={self.person}&kind={self.kind}"


def record_page(study: Study | None, *, person: str, kind: str, number: str) -> RecordPage:
    """The newest lines first; `person` is a user's key or "nobody", `kind` an act."""
    mine = _about(study).order_by()
    users = User.objects.filter(pk__in=mine.exclude(by=None).values("by")).order_by("username")
    people = [(str(user.pk), _name(user)) for user in users]
    if mine.filter(by=None).exists():
        people.append(("nobody", str(BY_NOBODY)))
    kinds = sorted(mine.values_list("action", flat=True).distinct())
    person = person if person in dict(people) else ""
    kind = kind if kind in kinds else ""
    page = Paginator(chosen(study, person=person, kind=kind), ON_A_PAGE).get_page(number)
    return RecordPage(
        lines=[_line(event) for event in page],
        page=page,
        people=people,
        kinds=[(act, ACTS.get(act, act)) for act in kinds],
        person=person,
        kind=kind,
    )


def chosen(study: Study | None, *, person: str = "", kind: str = "") -> QuerySet[AuditEvent]:
    """Lines of the study, or of the whole house, by one person or of one kind, the newest first."""
    found = _about(study).select_related("by").order_by("-pk")
    if person == "nobody":
        found = found.filter(by=None)
    elif person.isdigit():
        found = found.filter(by_id=int(person))
    return found.filter(action=kind) if kind else found


def _about(study: Study | None) -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(study=study.slug) if study is not None else AuditEvent.objects.all()


def record_rows(lines: QuerySet[AuditEvent]) -> Iterator[list[str]]:
    """The lines as a table; facts as name=value."""
    for event in lines.iterator():
        facts = "; ".join(f"{name}={value}" for name, value in event.facts.items())
        who = event.by.get_username() if event.by else ""
        yield [event.at.isoformat(), who, event.action, event.study, event.subject, facts]


def _line(event: AuditEvent) -> Line:
    return Line(
        at=event.at,
        who=_name(event.by) if event.by else str(BY_NOBODY),
        act=ACTS.get(event.action, event.action),
        subject=_subject(event.subject),
        study=event.study,
        facts=[(_called(name), _shown(name, value, event.facts)) for name, value in event.facts.items()],
    )


def _subject(subject: str) -> str:
    kind, _colon, key = subject.partition(":")
    if kind == "user":
        user = User.objects.filter(pk=int(key)).first() if key.isdigit() else None
        return _name(user) if user else "a person whose account is gone"
    return f"{kind} {key}".strip()


def _called(name: str) -> str:
    """Sums are shown with their currency, so nothing is called cents."""
    return "sum" if name == "cents" else name.removesuffix("_cents").replace("_", " ")


def _shown(name: str, value: Any, facts: Mapping[str, Any]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("cents") and isinstance(value, int):
        return money.shown(value, facts.get("currency") or money.USUAL)
    text = str(value)
    return f"{text[:12]}…" if _DIGEST.fullmatch(text) else text[:200]


def _name(user: User) -> str:
    return user.get_full_name() or user.get_username()
