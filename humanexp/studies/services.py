"""A study from its first version to its end: made, revised, collecting, paused, stopped."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Max

from analysis.design.options import alternatives_of
from analysis.labels.space import FEWEST, MOST_FOR_PEOPLE, LabelSpace
from analysis.study.protocol import PROTOCOLS
from analysis.study.rules import RuleSet
from analysis.study.study import StudyConfiguration
from humanexp.core.errors import InputRefused, StudyRefused
from humanexp.core.languages import languages
from humanexp.core.models import User, record
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.labels import space_named
from humanexp.studies import permissions
from humanexp.studies.models import STUDY_TRANSITIONS, Action, Origin, Protocol, Study, StudyFamily, StudyState
from humanexp.studies.permissions import studies_with
from humanexp.studies.plans import make_plan, rule_set_of, store_plan

#: With more labels than these, each takes this much longer to look through: our choice, not measured.
LOOKED_THROUGH, MORE_MS = 16, 150


def create_study(*, configuration: StudyConfiguration, by: User | None = None, rules: RuleSet | None = None) -> Study:
    """Plan a study and store it as a draft, the first version or the next one of its family.

    `rules` are the lab's own, which somebody read from a file; otherwise the configuration names a shipped set.
    """
    check_free(configuration)
    _check_family(configuration.family, by)
    fields = _planned(configuration, rules or rule_set_of(configuration))
    try:
        with transaction.atomic():
            family, _ = StudyFamily.objects.get_or_create(slug=configuration.family)
            latest = family.studies.aggregate(latest=Max("version"))["latest"] or 0
            study = Study.objects.create(
                family=family, version=latest + 1, slug=configuration.slug, created_by=by, **fields
            )
            record(
                action="create-study",
                subject=f"study:{study.slug}",
                study=study.slug,
                by=by,
                version=study.version,
                digest=study.digest,
                plan=study.plan_digest,
            )
            return study
    except IntegrityError as error:
        raise _refused(
            "slug", f"A study {configuration.slug!r} was created at the same moment: look at it first."
        ) from error


def check_free(configuration: StudyConfiguration) -> None:
    """Refuse a name that another study has."""
    if Study.objects.filter(slug=configuration.slug).exists():
        raise _refused(
            "slug",
            f"There is a study {configuration.slug!r} already: choose another slug, or make a new version of it.",
        )


def _check_family(slug: str, by: User | None) -> None:
    """The studies of a family share its people, its exclusions and how often one may come: strangers add none."""
    there = Study.objects.filter(family__slug=slug)
    if by is not None and there.exists() and not studies_with(by, Action.DESIGN).filter(family__slug=slug).exists():
        raise _refused(
            "family",
            f"There is a family {slug!r} already, and you may change none of its studies: choose another family, or "
            "ask one of their owners.",
        )


def revise_study(*, study: Study, configuration: StudyConfiguration, by: User | None = None) -> Study:
    """Replace the configuration of a study that nobody has taken part in yet, and that nobody is invited to."""
    permissions.check(by, Action.DESIGN, study)
    _refuse_frozen(study)
    if (configuration.slug, configuration.family) != (study.slug, study.family.slug):
        raise InputRefused("A revision keeps slug and family; create another study instead.")
    fields = _planned(configuration, rule_set_of(configuration, keeps=study))
    with transaction.atomic():
        revisable = Study.objects.filter(pk=study.pk, frozen_at=None).exclude(state=StudyState.COLLECTING)
        changed = revisable.update(**fields)
        if changed:
            subject = f"study:{study.slug}"
            record(action="revise-study", subject=subject, study=study.slug, by=by, digest=fields["digest"])
    study.refresh_from_db()
    if not changed:  # it was launched, or the first participant came, while the plan was made
        _refuse_frozen(study)
    return study


def new_version(*, study: Study, configuration: StudyConfiguration, by: User | None = None) -> Study:
    """The study with another configuration, in the same family; who took part before sees no picture again."""
    number = (study.family.studies.aggregate(latest=Max("version"))["latest"] or 0) + 1
    slug = configuration.slug if configuration.slug != study.slug else f"{study.slug[:74]}-v{number}"
    return create_study(
        configuration=configuration.but(slug=slug, family=study.family.slug),
        by=by,
        rules=rule_set_of(configuration, keeps=study),
    )


def _refused(place: str, sentence: str) -> InputRefused:
    """About one setting of the study file."""
    return InputRefused(sentence, fields={place: sentence})


def start_collecting(*, study: Study, by: User | None = None) -> Study:
    """Let participants in."""
    if study.origin != Origin.COLLECTED:
        raise StudyRefused("The trials of this study were imported: no one can take part in it.")
    return _advance(study, StudyState.COLLECTING, by)


def pause(*, study: Study, by: User | None = None) -> Study:
    """Let nobody new in; sessions under way go on."""
    return _advance(study, StudyState.PAUSED, by)


def stop(*, study: Study, by: User | None = None) -> Study:
    """End the collection; sessions under way go on."""
    return _advance(study, StudyState.STOPPED, by)


@transaction.atomic
def _advance(study: Study, state: StudyState, by: User | None) -> Study:
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state != state:
        if state not in STUDY_TRANSITIONS[StudyState(locked.state)]:
            raise StudyRefused(
                f"The study is {locked.get_state_display()}: it cannot become {StudyState(state).label} now."
            )
        before, locked.state = locked.state, state
        locked.save(update_fields=["state"])
        record(action=f"study-{state}", subject=f"study:{study.slug}", study=study.slug, by=by, before=before)
    study.state = locked.state
    return study


def _refuse_frozen(study: Study) -> None:
    if study.frozen_at is not None:
        raise StudyRefused(
            f"The study {study.slug} has been frozen since its first session on {study.frozen_at:%Y-%m-%d %H:%M} UTC: "
            "make a new version of it instead."
        )
    if study.state == StudyState.COLLECTING:
        raise StudyRefused(
            f"The study {study.slug} takes participants: it was checked, priced and offered as it is. Make a new "
            "version of it instead."
        )


def _planned(configuration: StudyConfiguration, rules: RuleSet) -> dict[str, object]:
    """The fields that follow from a configuration; refuses what cannot be planned before anything is written."""
    _check_language(configuration)
    stimulus_set = stimulus_set_for(configuration)
    configuration, notes = _with_labels(configuration, stimulus_set.source_set.space)
    plan = make_plan(configuration=configuration, stimulus_set=stimulus_set, rules=rules)
    plan_file, plan_digest = store_plan(plan, slug=configuration.slug)
    protocol, _ = Protocol.objects.get_or_create(
        digest=configuration.protocol.digest(),
        defaults={"name": configuration.protocol.name, "configuration": configuration.protocol.to_dict()},
    )
    return {
        "title": configuration.title,
        "population": configuration.population,
        "protocol": protocol,
        "stimulus_set": stimulus_set,
        "configuration": configuration.to_dict(),
        "digest": configuration.digest(),
        "rule_set": rules.to_dict(),
        "seed": configuration.seed,
        "planned_sessions": len(plan.sessions),
        "plan_file": plan_file,
        "plan_digest": plan_digest,
        "plan_notes": [*plan.notes, *notes],
    }


def _with_labels(configuration: StudyConfiguration, space: LabelSpace) -> tuple[StudyConfiguration, list[str]]:
    """The study as people can take it with these labels: more of them take longer to look through."""
    named = configuration.labels and space_named(configuration.labels)
    if named and named.identity != space.identity:
        raise _refused(
            "labels",
            f"The study is about the labels {named.name}, and the pictures of {configuration.stimuli} are called by "
            f"those of {space.name}, which mean something else: name another stimulus set, or these labels.",
        )
    if not configuration.design.main_trials:
        return configuration, []
    if len(space) > MOST_FOR_PEOPLE:
        raise _refused(
            "stimuli",
            f"People choose among {FEWEST} to {MOST_FOR_PEOPLE} labels, and the pictures of {configuration.stimuli} "
            f"have {len(space):,} ({space.name}): import them under labels that put several of these together.",
        )
    offered = alternatives_of(configuration.design, space)
    protocol, more = configuration.protocol, offered - LOOKED_THROUGH
    if more <= 0:
        return configuration, []
    notes = [f"{offered} labels: studies with more than {LOOKED_THROUGH} are not yet tried with people."]
    shipped = PROTOCOLS.get(protocol.name)
    if shipped and protocol.response_ms == shipped.config.response_ms and not protocol.fixed_response_window:
        longer = protocol.response_ms + MORE_MS * more
        notes.append(f"Time for an answer: {longer / 1000:g} s, {MORE_MS / 1000:g} s more for each label over 16.")
        configuration = configuration.but(protocol=protocol.but(response_ms=longer))
    return configuration, notes


def _check_language(configuration: StudyConfiguration) -> None:
    """Refuse a language that no page has."""
    known = languages()
    if configuration.language not in known:
        raise _refused(
            "language",
            f"language must be one of {', '.join(known)}, not {configuration.language!r}. Another one needs a "
            "catalogue in LOCALE_FOLDER.",
        )


def _check_wanted(configuration: StudyConfiguration, space: LabelSpace) -> None:
    """Refuse words for labels that the pictures do not have."""
    for label in configuration.wanted:
        if label not in space:
            some = ", ".join(space.ids[:20])
            raise _refused(
                f"wanted.{label}",
                f"[wanted.{label}] words a label that the pictures of {configuration.stimuli} do not have; they have: "
                f"{some}. Take the table out, or call it by one of these.",
            )


def stimulus_set_for(configuration: StudyConfiguration) -> StimulusSet:
    """The set that the configuration names, complete, of its protocol's size, and of the labels that it words."""
    found = StimulusSet.objects.filter(name=configuration.stimuli).first()
    if found is None:
        names = ", ".join(StimulusSet.objects.values_list("name", flat=True)) or "none yet"
        raise _refused("stimuli", f"There is no stimulus set {configuration.stimuli!r}; there are: {names}.")
    if found.completed_at is None:
        raise _refused(
            "stimuli", f"The stimulus set {found.name!r} is not complete yet: wait for its job, or resume it."
        )
    if found.size_px != configuration.protocol.size_px:
        raise _refused(
            "stimuli",
            f"The stimuli of {found.name!r} are {found.size_px} px wide, and the protocol "
            f"{configuration.protocol.name!r} shows {configuration.protocol.size_px} px: generate the stimuli in that "
            "size. Visual change depends on it, so pictures are never scaled afterwards.",
        )
    _check_wanted(configuration, found.source_set.space)
    return found
