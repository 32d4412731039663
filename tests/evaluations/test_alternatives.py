"""Models in words on more labels than a question can offer: from the command to the table beside others."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.labels.files import shipped
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import AskPlan
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.evaluations import selectors
from humanexp.evaluations.models import EvaluationRun
from tests.evaluations.fake_model import FakeModel
from tests.evaluations.sets import picture_set
from tests.evaluations.test_asking import answers_of, asked, media
from tests.evaluations.test_label_spaces import THOUSAND as NETWORK, evaluated

__all__ = ["media"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process]
THOUSAND = replace(shipped("imagenet1000"), name="thousand")
#: Labels of which there are pictures.
SHOWN = dict.fromkeys(THOUSAND.ids[::50], 8)


def blind() -> FakeModel:
    """It names what stands first, whatever it sees."""
    return FakeModel({}, lambda change: 0.0, first_option=1.0)


def test_a_guessing_model_gets_one_of_k_and_stands_in_a_column_of_its_own(
    settings, client: Client, tmp_path: Path
) -> None:  # noqa: ANN001, E501
    settings.COMPUTE = "serial"
    stimulus_set = picture_set("many", SHOWN, space=THOUSAND, count=160)
    evaluated(stimulus_set, NETWORK, name="network")
    model, out, target = blind(), StringIO(), tmp_path / "card.json"
    with model.listening():
        settings.OBSERVER_HOSTS = [model.host]
        with pytest.raises(CommandError, match=r"thousand has 1,000 labels.*\(--alternatives\)"):
            call_command("evaluate", stimuli="many", classifier=f"openai:{model.url}#m", allow_upload=True)
        for name, more in (("drawn", {}), ("foiled", {"foils": "network"})):
            call_command(
                "evaluate", stimuli="many", classifier=f"openai:{model.url}#m", allow_upload=True, alternatives=4,
                wordings="describes", orders=1, name=name, stdout=out, **more,
            )  # fmt: skip
    for name in ("drawn", "foiled"):
        run = EvaluationRun.objects.get(name=name)
        table = answers_of(run)
        assert len(table) == 320 and set(table["kind"]) == {"label"} and run.label_space == run.alternatives == 4
        assert all(len(shown.split()) == 4 and category in shown.split() for shown, category in zip(table["shown"], table["category"], strict=True))  # fmt: skip # noqa: E501
        assert abs(table["correct"].mean() - 0.25) < 2.6 * np.sqrt(0.25 * 0.75 / 320)
        assert set(selectors.read_predictions(run)["label_space"]) == {4}
    wrong = selectors.read_predictions(EvaluationRun.objects.get(name="network")).query("~correct")
    foiled = answers_of(EvaluationRun.objects.get(name="foiled")).set_index("stimulus")["shown"]
    assert all(label in foiled[key].split() for key, label in zip(wrong["stimulus"], wrong["response"], strict=True))
    said = out.getvalue()
    assert "right on clean pictures among 4 alternatives (chance 0.250)" in said
    assert "Each question offered 4 of 1,000 labels: the right one and 3 others drawn" in said
    assert f"the wrong answer of network where it gave one (on {len(wrong)} of 320 pictures)" in said

    card = StringIO()
    call_command("score", on=["many"], json=target, stdout=card)
    found = json.loads(target.read_text())["sets"][0]["scores"]
    chance = {one.get("alternatives"): one["accuracy"] for one in found if one["kind"] == "chance"}
    assert chance == {None: 0.001, 4: 0.25}
    assert {one["observer"]: one.get("alternatives") for one in found if one["kind"] == "classifier"} == {
        "network": None, "drawn": 4, "foiled": 4,
    }  # fmt: skip
    head, *rows = (line for line in card.getvalue().splitlines()[1:] if line.strip())
    assert "many, among 4" in head
    (network,) = (row for row in rows if row.startswith("network"))
    (drawn,) = (row for row in rows if row.startswith("drawn"))
    assert network.count("320") == drawn.count("320") == 1 and network.index("320") < drawn.index("320")
    assert "these shares compare with no other column" in " ".join(card.getvalue().split())

    client.force_login(User.objects.create_user("lab", is_staff=True, is_superuser=True))
    page = client.get(reverse("evaluations:classifiers")).content.decode()
    assert page.count("not among all labels") == 2


def test_foils_of_nobody_are_refused_before_anything_is_sent(settings) -> None:  # noqa: ANN001
    stimulus_set = picture_set("many", SHOWN, space=THOUSAND, count=20)
    model = blind()
    with model.listening():
        settings.OBSERVER_HOSTS = [model.host]
        with pytest.raises(InvalidRequest, match=r"--foils net: no classifier of this name.*Evaluate it on these"):
            asked(stimulus_set, model, protocol=AskProtocol(plan=AskPlan(alternatives=3, foils="net")))
    assert not model.calls and not EvaluationRun.objects.exists()
