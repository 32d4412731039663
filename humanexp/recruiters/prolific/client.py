"""Prolific's REST API, one method a call; its bonuses; and what no document of Prolific tells.

The client decides, repeats and stores nothing. The service has no idempotency token. A write is therefore sent once,
and its end is one of three: it was carried out; it was certainly not (`Refused` and its kin, `RecruiterUnavailable`);
or nobody knows (`OutcomeUnknown`), and whoever called looks for evidence. Reads that fail raise `RecruiterUnavailable`,
or the refusal. Bonuses know no token and no reason: they are planned, checked, paid by one call, proved by difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from django.conf import settings

from humanexp.core.errors import InsufficientFunds, OutcomeUnknown, RecruiterError, RecruiterUnavailable
from humanexp.recruiters import money
from humanexp.recruiters.money import AccountMoney, BonusLine, BonusPlan
from humanexp.recruiters.port import BonusReport
from humanexp.recruiters.prolific.replies import (
    FINAL,
    Balance,
    BonusesInList,
    BonusPlanReply,
    Count,
    Event,
    EventType,
    Filter,
    Group,
    HookSecret,
    Me,
    Member,
    Message,
    NewSubscription,
    Project,
    QuoteReply,
    ReturnRequested,
    RewardRecommendation,
    Study,
    StudyCost,
    StudyInList,
    Submission,
    SubmissionInList,
    Subscription,
    Workspace,
)
from humanexp.recruiters.prolific.transport import Refused, Transport, read_written

PAGE_SIZE = 100
#: Of lists by limit and offset: as many as the service's own client asks for.
LIST_SIZE = 200
#: Recommended maxima of one call.
MOST_APPROVALS, MOST_BONUSES = 1_000, 200

About = TypeVar("About", Study, Submission)


class ProlificClient:
    """Of one account. `base_url` ends in `/api/v1/`; `referer` says to the service's support who is calling."""

    def __init__(self, base_url: str, token: str, *, referer: str, page_size: int = PAGE_SIZE) -> None:
        self._http = Transport(base_url, token, referer=referer)
        self._page_size = page_size

    # The account

    def me(self) -> Me:
        return self._http.get("users/me/", Me)

    def workspaces(self) -> list[Workspace]:
        return self._http.all_pages("workspaces/", Workspace)

    def balance(self, workspace: str) -> Balance:
        return self._http.get(f"workspaces/{_part(workspace)}/balance/", Balance)

    def projects(self, workspace: str) -> list[Project]:
        return self._http.all_pages(f"workspaces/{_part(workspace)}/projects/", Project)

    # Studies

    def create_study(self, terms: Mapping[str, Any]) -> Study:
        """A draft, which costs nothing."""
        return self._http.write("POST", "studies/", Study, 201, terms)

    def study(self, study: str) -> Study:
        return _about(self._http.get(f"studies/{_part(study)}/", Study), study)

    def studies(self, project: str) -> list[StudyInList]:
        return self._http.all_pages(f"projects/{_part(project)}/studies/", StudyInList)

    def change_study(self, study: str, changes: Mapping[str, Any]) -> Study:
        """Numbers of places are absolute, so this call alone may be sent again."""
        return self._http.write("PATCH", f"studies/{_part(study)}/", Study, 200, changes)

    def delete_study(self, study: str) -> None:
        self._http.send("DELETE", f"studies/{_part(study)}/", 204)

    def move_study(self, study: str, action: str) -> Study:
        return self._http.write("POST", f"studies/{_part(study)}/transition/", Study, 200, {"action": action})

    def quote(self, *, reward_cents: int, places: int) -> QuoteReply:
        body = {"reward": reward_cents, "total_available_places": places}
        return self._http.ask("study-cost-calculator/", QuoteReply, body)

    def study_cost(self, study: str, *, projected: bool = False) -> StudyCost:
        query = {"is_projected": "true" if projected else "false"}
        return self._http.get(f"studies/{_part(study)}/cost/", StudyCost, query)

    def recommendations(self, workspace: str, currency: str) -> list[RewardRecommendation]:
        query = {"workspace_id": workspace, "currency": currency}
        return self._http.get("reward-recommendations/", list[RewardRecommendation], query)

    def filters(self, workspace: str) -> list[Filter]:
        return self._http.all_pages("filters/", Filter, {"workspace_id": workspace})

    def eligible(self, filters: Sequence[Mapping[str, Any]], workspace: str) -> int:
        """0 means fewer than 25."""
        return self._http.ask("eligibility-count/", Count, {"filters": filters, "workspace_id": workspace}).count

    # Groups of participants

    def groups(self, workspace: str) -> list[Group]:
        return self._http.all_pages("participant-groups/", Group, {"workspace_id": workspace})

    def create_group(self, workspace: str, name: str) -> Group:
        return self._http.write("POST", "participant-groups/", Group, 201, {"workspace_id": workspace, "name": name})

    def members(self, group: str) -> set[str]:
        path = f"participant-groups/{_part(group)}/participants/"
        return {member.participant_id for member in self._http.all_pages(path, Member)}

    def add_members(self, group: str, people: Sequence[str]) -> None:
        """Members are ignored: this may be repeated."""
        path = f"participant-groups/{_part(group)}/participants/"
        self._http.send("POST", path, 200, {"participant_ids": list(people)}, unsaid=people, is_json=True)

    def remove_members(self, group: str, people: Sequence[str]) -> None:
        path = f"participant-groups/{_part(group)}/participants/"
        self._http.send("DELETE", path, 200, {"participant_ids": list(people)}, unsaid=people, is_json=True)

    # Submissions

    def submissions(self, study: str, *, status: str = "") -> Iterator[SubmissionInList]:
        """All of them, or those in one state. A word that the service's interface does not name may be refused."""
        for page in self._submissions(study, {"status": status.replace(" ", "_")} if status else {}):
            yield from page

    def latest_submissions(self, study: str) -> Iterator[list[SubmissionInList]]:
        """Page by page as far as somebody looks, those who began last first: so they are asked for, at least."""
        return self._submissions(study, {"ordering": "-started_at"})

    def _submissions(self, study: str, query: Mapping[str, str]) -> Iterator[list[SubmissionInList]]:
        query = {"study": study, "page_size": str(self._page_size), **query}
        return self._http.pages("submissions/", SubmissionInList, query)

    def takes_query(self, study: str, query: Mapping[str, str]) -> bool:
        """Whether the list of submissions is answered to these parameters, or refused."""
        try:
            self._http.get("submissions/", dict[str, Any], {"study": study, "page_size": "1", **query})
        except Refused as error:
            if error.status != 400:
                raise
            return False
        return True

    def bonuses_in_list(self, study: str) -> list[BonusesInList]:
        """What has been paid, of everybody at once; where people sit and who they are stays unread."""
        path = f"studies/{_part(study)}/submissions/"
        return self._http.all_pages(path, BonusesInList, {"limit": str(LIST_SIZE)})

    def submission_counts(self, study: str) -> dict[str, int]:
        """By status; TOTAL is one of them."""
        return self._http.get(f"studies/{_part(study)}/submissions/counts/", dict[str, int])

    def submission(self, submission: str) -> Submission:
        return _about(self._http.get(f"submissions/{_part(submission)}/", Submission), submission)

    def move_submission(self, submission: str, action: str, **more: str) -> Submission:
        """`message` and `rejection_category` with REJECT, `completion_code` with COMPLETE."""
        path = f"submissions/{_part(submission)}/transition/"
        return self._http.write("POST", path, Submission, 200, {"action": action, **more})

    def approve(self, submissions: Sequence[str]) -> None:
        """Accepted is not approved: the status says when it is."""
        _require_at_most(MOST_APPROVALS, submissions)
        body = {"submission_ids": list(submissions)}
        self._http.send("POST", "submissions/bulk-approve/", 200, body, unsaid=submissions, is_json=True)

    def request_return(self, submission: str, reasons: Sequence[str]) -> ReturnRequested:
        path = f"submissions/{_part(submission)}/request-return/"
        return self._http.write("POST", path, ReturnRequested, 200, {"request_return_reasons": list(reasons)})

    # Bonuses

    def plan_bonuses(self, study: str, lines: Sequence[tuple[str, int]]) -> BonusPlanReply:
        """Of (submission, cents). This pays nobody and may be repeated."""
        _require_at_most(MOST_BONUSES, lines)
        # Decimal major units here, and here alone: "30" would pay 30.00.
        csv = "\n".join(f"{submission},{cents // 100}.{cents % 100:02}" for submission, cents in lines)
        ids = [submission for submission, _ in lines]
        body = {"study_id": study, "csv_bonuses": csv}
        return self._http.write("POST", "submissions/bonus-payments/", BonusPlanReply, 201, body, unsaid=ids)

    def pay_bonuses(self, plan: str) -> None:
        """Each call that arrives pays everybody again. After `OutcomeUnknown` only evidence may decide."""
        self._http.send("POST", f"bulk-bonus-payments/{_part(plan)}/pay/", 202)

    # Messages

    def send_message(self, study: str, people: Sequence[str], body: str) -> None:
        """A repeat is sent again."""
        sent = {"ids": list(people), "body": body, "study_id": study}
        self._http.send("POST", "messages/bulk/", 204, sent, unsaid=people)

    def messages(self, after: datetime) -> list[Message]:
        """At most 30 days back."""
        return self._http.all_pages("messages/", Message, {"created_after": after.isoformat()})

    # Webhooks

    def event_types(self) -> list[EventType]:
        return self._http.all_pages("hooks/event-types/", EventType)

    def secrets(self, workspace: str) -> list[HookSecret]:
        """One, or none: a new one replaces the old."""
        found = self._http.all_pages("hooks/secrets/", HookSecret, {"workspace_id": workspace})
        return [secret for secret in found if secret.workspace_id == workspace]

    def replace_secret(self, workspace: str) -> HookSecret:
        """The old one ends at once."""
        return self._http.write("POST", "hooks/secrets/", HookSecret, 201, {"workspace_id": workspace})

    def subscriptions(self, workspace: str) -> list[Subscription]:
        return self._http.all_pages("hooks/subscriptions/", Subscription, {"workspace_id": workspace})

    def subscribe(self, workspace: str, event_type: str, target_url: str) -> Subscription:
        """Made, and confirmed with the secret of the answer's header."""
        body = {"workspace_id": workspace, "event_type": event_type, "target_url": target_url}
        response = self._http.send("POST", "hooks/subscriptions/", 201, body, is_json=True)
        made = read_written(response, NewSubscription)
        path = f"hooks/subscriptions/{_part(made.id)}/"
        confirmation = {"secret": response.headers.get("X-Hook-Secret", "")}
        return self._http.write("POST", path, Subscription, 200, confirmation)

    def events(self, subscription: str) -> list[Event]:
        return self._http.all_pages(f"hooks/subscriptions/{_part(subscription)}/events/", Event)


def _part(text: str) -> str:
    """An opaque id as one part of a path."""
    return quote(text, safe="")


def _about(reply: About, asked: str) -> About:
    if reply.id != asked:
        raise RecruiterUnavailable("Prolific: the answer is about something else.")
    return reply


def _require_at_most(most: int, rows: Sequence[object]) -> None:
    if not 0 < len(rows) <= most:
        raise ValueError(f"from 1 to {most} at once")


#: Words that the published interface does not name for the list; refused only if it is enforced.
UNNAMED_STATUS, UNNAMED_ORDERING = "RESERVED", "-completed_at"
ORDERING = "-started_at"


def findings_of(client: ProlificClient, *, workspace: str, study: str, no_consent: str) -> dict[str, Any]:
    """By name; None where nobody has done yet what would tell. `no_consent`: the code of who does not agree."""
    rows = [row for page in client.latest_submissions(study) for row in page]
    return {
        "currency_code": client.balance(workspace).currency_code,
        "status_words_taken": {word: _takes(client, study, status=word) for word in sorted(FINAL)},
        "other_status_words_refused": not _takes(client, study, status=UNNAMED_STATUS),
        "ordering_taken": _takes(client, study, ordering=ORDERING),
        "other_orderings_refused": not _takes(client, study, ordering=UNNAMED_ORDERING),
        "order_of_list": _order([row for row in rows if row.status != "RESERVED"]),
        "bonuses_in_list": _lists_bonuses(client, study),
        "after_no_consent": _after(no_consent, rows),
    }


def _takes(client: ProlificClient, study: str, **query: str) -> bool:
    return client.takes_query(study, {name: value.replace(" ", "_") for name, value in query.items()})


def _order(rows: Sequence[SubmissionInList]) -> str | None:
    began = [row.started_at for row in rows if row.started_at is not None]
    if len(set(began)) < 2:
        return None
    if began == sorted(began, reverse=True):
        return "latest first"
    return "oldest first" if began == sorted(began) else "neither"


def _lists_bonuses(client: ProlificClient, study: str) -> bool | None:
    try:
        rows = client.bonuses_in_list(study)
    except RecruiterError:
        return False
    return all(row.bonus_payments is not None for row in rows) if rows else None


def _after(code: str, rows: Sequence[SubmissionInList]) -> Mapping[str, Any] | None:
    """What became of the first who came back with the code for not agreeing."""
    row = next((one for one in rows if code and one.study_code == code), None)
    return None if row is None else {"status": row.status, "return_requested": row.return_requested is not None}


T = TypeVar("T")
#: So often something is asked before it counts as unanswered.
READS = 3


class ProlificMoney:
    """Of one wallet. Nothing here sends a payment twice, and nobody else calls `pay_bonuses`."""

    def __init__(self, client: ProlificClient, workspace: str, currency: str) -> None:
        self._client, self._workspace, self._currency = client, workspace, currency

    @property
    def most(self) -> int:
        return max(1, min(MOST_BONUSES, int(settings.BONUSES_PER_CALL)))

    def plan(self, offer_id: str, lines: Sequence[BonusLine]) -> BonusPlan:
        try:
            there = self._client.plan_bonuses(offer_id, [(line.submission_id, line.amount_cents) for line in lines])
        except OutcomeUnknown as error:
            raise RecruiterUnavailable(error.message) from None  # a plan pays nobody: another one may be made
        standing = self.standing(offer_id)
        self._check(there, offer_id, sum(line.amount_cents for line in lines), standing)
        return BonusPlan(
            plan_id=there.id,
            listed={line.submission_id: self.listed(line.submission_id) for line in lines},
            standing=standing,
        )

    def pay(self, plan_id: str) -> None:
        self._client.pay_bonuses(plan_id)

    def listed(self, submission_id: str) -> tuple[int, ...]:
        return tuple(_read(lambda: self._client.submission(submission_id)).bonus_payments)

    def standing(self, offer_id: str) -> AccountMoney:
        return AccountMoney(
            balance_cents=_read(lambda: self._client.balance(self._workspace)).available_balance,
            bonuses_cents=self._paid(offer_id),
        )

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        """Every bonus of a study, whoever paid it. None of them says why, or when.

        One list names all of them, believed where it adds up to what the study has cost. Where it does not, because it
        is short or names none, each submission is asked.
        """
        before = self._paid(offer_id)
        if not before:
            return
        listed = _read(lambda: self._client.bonuses_in_list(offer_id))
        found = [(row.id, row.participant_id, row.bonus_payments or []) for row in listed]
        total = sum(sum(cents) for _, _, cents in found)
        if not (total == before or before < total <= self._paid(offer_id)):  # some may have been paid meanwhile
            everybody = _read(lambda: list(self._client.submissions(offer_id)))
            found = [(row.id, row.participant_id, list(self.listed(row.id))) for row in everybody]
        for submission, person, amounts in found:
            for cents in amounts:
                yield BonusReport(submission_id=submission, person_id=person, amount_cents=cents, reason="")

    def _paid(self, offer_id: str) -> int:
        return _read(lambda: self._client.study_cost(offer_id)).bonuses.rewards.amount

    def _check(self, there: BonusPlanReply, offer_id: str, cents: int, standing: AccountMoney) -> None:
        """What is added up there is what is meant here: the call that pays says nothing but the plan's id."""
        if (there.study, there.amount) != (offer_id, cents):
            raise RecruiterError(
                f"The recruiter adds these bonuses up to {self._shown(there.amount)} in place of {self._shown(cents)}, "
                "or for another offer; nothing was paid."
            )
        if there.total_amount > standing.balance_cents:
            raise InsufficientFunds(
                f"Bonuses of {self._shown(there.total_amount)} with fees are due, and "
                f"{self._shown(standing.balance_cents)} are free in the account. Add money; then they are sent."
            )

    def _shown(self, cents: int) -> str:
        return money.shown(cents, self._currency)


def _read(call: Callable[[], T]) -> T:
    """A call needs a dozen reads before it: for one that fails, the others are not thrown away."""
    for _ in range(READS - 1):
        with suppress(RecruiterUnavailable):
            return call()
    return call()
