"""Do people know what they agree to, whom to ask, and have they time enough?"""

from __future__ import annotations

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import strip_tags
from django.utils.translation import gettext as _, gettext_lazy

from analysis.acceptance.rules import qualification_rule
from analysis.own_performance import FEWEST_PICTURES
from analysis.study.ethics import missing_blocks
from analysis.study.terms import NO_REQUIREMENTS
from humanexp.console.preflight.check import Launch, Line, bad, check, good, warn
from humanexp.ledger.terms import pilot_of, planned_pilot, policy_of
from humanexp.ledger.wages import wage_at
from humanexp.recruiters import money, registry
from humanexp.recruiters.facts import consent_of, pictures_of_person
from humanexp.recruiting.approvals import approval_of
from humanexp.recruiting.batches import batch_plan, takes_batches
from humanexp.recruiting.launch import place_duration_s
from humanexp.studies.estimated_duration import session_minutes
from humanexp.studies.facts import StudyFacts, languages_of, tasks_of
from humanexp.studies.models import Population

#: A time limit below so many times the length of a session cuts slow people off.
ROOM = 2.0


@check(gettext_lazy("Consent"))
def consent(launch: Launch) -> Line:
    text = consent_of(launch.study, launch.configuration.language, _facts(launch))
    edit = {"url": reverse("console:preview", args=[launch.study.slug]), "action": _("Read it")}
    if len(strip_tags(text.html).split()) < 10:
        return bad(
            _("The consent text says next to nothing."),
            _("Write in the study's consent setting what people do, what is kept, and that they may stop."),
            **edit,
        )
    if launch.configuration.consent and launch.configuration.consent_version == "1" and launch.study.version > 1:
        return warn(
            _("The study has a consent text of its own and is version %(n)d, but the text is still version 1.")
            % {"n": launch.study.version},
            _("If the text has changed, give it another consent_version."),
            **edit,
        )
    return good(_("Text %(version)s is shown before anything is asked.") % {"version": text.version})


def _facts(launch: Launch) -> StudyFacts:
    return StudyFacts(
        tasks=tasks_of(launch.study.configuration), way=registry.kind_of(launch.to).way,
        reward_cents=launch.terms.reward_cents, currency=launch.price.currency, contact=launch.terms.contact,
    )  # fmt: skip


@check(gettext_lazy("Ethics"))
def ethics(launch: Launch) -> Line:
    """Strangers need to know who asks them, what for, and who approved it. A rehearsal at home may do without."""
    if launch.study.population == Population.SCRIPTED:
        return good(_("No blocks of consent are required of this study."))
    change = {"url": reverse("studies:change", args=[launch.study.slug]), "action": _("Change it")}
    missing = missing_blocks(launch.configuration.ethics, launch.configuration.population)
    if not missing:
        return good(_("Purpose, storage, responsible people and approval are stated."))
    names = ", ".join(missing)
    if launch.is_rehearsal:
        return warn(
            _("The table [ethics] lacks: %(names)s. A launch to people from outside is refused without them.")
            % {"names": names},
            _("Fill them in before real people are invited."),
            **change,
        )
    return bad(
        _("The table [ethics] of the study lacks: %(names)s.") % {"names": names},
        _("Fill them in: people must know this before they agree."),
        **change,
    )


@check(gettext_lazy("Approval"))
def approval(launch: Launch) -> Line:
    found = approval_of(launch.study)
    recruit = {"url": f"{reverse('recruitment:recruit', args=[launch.study.slug])}#approval", "action": _("Recruit")}
    day = {"day": date_format(found.until, "j F Y") if found.until else ""}
    if found.is_withdrawn:
        return bad(_("The ethics approval was withdrawn."), _("Enter a last day once it is given again."), **recruit)
    if found.is_expired:
        return bad(
            _("The ethics approval ended on %(day)s.") % day,
            _("Enter its new last day once it is extended."),
            **recruit,
        )
    if found.has_another_text:
        return bad(
            _("The approval covers the consent text %(approved)s, and people would read %(shown)s.")
            % {"approved": found.approved_consent, "shown": found.shown_consent},
            _("Have that text approved, and say so here, or change approved_consent under [ethics]."),
            **recruit,
        )
    if not found.words:
        return good(_("The study names no approval, so that none can end."))
    return good(_("Approved until %(day)s.") % day if found.until else _("The approval does not end."))


@check(gettext_lazy("Contact"))
def contact(launch: Launch) -> Line:
    if launch.terms.contact:
        return good(_("People can write to %(contact)s.") % {"contact": launch.terms.contact})
    if launch.study.population == Population.SCRIPTED:
        return good(_("Scripted participants ask nobody."))
    return bad(
        _("The study has no contact address for participants."),
        _("Fill in the study's contact."),
        url=reverse("studies:change", args=[launch.study.slug]),
        action=_("Change it"),
    )


@check(gettext_lazy("Own result"))
def own_result(launch: Launch) -> Line:
    """What volunteers are promised for taking part has to be what they get."""
    is_asked = launch.configuration.ending.own_result and "categorisation" in tasks_of(launch.study.configuration)
    if not (launch.can.is_public and is_asked):
        return good(_("People are promised no curve of their own."))
    numbers = {"n": pictures_of_person(launch.study), "needed": FEWEST_PICTURES}
    if numbers["n"] < FEWEST_PICTURES:
        return warn(
            _("A person names %(n)d pictures, and their own curve needs %(needed)d: volunteers are not promised one.")
            % numbers,
            _("Raise main_trials or the sessions of a person, or launch it so."),
            url=reverse("studies:change", args=[launch.study.slug]),
            action=_("Change it"),
        )
    return good(_("Volunteers see how often they were right, by %(n)d pictures; %(needed)d are needed.") % numbers)


@check(gettext_lazy("Pay"))
def pay(launch: Launch) -> Line:
    if not launch.can.vouches:
        return good(_("People who come by the link are not paid through it."))
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
        "action": _("Recruit"),
    }
    if wage.is_unpaid:
        return warn(
            _("The study's reward is 0: nobody would be paid, and the launch asks whether that is meant."),
            _("Set a reward, or mark at the launch that people are not paid."),
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
        return bad(refused, _("Change the terms, or the account's settings, as it says."), **recruit)
    if hourly is not None and hourly < wage.floor_cents:
        return warn(
            _("About %(hourly)s an hour, under the floor of %(floor)s.") % numbers, _("Raise the reward."), **recruit
        )
    return good(_("About %(hourly)s an hour.") % numbers)


@check(gettext_lazy("When people are paid"))
def settling(launch: Launch) -> Line:
    """Frozen with the study: said before anybody can start."""
    if not launch.can.vouches:
        return good(_("People who come by the link are not paid through it."))
    policy, price = policy_of(launch.study), launch.price
    place_cents = price.total_cents // price.assignments
    if policy.cap_cents is not None and policy.cap_cents < place_cents:
        return bad(
            _("The cap of a day is %(cap)s, less than the %(place)s that one person costs: nobody would be paid by it.")
            % {
                "cap": money.shown(policy.cap_cents, price.currency),
                "place": money.shown(place_cents, price.currency),
            },
            _("Raise settle_cap_cents, or leave it out."),
            url=reverse("studies:change", args=[launch.study.slug]),
            action=_("Change it"),
        )
    return good(policy.words(price.currency))


@check(gettext_lazy("Qualification"))
def qualification(launch: Launch) -> Line:
    rule = qualification_rule(launch.study.rule_set)
    rounds = launch.configuration.design.qualification_trials
    design = {"url": reverse("studies:change", args=[launch.study.slug]), "action": _("Change it")}
    if launch.study.is_validation or rule is None:
        return good(_("The rules of this study ask for none."))
    if launch.configuration.design.main_trials == 0:
        return good(_("Pairs have plain ones among them that gate; the qualification is for categories."))
    if not rounds:
        return warn(
            _("The rules know a qualification, and the plan has no trials for it."),
            _("Set design.qualification_trials to 16."),
            **design,
        )
    return good(
        _("%(n)d clean pictures at the beginning; participants who fail are paid, but their sessions do not count.")
        % {"n": rounds}
    )


@check(gettext_lazy("Time"))
def time_limit(launch: Launch) -> Line:
    needed, told = session_minutes(launch.study), launch.terms.estimated_minutes
    allowed = place_duration_s(study=launch.study, to=launch.to, minutes=told) // 60
    numbers = {"needed": max(1, round(needed)), "told": told, "allowed": allowed}
    recruit = {
        "url": f"{reverse('recruitment:recruit', args=[launch.study.slug])}?to={launch.to}",
        "action": _("Recruit"),
    }
    if allowed < ROOM * needed:
        return bad(
            _("A session takes about %(needed)d minutes, and people have %(allowed)d.") % numbers,
            _("Set estimated_minutes in the study's [recruitment] table to what it really takes."),
            **recruit,
        )
    if needed > told + 1:
        return warn(
            _("The stated time is %(told)d minutes; a session takes about %(needed)d.") % numbers,
            _("Tell them the truth: the pay of an hour depends on it."),
            **recruit,
        )
    return good(
        _("About %(needed)d min in total; the entry page says %(told)d min, and participants have %(allowed)d.")
        % numbers
    )


@check(gettext_lazy("Pilot"))
def pilot(launch: Launch) -> Line:
    """What those who came first tell about the reward and the time; too few tell nothing."""
    if launch.study.population == Population.SCRIPTED:
        return good(_("Scripted participants are no measure of people's time."))
    found, most = pilot_of(launch.study), planned_pilot(launch.study)
    words = found.words(launch.price.currency)
    if most is not None:
        text = _("The plan begins with a pilot of at most %(n)d people. %(times)s") % {"n": most, "times": words}
        return good(text)
    if launch.can.vouches and found.reward_cents is not None and launch.price.reward_cents < found.reward_cents:
        return warn(
            words,
            _("Raise the reward to %(reward)s.") % {"reward": money.shown(found.reward_cents, launch.price.currency)},
            url=f"{reverse('recruitment:recruit', args=[launch.study.slug])}?to={launch.to}",
            action=_("Recruit"),
        )
    return good(words)


@check(gettext_lazy("Batches"))
def batches(launch: Launch) -> Line:
    """How the frozen plan opens the places, and whether this recruiter can do that."""
    plan = batch_plan(launch.study)
    if plan is None:
        return good(_("All places are opened at the launch."))
    if not takes_batches(launch.to, launch.price):
        return warn(
            _("The plan opens places in batches, and this recruiter takes none: all are opened at the launch."),
            _("Launch fewer places at a time, or recruit where places can be added to an offer."),
        )
    return good(plan.words)


@check(gettext_lazy("Language"))
def language(launch: Launch) -> Line:
    configuration, names = launch.configuration, languages_of(launch.study)
    page = {"url": reverse("studies:languages", args=[launch.study.slug]), "action": _("Languages")}
    for tag in configuration.languages:
        if tag not in names:
            return bad(
                _("The text bundle of the language %(tag)s is not stored here.") % {"tag": tag},
                _("Upload it again."),
                **page,
            )
        stated = configuration.ethics.texts_in(configuration.language)
        if stated.to_dict() and tag != configuration.language and tag not in configuration.ethics.translations:
            return warn(
                _("The study's own blocks of consent are not in %(language)s.") % {"language": names[tag]},
                _("Translate them under [ethics.translations] in the study file."),
                **page,
            )
    told = {"language": names[configuration.language], "all": ", ".join(names.values())}
    return good(_("The pages begin in %(language)s; readers can choose: %(all)s.") % told)
