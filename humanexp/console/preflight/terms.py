"""Do people know what they agree to, whom to ask, and have they time enough?"""

from __future__ import annotations

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import strip_tags

from analysis.acceptance.rules import qualification_rule
from analysis.own_performance import FEWEST_PICTURES
from analysis.study.ethics import missing_blocks
from analysis.study.terms import NO_REQUIREMENTS
from humanexp.console.preflight.check import Launch, check
from humanexp.core.languages import catalogues, languages
from humanexp.core.problems import Problem, bad, good, warn
from humanexp.ledger.terms import pilot_of, planned_pilot, policy_of
from humanexp.ledger.wages import wage_at
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import consent_of, pictures_of_person
from humanexp.recruiting.approvals import approval_of
from humanexp.recruiting.batches import batch_plan, takes_batches
from humanexp.recruiting.launch import place_duration_s
from humanexp.studies.facts import StudyFacts, session_minutes, tasks_of
from humanexp.studies.models import Population

#: A time limit below so many times the length of a session cuts slow people off.
ROOM = 2.0


@check("Consent")
def consent(launch: Launch) -> Problem:
    text = consent_of(launch.study, launch.configuration.language, _facts(launch))
    edit = {"url": reverse("console:preview", args=[launch.study.slug]), "button": "Read it"}
    if len(strip_tags(text.html).split()) < 10:
        return bad(
            "The consent text says next to nothing.",
            "Write in the study's consent setting what people do, what is kept, and that they may stop.",
            **edit,
        )
    if launch.configuration.consent and launch.configuration.consent_version == "1" and launch.study.version > 1:
        return warn(
            f"The study has a consent text of its own and is version {launch.study.version}, but the "
            "text is still version 1.",
            "If the text has changed, give it another consent_version.",
            **edit,
        )
    return good(f"Text {text.version} is shown before anything is asked.")


def _facts(launch: Launch) -> StudyFacts:
    return StudyFacts(
        tasks=tasks_of(launch.study.configuration), way=registry.kind_of(launch.to).way,
        reward_cents=launch.terms.reward_cents, currency=launch.price.currency, contact=launch.terms.contact,
    )  # fmt: skip


@check("Ethics")
def ethics(launch: Launch) -> Problem:
    """Strangers need to know who asks them, what for, and who approved it. A rehearsal at home may do without."""
    if launch.study.population == Population.SCRIPTED:
        return good("No blocks of consent are required of this study.")
    change = {"url": reverse("studies:change", args=[launch.study.slug]), "button": "Change it"}
    missing = missing_blocks(launch.configuration.ethics, launch.configuration.population)
    if not missing:
        return good("Purpose, storage, responsible people and approval are stated.")
    names = ", ".join(missing)
    if launch.is_rehearsal:
        return warn(
            f"The table [ethics] lacks: {names}. A launch to people from outside is refused without them.",
            "Fill them in before real people are invited.",
            **change,
        )
    return bad(
        f"The table [ethics] of the study lacks: {names}.",
        "Fill them in: people must know this before they agree.",
        **change,
    )


@check("Approval")
def approval(launch: Launch) -> Problem:
    found = approval_of(launch.study)
    recruit = {"url": f"{reverse('recruitment:recruit', args=[launch.study.slug])}#approval", "button": "Recruit"}
    day = {"day": date_format(found.until, "j F Y") if found.until else ""}
    if found.is_withdrawn:
        return bad("The ethics approval was withdrawn.", "Enter a last day once it is given again.", **recruit)
    if found.is_expired:
        return bad(
            "The ethics approval ended on {day}.".format(**day),
            "Enter its new last day once it is extended.",
            **recruit,
        )
    if found.has_another_text:
        return bad(
            f"The approval covers the consent text {found.approved_consent}, and people would read "
            f"{found.shown_consent}.",
            "Have that text approved, and say so here, or change approved_consent under [ethics].",
            **recruit,
        )
    if not found.words:
        return good("The study names no approval, so that none can end.")
    return good("Approved until {day}.".format(**day) if found.until else "The approval does not end.")


@check("Contact")
def contact(launch: Launch) -> Problem:
    if launch.terms.contact:
        return good(f"People can write to {launch.terms.contact}.")
    if launch.study.population == Population.SCRIPTED:
        return good("Scripted participants ask nobody.")
    return bad(
        "The study has no contact address for participants.",
        "Fill in the study's contact.",
        url=reverse("studies:change", args=[launch.study.slug]),
        button="Change it",
    )


@check("Own result")
def own_result(launch: Launch) -> Problem:
    """What volunteers are promised for taking part has to be what they get."""
    is_asked = launch.configuration.ending.own_result and "categorisation" in tasks_of(launch.study.configuration)
    if not (launch.can.is_public and is_asked):
        return good("People are promised no curve of their own.")
    numbers = {"n": pictures_of_person(launch.study), "needed": FEWEST_PICTURES}
    if numbers["n"] < FEWEST_PICTURES:
        return warn(
            "A person names {n} pictures, and their own curve needs {needed}: volunteers are not promised one.".format(
                **numbers
            ),
            "Raise main_trials or the sessions of a person, or launch it so.",
            url=reverse("studies:change", args=[launch.study.slug]),
            button="Change it",
        )
    return good("Volunteers see how often they were right, by {n} pictures; {needed} are needed.".format(**numbers))


@check("Pay")
def pay(launch: Launch) -> Problem:
    if not launch.can.vouches:
        return good("People who come by the link are not paid through it.")
    wage = wage_at(
        launch.study,
        reward_cents=launch.price.reward_cents,
        stated_minutes=launch.terms.estimated_minutes,
        to=launch.to,
    )
    hourly = wage.hourly_median_cents
    numbers = {
        "hourly": money.shown(hourly or 0, wage.currency),
        "floor": money.shown(wage.floor_cents, wage.currency),
    }
    recruit = {
        "url": f"{reverse('recruitment:recruit', args=[launch.study.slug])}?to={launch.to}",
        "button": "Recruit",
    }
    if wage.is_unpaid:
        return warn(
            "The study's reward is 0: nobody would be paid, and the launch asks whether that is meant.",
            "Set a reward, or mark at the launch that people are not paid.",
            **recruit,
        )
    account = registry.account_of(launch.to)
    refused = account.kind.refusal(
        account,
        reward_cents=launch.price.reward_cents,
        minutes=launch.terms.estimated_minutes,
        people=NO_REQUIREMENTS,  # the launch form asks for them
    )
    if refused:
        return bad(refused, "Change the terms, or the account's settings, as it says.", **recruit)
    if hourly is not None and hourly < wage.floor_cents:
        return warn(
            "About {hourly} an hour, under the floor of {floor}.".format(**numbers), "Raise the reward.", **recruit
        )
    return good("About {hourly} an hour.".format(**numbers))


@check("When people are paid")
def settling(launch: Launch) -> Problem:
    """Frozen with the study: said before anybody can start."""
    if not launch.can.vouches:
        return good("People who come by the link are not paid through it.")
    policy, price = policy_of(launch.study), launch.price
    place_cents = price.total_cents // price.assignments
    if policy.cap_cents is not None and policy.cap_cents < place_cents:
        return bad(
            f"The cap of a day is {money.shown(policy.cap_cents, price.currency)}, less than the "
            f"{money.shown(place_cents, price.currency)} that one person costs: nobody would be paid by "
            "it.",
            "Raise settle_cap_cents, or leave it out.",
            url=reverse("studies:change", args=[launch.study.slug]),
            button="Change it",
        )
    return good(policy.words(price.currency))


@check("Qualification")
def qualification(launch: Launch) -> Problem:
    rule = qualification_rule(launch.study.rule_set)
    rounds = launch.configuration.design.qualification_trials
    design = {"url": reverse("studies:change", args=[launch.study.slug]), "button": "Change it"}
    if launch.study.is_validation or rule is None:
        return good("The rules of this study ask for none.")
    if launch.configuration.design.main_trials == 0:
        return good("Pairs have plain ones among them that gate; the qualification is for categories.")
    if not rounds:
        return warn(
            "The rules know a qualification, and the plan has no trials for it.",
            "Set design.qualification_trials to 16.",
            **design,
        )
    return good(
        f"{rounds} clean pictures at the beginning; participants who fail are paid, but their sessions do not count."
    )


@check("Time")
def time_limit(launch: Launch) -> Problem:
    needed, told = session_minutes(launch.study), launch.terms.estimated_minutes
    allowed = place_duration_s(study=launch.study, to=launch.to, minutes=told) // 60
    numbers = {"needed": max(1, round(needed)), "told": told, "allowed": allowed}
    recruit = {
        "url": f"{reverse('recruitment:recruit', args=[launch.study.slug])}?to={launch.to}",
        "button": "Recruit",
    }
    if allowed < ROOM * needed:
        return bad(
            "A session takes about {needed} minutes, and people have {allowed}.".format(**numbers),
            "Set estimated_minutes in the study's [recruitment] table to what it really takes.",
            **recruit,
        )
    if needed > told + 1:
        return warn(
            "The stated time is {told} minutes; a session takes about {needed}.".format(**numbers),
            "Tell them the truth: the pay of an hour depends on it.",
            **recruit,
        )
    return good(
        "About {needed} min in total; the entry page says {told} min, and participants have {allowed}.".format(
            **numbers
        )
    )


@check("Pilot")
def pilot(launch: Launch) -> Problem:
    """What those who came first tell about the reward and the time; too few tell nothing."""
    if launch.study.population == Population.SCRIPTED:
        return good("Scripted participants are no measure of people's time.")
    found, most = pilot_of(launch.study), planned_pilot(launch.study)
    words = found.words(launch.price.currency)
    if most is not None:
        text = f"The plan begins with a pilot of at most {most} people. {words}"
        return good(text)
    if launch.can.vouches and found.reward_cents is not None and launch.price.reward_cents < found.reward_cents:
        return warn(
            words,
            f"Raise the reward to {money.shown(found.reward_cents, launch.price.currency)}.",
            url=f"{reverse('recruitment:recruit', args=[launch.study.slug])}?to={launch.to}",
            button="Recruit",
        )
    return good(words)


@check("Batches")
def batches(launch: Launch) -> Problem:
    """How the frozen plan opens the places, and whether this recruiter can do that."""
    plan = batch_plan(launch.study)
    if plan is None:
        return good("All places are opened at the launch.")
    if not takes_batches(launch.to, launch.price):
        return warn(
            "The plan opens places in batches, and this recruiter takes none: all are opened at the launch.",
            "Launch fewer places at a time, or recruit where places can be added to an offer.",
        )
    return good(plan.words)


@check("Language")
def language(launch: Launch) -> Problem:
    configuration, names = launch.configuration, languages()
    if configuration.language not in names:
        return bad(
            f"There is no catalogue for {configuration.language} in LOCALE_FOLDER.",
            "Put it back, and start the web process again.",
        )
    stated = {configuration.language, *configuration.ethics.translations}
    untold = [one.name for one in catalogues().values() if one.tag not in stated]
    if untold and configuration.ethics.texts_in(configuration.language).to_dict():
        return warn(
            f"The study's own blocks of consent are not in {untold[0]}.",
            "Translate them under [ethics.translations] in the study file.",
        )
    told = {"language": names[configuration.language], "all": ", ".join(names.values())}
    return good("The pages begin in {language}; readers can choose: {all}.".format(**told))
