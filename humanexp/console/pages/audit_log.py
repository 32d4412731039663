"""Who did what, in a study or in the whole house: the lines of the record, for a page and a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from humanexp.core.models import AuditEvent, User
from humanexp.recruiters import money
from humanexp.studies.models import Study

ON_A_PAGE = 50
#: Of the file.
COLUMNS = ("at", "by", "action", "study", "subject", "facts")
_DIGEST = re.compile(r"[0-9a-f]{32,}")

#: Who acts without an account: the record does not tell which of the two it was.
BY_NOBODY = _("a command or a job")
#: What an act is called. An act that is missing here is shown under its own name.
ACTS: Mapping[str, str | Promise] = {
    "create-study": _("created the study"),
    "revise-study": _("changed the study"),
    "freeze-plan": _("froze the plan: the first session was opened"),
    "study-collecting": _("let participants in"),
    "study-paused": _("paused the study"),
    "study-stopped": _("stopped the study"),
    "member-invite": _("invited a person"),
    "member-role": _("changed a role"),
    "member-remove": _("removed a person"),
    "preflight": _("ran the pre-flight check"),
    "publish": _("launched"),
    "stop": _("stopped a campaign"),
    "reopen": _("opened a stopped campaign again"),
    "extend": _("added places"),
    "prolong": _("kept a campaign open longer"),
    "retry-hit": _("had places offered again"),
    "study-cap": _("set the study's cap"),
    "month-cap": _("set the month's cap"),
    "set-launchers": _("said who may launch through an account"),
    "campaign-cap": _("set a campaign's cap"),
    "exclude": _("put a person on the exclusion list"),
    "lift-exclusion": _("took a person off the exclusion list"),
    "notify": _("wrote to participants"),
    "add-account": _("opened an account with a recruiter"),
    "rename-account": _("renamed an account with a recruiter"),
    "account-currency": _("took over the currency of an account with a recruiter"),
    "try-account": _("tried an account with a recruiter out"),
    "pause": _("paused a campaign"),
    "park": _("left a payment of unknown outcome to a person"),
    "pay-again": _("had a payment of unknown outcome paid again"),
    "found-paid": _("noted that a payment had arrived"),
    "returned": _("withdrew a session whose place was returned"),
    "refuse-ticket": _("refused a session whose ids the recruiter does not know"),
    "pause-account": _("paused an account with a recruiter"),
    "resume-account": _("resumed an account with a recruiter"),
    "store-keys": _("stored keys of an account with a recruiter"),
    "start-site": _("started a site on this machine"),
    "stop-site": _("stopped a site on this machine"),
    "try-keys-again": _("tried the keys again"),
    "top-up": _("topped wages up"),
    "top-up-campaign": _("topped up everyone in a campaign"),
    "pay-bonuses": _("paid bonuses by a list"),
    "begin-anew": _("began another session under the same id"),
    "go-on-elsewhere": _("went on on another device"),
    "check-recruiter": _("checked a recruiter with a paid study"),
    "reopen-offer": _("offered places again that had been given back"),
    "open-batch": _("opened a batch of places"),
    "continue-batches": _("let batches of places be opened again"),
    "hold": _("found a reason to stop and look at a campaign"),
    "pay-by-hand": _("noted that a person was paid by hand"),
    "settle": _("planned payments"),
    "list-finished": _("took the list of who finished away"),
    "look-up-id": _("looked up whether somebody finished, by an id"),
    "make-way-back": _("let a person back into their session"),
    "use-way-back": _("a person came back into their session"),
    "revoke-way-back": _("took a way back into a session away"),
    "clear": _("paid a submission after a look"),
    "review-policy": _("set how many people a rejection takes"),
    "propose-rejection": _("proposed a rejection"),
    "agree-to-rejection": _("agreed to a rejection"),
    "decline-rejection": _("declined a rejection"),
    "reject": _("rejected a submission"),
    "override-rejection": _("paid a rejected submission after all"),
    "rejected-elsewhere": _("was notified of a rejection"),
    "bonus": _("planned a bonus"),
    "compensation": _("planned a compensation"),
    "try-again": _("sent a payment again"),
    "send-again": _("sent something again"),
    "reconcile": _("compared the books"),
    "decide-session": _("decided about a session"),
    "return-to-rules": _("gave a session back to the rules"),
    "judge": _("judged every session"),
    "freeze-analysis-plan": _("froze the analysis plan"),
    "power": _("asked for the power of the plan"),
    "attach-pictures": _("attached the pictures of published trials"),
    "analyse": _("asked for an analysis"),
    "retrain": _("had a network retrained"),
    "export": _("took data away"),
    "delete-stimuli": _("deleted a stimulus set"),
    "delete-pictures": _("deleted a set of pictures"),
    "freeze-pictures": _("froze a set of pictures"),
    "describe-pictures": _("changed the notes on a set of pictures"),
    "evaluate": _("had a network evaluated"),
    "ask-observer": _("had a model asked in words"),
    "upload-model": _("uploaded a model"),
    "replace-predictions": _("replaced predictions"),
    "delete-predictions": _("deleted predictions"),
    "search": _("started a search for counterfactuals"),
    "freeze-search": _("froze the pictures of a search"),
    "delete-participant": _("deleted a participant"),
    "take-personal-data": _("took everything that is stored about a participant"),
    "forget-ids": _("erased people's ids"),
    "delete-by-code": _("deleted the answers of a session by its code"),
    "undo-withdrawal": _("undid a withdrawal"),
    "clear-comment": _("cleared a comment for export"),
    "hold-comment": _("kept a comment out of exports"),
    "erase-withdrawn": _("erased withdrawn answers"),
    "picture-damaged": _("found a damaged picture"),
    "make-account": _("made an account"),
    "invite": _("made an invitation to an account"),
    "password-link": _("made a link that replaces a password"),
    "add-second-factor": _("set up a second factor"),
    "remove-second-factor": _("removed a second factor"),
    "reset-second-factor": _("took the second factor of an account away"),
    "renew-recovery-codes": _("made new recovery codes"),
    "link-account": _("linked an account with the organisation's sign-in"),
    "house-role": _("changed an account's role"),
    "lab-by-groups": _("moved an account to another laboratory by its groups"),
    "end-sessions": _("signed an account out everywhere"),
    "open-account": _("opened an account again"),
    "close-account": _("closed an account"),
    "change-address": _("changed an account's address"),
    "add-notice-address": _("added an address for notices"),
    "remove-notice-address": _("removed an address for notices"),
    "mute-notices": _("muted notices"),
    "unmute-notices": _("ended a mute of notices"),
    "change-password": _("changed a password"),
    "replace-pseudonym-key": _("replaced the key of people's codes"),
    "restore": _("restored an archive"),
    "restored-database": _("noticed that the database was restored"),
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One act."""

    at: datetime
    who: str
    act: str | Promise
    subject: str
    study: str
    facts: list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class RecordPage:
    """One page of the record, and what it can be narrowed to."""

    lines: list[Line]
    page: Page[AuditEvent]
    people: list[tuple[str, str]]
    kinds: list[tuple[str, str | Promise]]
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
        return _name(user) if user else str(_("a person whose account is gone"))
    return f"{kind} {key}".strip()


def _called(name: str) -> str:
    """Sums are shown with their currency, so nothing is called cents."""
    return str(_("sum")) if name == "cents" else name.removesuffix("_cents").replace("_", " ")


def _shown(name: str, value: Any, facts: Mapping[str, Any]) -> str:
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    if name.endswith("cents") and isinstance(value, int):
        return money.shown(value, facts.get("currency") or money.USUAL)
    text = str(value)
    return f"{text[:12]}…" if _DIGEST.fullmatch(text) else text[:200]


def _name(user: User) -> str:
    return user.get_full_name() or user.get_username()
