"""Sentences about what waits for a person in recruiting, as data."""

from __future__ import annotations

from collections.abc import Mapping

from humanexp.core.problems import Severity
from humanexp.studies.models import Action
from humanexp.studies.waiting import Words

_RESTORE = (
    "Restore it from the backup, and look at the whole set with verify_stimuli %(set)s; people go on where they "
    "stopped. Whoever runs out of time meanwhile is listed below to be compensated."
)
WORDS: Mapping[str, Words] = {
    "approval-withdrawn": Words(
        kind="approval",
        text="The ethics approval was withdrawn: no one new can start.",
        tone=Severity.BAD,
        resolution=(
            "People who have begun can finish, and get what was promised. Enter a last day once it is given again."
        ),
        actions=(Action.LAUNCH,),
        page="recruitment:recruit#approval",
        button="Enter it",
        seen_by=Action.LAUNCH,
    ),
    "approval-ended": Words(
        kind="approval",
        text="The ethics approval ended on %(day)s: no one new can start.",
        tone=Severity.BAD,
        resolution=(
            "People who have begun can finish, and get what was promised. Enter its new last day once it is extended."
        ),
        actions=(Action.LAUNCH,),
        page="recruitment:recruit#approval",
        button="Enter it",
        seen_by=Action.LAUNCH,
    ),
    "approval-ends": Words(
        kind="approval",
        text="The ethics approval ends on %(day)s; after that day no one new can start.",
        resolution="Have it extended, and enter its new last day.",
        actions=(Action.LAUNCH,),
        page="recruitment:recruit#approval",
        button="Enter it",
        seen_by=Action.LAUNCH,
    ),
    "keys": Words(
        text="%(where)s: %(why)s",
        tone=Severity.BAD,
        resolution="Nothing is sent. Set keys that are accepted; sending continues automatically within a minute.",
        actions=(Action.PAY, Action.LAUNCH),
        notice="A recruiter does not accept the keys of an account: nothing is sent through it.",
    ),
    "paused": Words(
        text="%(where)s is paused: no places are opened and nobody is paid through it.",
        tone=Severity.BAD,
        resolution="An administrator resumes it on the page Recruiters; what waits is then sent.",
        actions=(),
        notice="An account with a recruiter is paused: no places are opened and no one is paid through it.",
    ),
    "not-asked": Words(
        text="The recruiter has not been asked for %(minutes)d minutes.",
        tone=Severity.BAD,
        resolution=(
            "Submissions since then are unknown here, and none of them is paid. The job runner "
            "(python manage.py run_jobs) asks every minute; its log says what prevents it."
        ),
    ),
    "places-kept": Words(
        text=(
            "%(count)d person who did not take part has kept the place at %(where)s, and is paid there from %(day)s "
            "on.",
            "%(count)d people who did not take part have kept their places at %(where)s, and are paid there from "
            "%(day)s on.",
        ),
        resolution=(
            "They were asked to give them back. Ask them again on the recruiter's site, or reject them there; else the "
            "recruiter approves them by itself, and the ledger shows that as a difference."
        ),
        actions=(Action.LAUNCH, Action.PAY),
    ),
    "ledger": Words(
        text=(
            "The ledger and the recruiter differ about %(count)d payment.",
            "The ledger and the recruiter differ about %(count)d payments.",
        ),
        tone=Severity.BAD,
        resolution="Bonuses that it concerns wait; all else is paid. Look at what each side says, and say what it is.",
        actions=(Action.PAY,),
        page="recruitment:ledger#differences",
        button="Look at both sides",
        first="recruitment:difference",
    ),
    "damaged-picture": Words(
        text="The file %(file)s is missing since %(when)s UTC: its picture is no longer shown. %(stopped)s",
        tone=Severity.BAD,
        resolution=_RESTORE,
        actions=(Action.LAUNCH,),
        notice=(
            "%(count)d picture is missing or was changed on the disk, and is no longer shown.",
            "%(count)d pictures are missing or were changed on the disk, and are no longer shown.",
        ),
    ),
    "changed-picture": Words(
        kind="damaged-picture",
        text="The file %(file)s was changed, seen on %(when)s UTC: its picture is no longer shown. %(stopped)s",
        tone=Severity.BAD,
        resolution=_RESTORE,
        actions=(Action.LAUNCH,),
        notice=(
            "%(count)d picture is missing or was changed on the disk, and is no longer shown.",
            "%(count)d pictures are missing or were changed on the disk, and are no longer shown.",
        ),
    ),
    "money": Words(
        text="%(where)s: %(owed)s is due, and %(left)s is in the account.",
        tone=Severity.BAD,
        resolution="Add %(missing)s there; everything waiting is paid then.",
        actions=(Action.PAY,),
        notice="An account with a recruiter holds less than is due through it.",
    ),
    "settle-cap": Words(
        text=(
            "%(count)d person is due to be paid, and the day's cap of this study is reached.",
            "%(count)d people are due to be paid, and the day's cap of this study is reached.",
        ),
        resolution="Pay them now, or let them wait: the job continues once 24 hours have passed.",
        actions=(Action.PAY,),
    ),
    "wage": Words(
        text=(
            "%(where)s: the median hour of %(count)d person pays %(hourly)s; the minimum is %(least)s. %(paused)s",
            "%(where)s: the median hour of %(count)d people pays %(hourly)s; the minimum is %(least)s. %(paused)s",
        ),
        tone=Severity.BAD,
        resolution="Pay everyone the same top-up, once. Nothing is paid before you confirm it.",
        actions=(Action.PAY,),
        notice="The median hourly pay of a campaign is below the minimum of the plan.",
        first="recruitment:top-up-campaign",
        button="Look at the top-up",
        seen_by=Action.PAY,
    ),
    "wage-again": Words(
        text=(
            "%(where)s: after its top-up, the median hour of %(count)d person still pays %(hourly)s; the minimum is "
            "%(least)s. %(paused)s",
            "%(where)s: after its top-up, the median hour of %(count)d people still pays %(hourly)s; the minimum is "
            "%(least)s. %(paused)s",
        ),
        tone=Severity.BAD,
        resolution=(
            "There is no second top-up for everyone. Stop the campaign and launch another one with a higher reward; "
            "the link next to the hourly pay tops up each person below the minimum."
        ),
        actions=(Action.PAY, Action.LAUNCH),
        notice="After its top-up, the median hourly pay of a campaign is still below the minimum of the plan.",
    ),
    "top-up-held": Words(
        text=(
            "%(where)s: %(count)d person has not got the top-up of everyone, because it is beyond a cap.",
            "%(where)s: %(count)d people have not got the top-up of everyone, because it is beyond a cap.",
        ),
        tone=Severity.BAD,
        resolution="Raise the cap of the campaign, the study or the month; it is then paid within a minute.",
        actions=(Action.LAUNCH,),
        first="recruitment:extend",
        button="Raise the cap",
        seen_by=Action.LAUNCH,
    ),
    "returns": Words(
        text=(
            "%(where)s: %(returned)d of %(count)d people who started gave their places back; the plan expects at most "
            "%(limit)d %%. %(paused)s"
        ),
        resolution=(
            "See where they stopped and what they reported, before more people come. The alarm remains until the "
            "campaign is over."
        ),
        actions=(Action.LAUNCH,),
        page="participation:live",
        button="Where people stop",
        seen_by=Action.SEE,
    ),
    "cut-hit": Words(
        text="%(hit)s: %(error)s",
        tone=Severity.BAD,
        resolution="Remove the cause and have it sent again, or stop the campaign.",
        actions=(Action.LAUNCH,),
        notice="The recruiter refused to publish places of a campaign.",
    ),
    "doubtful-hit": Words(
        kind="cut-hit",
        text="%(hit)s: it is not yet known whether it was published (%(error)s)",
        resolution="The recruiter is asked before anything is sent again; people may be at work on it already.",
        actions=(Action.LAUNCH,),
        notice="It is not known whether places of a campaign were published.",
    ),
    "open-hit": Words(
        text=(
            "%(count)d stopped offer can still be taken: the recruiter has not ended it (%(error)s)",
            "%(count)d stopped offers can still be taken: the recruiter has not ended them (%(error)s)",
        ),
        tone=Severity.BAD,
        resolution=(
            "The request is repeated every minute. If it keeps failing, end the offer on the recruiter's own page; "
            "this page will notice."
        ),
        actions=(Action.STOP,),
        notice=(
            "%(count)d stopped offer can still be taken: the recruiter has not ended it.",
            "%(count)d stopped offers can still be taken: the recruiter has not ended them.",
        ),
    ),
    "refused-payment": Words(
        text="A %(what)s was refused: %(error)s",
        tone=Severity.BAD,
        resolution="Remove the cause and have it sent again.",
        actions=(Action.PAY,),
        notice="The recruiter refused a payment.",
        page="recruitment:ledger?state=refused",
    ),
    "stuck-payment": Words(
        text="A payment is on its way since %(since)s: %(error)s",
        resolution="Nothing has to be done: the recruiter is asked before it is sent again.",
        actions=(Action.PAY,),
        notice="A payment is on its way, and the recruiter has not confirmed it.",
        page="recruitment:ledger?state=sending",
    ),
    "parked": Words(
        text=(
            "%(count)d bonus was sent, and nothing shows whether it was paid.",
            "%(count)d bonuses were sent, and nothing shows whether they were paid.",
        ),
        resolution=(
            "Look at what the recruiter listed before and lists now; then have them paid again, or note that they "
            "were paid. Somebody who pays by hand on the recruiter's site looks like us."
        ),
        actions=(Action.PAY,),
        page="recruitment:parked",
        button="Decide",
    ),
    "proposal": Words(
        text=("%(count)d rejection waits for a second person.", "%(count)d rejections wait for a second person."),
        resolution=(
            "Another owner or payer reads it and agrees, or not. Otherwise the first is approved automatically on "
            "%(until)s UTC."
        ),
        actions=(Action.PAY,),
        page="recruitment:monitor#proposed",
        button="Read it",
        first="recruitment:assignment",
    ),
    "other-worker": Words(
        text="A submission carries the proof of a session that was opened under another id.",
        resolution="Look at both and decide whom to pay; otherwise it is approved automatically.",
        actions=(Action.PAY,),
        page="recruitment:monitor#owed",
        button="Decide",
        first="recruitment:assignment",
    ),
    "extra": Words(
        text=(
            "%(count)d submission is of a person who had done the work in another place at the same time.",
            "%(count)d submissions are of people who had done the work in another place at the same time.",
        ),
        resolution="One session of each person counts. Decide whether to pay; otherwise it is approved automatically.",
        actions=(Action.PAY,),
        page="recruitment:monitor#owed",
        button="Decide",
        first="recruitment:assignment",
    ),
    "no-pictures": Words(
        text=(
            "%(count)d person finished without fetching a single picture.",
            "%(count)d people finished without fetching a single picture.",
        ),
        resolution=(
            "They may be scripts, or their browsers may block pictures. Nobody is rejected for it by a rule: look and "
            "pay, or wait; otherwise it is approved automatically."
        ),
        actions=(Action.PAY,),
        page="recruitment:monitor#owed",
        button="Decide",
        first="recruitment:assignment",
    ),
    "unmatched": Words(
        text=(
            "%(count)d submission fits no finished session of ours.",
            "%(count)d submissions fit no finished session of ours.",
        ),
        resolution="Look at each and pay it (it may have been our fault); otherwise it is approved automatically.",
        actions=(Action.PAY,),
        page="recruitment:monitor#owed",
        button="Decide",
        first="recruitment:assignment",
    ),
    "not-submitted": Words(
        text=(
            "%(count)d person did their work and never submitted it.",
            "%(count)d people did their work and never submitted it.",
        ),
        resolution="Pay a compensation, as a bonus; whom no bonus reaches can still submit, or is paid by hand.",
        actions=(Action.PAY,),
        page="recruitment:monitor#owed",
        button="Compensate",
    ),
    "taken-over": Words(
        text=(
            "%(count)d place was returned and taken by another person under the same id.",
            "%(count)d places were returned and taken by another person under the same id.",
        ),
        tone=Severity.NOTE,
        resolution="Nothing has to be done: each person has a row, and only the one whom the recruiter lists is paid.",
        first="recruitment:assignment",
        button="Decide",
    ),
    "rivals": Words(
        text=(
            "Under the id of %(count)d person several sessions were answered: somebody else may have used it.",
            "Under the ids of %(count)d people several sessions were answered: somebody else may have used them.",
        ),
        resolution=(
            "The session whose answers counted first stands for the id; only that one is analysed and paid. Look at "
            "both, and write to the person if in doubt whose it is."
        ),
        first="recruitment:assignment",
    ),
    "notice": Words(
        text=(
            "%(count)d message did not reach its person, or this is not known: %(why)s",
            "%(count)d messages did not reach their people, or this is not known: %(why)s",
        ),
        tone=Severity.NOTE,
        resolution="Write again where it matters.",
        actions=(Action.LAUNCH,),
        notice=(
            "%(count)d message did not reach its person, or this is not known.",
            "%(count)d messages did not reach their people, or this is not known.",
        ),
    ),
}
