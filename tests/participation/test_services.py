from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from analysis.design.plan import StudyPlan
from analysis.errors import DesignRefused
from humanexp.core.errors import Conflict, InputRefused, SessionClosed, StudyRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.participation.answers import iter_trial_rows
from humanexp.participation.models import SESSION_TRANSITIONS, Response, Session, SessionState, Trial
from humanexp.participation.openings import (
    issue_handoff,
    issue_token,
    mark_submitted,
    open_session,
    participant_for,
    receipt_for,
    withdraw_session,
)
from humanexp.participation.sessions import session_counts, session_for_token
from humanexp.participation.tallies import answer_counts
from humanexp.stimuli.models import StimulusSet
from humanexp.studies import plans
from humanexp.studies.models import STUDY_TRANSITIONS, Role, Study, StudyState
from humanexp.studies.permissions import role_of
from humanexp.studies.selectors import configuration_of, visible_to
from humanexp.studies.services import create_study, new_version, pause, revise_study, start_collecting, stop
from tests.factories import Tab, collecting_study, configuration, draft_study, new_session, whole_plan

# Studies


def test_a_study_is_its_configuration_its_plan_and_their_digests(stimulus_set):
    made = draft_study(seed=5)
    assert (made.state, made.version, made.slug, made.family.slug) == ("draft", 1, "small-study", "small-study")
    assert made.planned_sessions == 6 and made.frozen_at is None
    assert configuration_of(made) == configuration(seed=5)
    assert made.digest == configuration(seed=5).digest()
    assert made.rule_set["name"] == "vcr"
    plan = whole_plan(made)
    assert isinstance(plan, StudyPlan) and len(plan.sessions) == 6 and list(plan.notes) == made.plan_notes
    lines = media_path(made.plan_file).read_text().splitlines()
    assert StudyPlan.from_lines(lines) == plan


def test_the_same_study_again_is_refused_and_another_seed_is_another_plan(stimulus_set):
    first = draft_study()
    with pytest.raises(InputRefused, match="There is a study 'small-study' already"):
        draft_study()
    second = draft_study(slug="other", seed=1)
    assert second.plan_digest != first.plan_digest


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"stimuli": "nothing"}, InputRefused, "There is no stimulus set 'nothing'; there are: pictures"),
        ({"protocol": "vcr"}, InputRefused, "are 24 px wide, and the protocol 'vcr' shows 224 px"),
        ({"design": {"main_trials": 16, "qualification_trials": 90}}, DesignRefused, "originals are too few"),
        ({"gold_originals": ("wolf-1",)}, DesignRefused, "'wolf-1' is not in the picture set"),
    ],
)
def test_what_cannot_be_planned_is_refused_before_anything_is_written(stimulus_set, changes, error, sentence):
    with pytest.raises(error, match=sentence):
        draft_study(**changes)
    assert not Study.objects.exists()


def test_an_incomplete_stimulus_set_is_refused(stimulus_set):
    StimulusSet.objects.update(completed_at=None)
    with pytest.raises(InputRefused, match="is not complete yet"):
        draft_study()


def test_a_draft_can_be_revised_a_launched_or_frozen_study_cannot(stimulus_set):
    study = draft_study()
    stale = Study.objects.get(pk=study.pk)
    revised = revise_study(study=study, configuration=configuration(seed=9))
    assert revised.seed == 9
    start_collecting(study=study)
    for copy in (study, stale):  # what was checked, priced and offered is what people get
        with pytest.raises(StudyRefused, match="takes participants: it was checked, priced and offered as it is"):
            revise_study(study=copy, configuration=configuration(seed=10))
    new_session(study)
    study.refresh_from_db()
    assert study.frozen_at is not None
    with pytest.raises(StudyRefused, match="frozen since its first session .* make a new version"):
        revise_study(study=study, configuration=configuration(seed=10))
    study.refresh_from_db()
    assert study.seed == 9


def test_a_stale_copy_of_a_study_cannot_revise_it_after_the_first_session(stimulus_set):
    study = draft_study()
    stale = Study.objects.get(pk=study.pk)
    new_session(start_collecting(study=study))
    with pytest.raises(StudyRefused, match="frozen"):
        revise_study(study=stale, configuration=configuration(seed=10))


def test_strangers_add_no_study_to_a_family(stimulus_set, django_user_model):
    """A newer study of a family says how often its people may come, and opens its list of exclusions."""
    ada, bob, eve = (django_user_model.objects.create_user(name) for name in ("ada", "bob", "eve"))
    study = draft_study(by=ada)
    study.memberships.create(user=bob, role="viewer")
    joining = configuration(slug="mine", family=study.family.slug)
    for stranger in (bob, eve):
        with pytest.raises(InputRefused, match="There is a family 'small-study' already"):
            create_study(configuration=joining, by=stranger)
    assert create_study(configuration=joining, by=ada).version == 2


def test_a_new_version_lives_in_the_family(study):
    second = new_version(study=study, configuration=configuration(seed=2))
    assert (second.family, second.version, second.slug) == (study.family, 2, "small-study-v2")
    third = new_version(study=study, configuration=configuration(seed=3, slug="noise-again"))
    assert (third.version, third.slug) == (3, "noise-again")
    assert configuration_of(third).family == "small-study"


def test_every_arrow_of_the_study_states(study):
    moves = {
        StudyState.COLLECTING: start_collecting,
        StudyState.PAUSED: pause,
        StudyState.STOPPED: stop,
    }
    for before in StudyState:
        for after, move in moves.items():
            Study.objects.filter(pk=study.pk).update(state=before)
            fresh = Study.objects.get(pk=study.pk)
            if after in STUDY_TRANSITIONS[before] or after == before:
                assert move(study=fresh).state == after
            else:
                with pytest.raises(StudyRefused, match="cannot become"):
                    move(study=fresh)
                assert Study.objects.get(pk=study.pk).state == before


def test_a_plan_file_that_was_changed_or_lost_is_noticed(study):
    path = media_path(study.plan_file)
    content = path.read_bytes()
    plans._lines.cache_clear()
    path.write_bytes(content + b" ")
    with pytest.raises(StudyRefused, match="was changed"):
        new_session(study)
    path.unlink()
    with pytest.raises(StudyRefused, match="is missing"):
        new_session(study)
    path.write_bytes(content)
    assert new_session(study).slot == 0


def test_the_command(stimulus_set, tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(configuration().to_toml())
    call_command("create_study", str(path))
    assert "6 sessions planned" in capsys.readouterr().out
    with pytest.raises(CommandError, match="already"):
        call_command("create_study", str(path))
    with pytest.raises(CommandError, match="No such file"):
        call_command("create_study", str(tmp_path / "absent.toml"))
    path.write_text("title =")
    with pytest.raises(CommandError, match="study.toml is no valid TOML"):
        call_command("create_study", str(path))


def test_the_command_names_the_owner(stimulus_set, tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(configuration().to_toml())
    with pytest.raises(CommandError, match="No one here has an account 'ada'"):
        call_command("create_study", str(path), "--owner", "ada")
    assert not Study.objects.exists()
    ada = User.objects.create_user("ada")
    call_command("create_study", str(path), "--owner", "ada")
    assert role_of(ada, Study.objects.get()) == Role.OWNER
    assert "no owner" not in capsys.readouterr().out


def test_the_command_finds_a_labs_rules_beside_the_file(stimulus_set, tmp_path):
    (tmp_path / "lab.toml").write_text('name = "lab"\nversion = "1"\ndescription = "ours"\n')
    path = tmp_path / "study.toml"
    path.write_text(configuration(rules="lab.toml").to_toml())
    call_command("create_study", str(path))
    study = Study.objects.get()
    assert study.rule_set["name"] == "lab"
    # The file may go: the study keeps its rules, and so does its next version.
    (tmp_path / "lab.toml").unlink()
    revise_study(study=study, configuration=configuration(rules="lab.toml", seed=5))
    later = new_version(study=study, configuration=configuration(rules="lab.toml", seed=6))
    assert later.rule_set == study.rule_set


def test_the_command_says_which_file_of_rules_is_missing(stimulus_set, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(configuration(rules="lab.toml").to_toml())
    with pytest.raises(CommandError, match="There is no file .*lab.toml with a rule set"):
        call_command("create_study", str(path))


# Sessions


def test_sessions_take_the_lowest_free_slot_and_its_trials(study):
    sessions = [new_session(study, f"P-{n}") for n in range(3)]
    assert [session.slot for session in sessions] == [0, 1, 2]
    plan = whole_plan(study)
    for session in sessions:
        planned = plan.sessions[session.slot].trials
        stored = list(session.trials.values_list("position", "role", "stimulus__key", "correct_response", "mask_seed"))
        assert stored == [(t.position, t.role, t.stimulus, t.correct_response, t.mask_seed) for t in planned]
        assert session.total == len(planned)


def test_a_withdrawn_session_frees_its_slot(study):
    first, second = new_session(study, "P-1"), new_session(study, "P-2")
    withdraw_session(session=first)
    third = new_session(study, "P-3")
    assert third.slot == first.slot == 0 and second.slot == 1
    assert first.state == SessionState.WITHDRAWN
    assert session_counts(study) == {
        "opened": 3,
        "under_way": 2,
        "completed": 0,
        "submitted": 0,
        "unverified": 0,
        "withdrawn": 1,
        "planned": 6,
    }


def test_the_same_person_gets_their_session_back_and_no_second_one(client, study):
    first = new_session(study, "P-1")
    assert new_session(study, "P-1") == first
    tab = Tab(client, first)
    tab.take_lease()
    for position in range(first.total):
        tab.answer(position)
    tab.post("complete/", {})
    with pytest.raises(StudyRefused, match="You have already taken part in this study"):
        new_session(study, "P-1")


def test_a_full_study_and_a_study_that_does_not_collect_take_nobody(study):
    for number in range(6):
        new_session(study, f"P-{number}")
    with pytest.raises(StudyRefused, match="all the participants it needs"):
        new_session(study, "P-7")
    pause(study=study)
    with pytest.raises(StudyRefused, match="takes no participants"):
        new_session(study, "P-8")
    assert new_session(study, "P-0").slot == 0  # who has started goes on


def test_people_and_scripts_never_mix(study, stimulus_set):
    scripted = draft_study(slug="bots", population="scripted")
    start_collecting(study=scripted)
    with pytest.raises(StudyRefused, match="This study is for people"):
        new_session(study, "B-1", scripted=True)
    with pytest.raises(StudyRefused, match="This study is for scripted participants"):
        new_session(scripted, "P-1")
    assert new_session(scripted, "B-1", scripted=True).is_scripted
    with pytest.raises(StudyRefused, match="never share a code"):
        participant_for(family=scripted.family, code="B-1", scripted=False)


def test_a_participant_of_another_family_is_refused(study, stimulus_set):
    other = collecting_study(slug="other")
    participant = participant_for(family=other.family, code="P-1")
    with pytest.raises(StudyRefused, match="another family"):
        open_session(study=study, participant=participant)


def finish(client, session):
    tab = Tab(client, session, f"lease-{session.pk:08d}")
    tab.take_lease()
    for position in range(session.total):
        tab.answer(position)
    assert tab.post("complete/", {}).status_code == 200


def originals(session):
    return set(session.trials.values_list("stimulus__source_image__key", flat=True))


def test_a_second_session_shows_no_original_again(client, db):
    from tests.factories import make_stimulus_set

    make_stimulus_set(per_category=12, per_function=192)
    wanted = configuration(
        max_sessions_per_worker=2,
        design={"sessions": 4, "main_trials": 16, "practice_trials": 4, "consistency_pairs": 2, "clean_trials": 4},
    )
    made = start_collecting(study=create_study(configuration=wanted))
    first = new_session(made, "P-1")
    finish(client, first)
    other = new_session(made, "P-2")
    second = new_session(made, "P-1")
    assert (first.number, second.number, second.slot) == (1, 2, 2)
    assert not originals(first) & originals(second)
    shown = set(second.trials.filter(role="main").values_list("stimulus__key", flat=True))
    elsewhere = set(Trial.objects.exclude(session=second).values_list("stimulus__key", flat=True))
    assert shown and not shown & elsewhere and other.slot == 1
    assert Session.objects.filter(participant__code="P-1").count() == 2
    finish(client, second)
    with pytest.raises(StudyRefused, match="already"):
        new_session(made, "P-1")


def test_who_took_part_in_one_version_sees_no_original_again_in_the_next(client, db):
    from tests.factories import make_stimulus_set

    make_stimulus_set(per_category=12, per_function=192)
    wanted = configuration(max_sessions_per_worker=2, design={"sessions": 3, "main_trials": 16, "clean_trials": 4})
    one = start_collecting(study=create_study(configuration=wanted))
    first = new_session(one, "P-1")
    finish(client, first)
    two = new_version(study=one, configuration=wanted.but(seed=8))
    start_collecting(study=two)
    second = new_session(two, "P-1")
    assert second.study == two and not originals(first) & originals(second)


def test_a_person_who_has_seen_too_much_is_turned_away_kindly(client, study):
    pause(study=study)
    Study.objects.filter(pk=study.pk).update(
        configuration={**study.configuration, "max_sessions_per_worker": 2}, state=StudyState.COLLECTING
    )
    first = new_session(study, "P-1")
    finish(client, first)
    with pytest.raises(StudyRefused, match="has seen too many of the pictures"):
        new_session(study, "P-1")


def test_every_arrow_of_the_session_states(study):
    session = new_session(study)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    moves = {
        SessionState.WITHDRAWN: lambda s: withdraw_session(session=s),
        SessionState.SUBMITTED: lambda s: mark_submitted(session=s, at=at),
    }
    for before in SessionState:
        for after, move in moves.items():
            Session.objects.filter(pk=session.pk).update(state=before)
            fresh = Session.objects.get(pk=session.pk)
            if after in SESSION_TRANSITIONS[before] or after == before:
                assert move(fresh).state == after
            else:
                with pytest.raises(Conflict, match="cannot become"):
                    move(fresh)


def test_there_is_no_receipt_and_no_hand_off_where_none_is_due(study):
    session = new_session(study)
    with pytest.raises(Conflict, match="no receipt yet"):
        receipt_for(session=session)
    withdraw_session(session=session)
    with pytest.raises(SessionClosed):
        issue_handoff(session=session)


def test_what_is_found_under_a_token(study):
    session = new_session(study)
    assert session_for_token(issue_token(session=session)) == session


# Questions


def test_trial_rows_leave_out_withdrawn_sessions(client, study):
    first, second = new_session(study, "P-1"), new_session(study, "P-2")
    for session in (first, second):
        tab = Tab(client, session)
        tab.take_lease()
        tab.answer(0)
    withdraw_session(session=first)
    rows = list(iter_trial_rows(study))
    assert [row["session"] for row in rows] == [second.code] and rows[0]["participant"] == "P-2"
    assert Response.objects.count() == 2


def test_progress_counts_planned_and_answered_by_bin(client, study):
    session = new_session(study)
    before = answer_counts(study).bins
    planned = Trial.objects.filter(session=session)
    assert sum(row.answered for row in before) == 0
    assert sum(row.planned for row in before) == 6 * 16 + sum(
        not trial.stimulus.startswith("none")
        for plan in whole_plan(study).sessions
        for trial in plan.trials
        if trial.role == "consistency_first"
    )
    finish(client, session)
    after = answer_counts(study).bins
    assert sum(row.answered for row in after) >= planned.filter(role="main").count()
    assert all(row.answered <= row.planned for row in after)


def test_researchers_see_their_own_studies_and_staff_sees_all(stimulus_set):
    anna = User.objects.create_user("anna")
    ben = User.objects.create_user("ben")
    staff = User.objects.create_user("staff", is_staff=True)
    draft_study(by=anna)
    assert [visible_to(user).count() for user in (anna, ben, staff)] == [1, 0, 1]
