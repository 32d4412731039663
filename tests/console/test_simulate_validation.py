"""Scripted participants judge pictures over HTTP; the study is then judged, analysed, exported and looked at."""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from analysis.study.study import StudyConfiguration
from analysis.tables.trials import TRIALS
from humanexp.core.models import User
from humanexp.jobs import runner
from humanexp.participation.models import Response, Session
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.screening.selectors import current_verdicts
from humanexp.studies.services import create_study
from tests.factories import SIZE_PX, make_stimulus_set

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unhurried", "open_gates")]


@pytest.mark.usefixtures("one_at_a_time")
def test_personas_judge_pictures_and_everything_downstream_takes_it(
    live_server: Any, settings: Any, tmp_path: Path, client: Any
) -> None:
    settings.PUBLIC_URL = live_server.url
    make_stimulus_set()
    study = create_study(
        configuration=StudyConfiguration.from_dict(
            {
                "title": "Really one?",
                "population": "scripted",
                "stimuli": "pictures",
                "protocol": {"name": "vcr", "size_px": SIZE_PX},
                "design": {"sessions": 12, "validation": {"answers_per_picture": 4, "shown": "corrupted"}},
            }
        )
    )
    publish(study=study, terms=LaunchTerms(to="link", assignments=12))
    said = StringIO()
    mix = "careful=0.4,careless=0.2,yes-sayer=0.2,random=0.2"
    call_command("simulate", study.slug, "--participants", "10", "--mix", mix, "--seed", "3", stdout=said)
    assert "careful 4, careless 2, random 2, yes-sayer 2" in said.getvalue()

    answers = Response.objects.filter(session__study=study)
    assert answers.count() == 10 * 22 and set(answers.values_list("response", flat=True)) <= {
        "yes-yes",
        "yes-no",
        "no-yes",
        "no-no",
    }
    runner.run_waiting()
    verdicts = current_verdicts(study)
    assert len(verdicts) == 10
    by_session = {
        session.pk: Counter(session.responses.values_list("response", flat=True))
        for session in Session.objects.filter(study=study)
    }
    yes_sayers = [pk for pk, counts in by_session.items() if set(counts) == {"yes-yes"}]
    assert len(yes_sayers) == 2
    for pk in yes_sayers:
        assert not verdicts[pk].accepted and "negative trials failed" in verdicts[pk].reasons

    target = tmp_path / "numbers.json"
    call_command("analyse", study.slug, "--bootstrap", "0", "--json", str(target), stdout=StringIO())
    numbers = json.loads(target.read_text())
    assert numbers["curves"] == numbers["accuracy"] == numbers["comparisons"] == []
    assert numbers["sessions"]["opened"] == 10

    call_command("export", study.slug, "--to", str(tmp_path / "export"), stdout=StringIO())
    tables = list((tmp_path / "export").rglob("trials.csv"))
    assert tables, sorted(path.name for path in (tmp_path / "export").rglob("*"))
    frame = TRIALS.read(tables[0])
    assert set(frame["task"]) == {"validation"} and frame["wanted"].notna().all()
    known = frame["role"].isin(["gold", "negative", "practice"])
    assert frame.loc[known, "correct"].notna().all() and frame.loc[~known, "correct"].isna().all()

    client.force_login(User.objects.create_user("anna", is_staff=True))
    assert (
        "more than 0.5 of the answers say yes to both questions"
        in client.get(f"/studies/{study.slug}/results/").content.decode()
    )
    for page in ("", "design/", "review/", "results/", "recruit/", "timing/"):
        assert client.get(f"/studies/{study.slug}/{page}").status_code == 200, page
