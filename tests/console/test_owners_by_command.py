"""Whose it is that a command makes: every such command asks alike, and refuses before anything is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command, get_commands, load_command_class

from analysis.examples.pictures import draw
from analysis.generation.files import encode_png
from humanexp.core.commands import OwnedCommand
from humanexp.core.models import Owned, User
from humanexp.jobs.models import Job
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.studies.models import Study

pytestmark = pytest.mark.django_db
#: Commands that make what stands in the console under a name of its own, with what each cannot be called without.
MAKERS = {
    "import_labels": ["labels.toml"],
    "import_images": ["pictures", "--name=mine"],
    "generate_stimuli": ["--images=drawn", "--corruption=gaussian_blur", "--count=2", "--name=mine"],
    "import_imagenet_c": ["folder", "--images=drawn", "--name=mine"],
    "create_study": ["study.toml"],
    "import_trials": ["trials.csv", "--study=mine"],
    "evaluate": ["--stimuli=mine", "--classifier=export:fixtures/classifiers/clean.pt2"],
    "score": ["--on=set"],
    "retrain": ["--stimuli=mine", "--classifier=export:model.pt2", "--out=model.pt2"],
    "step_study": [
        *("--images=drawn", "--classifier=export:m.pt2", "--generator=pixel:", "--oracle=classifier:export:o.pt2"),
        "--name=steps",
    ],
    "counterfactuals": ["--images=drawn", "--classifier=export:m.pt2", "--generator=pixel:", "--oracle=crowd:"],
}
ROOT = Path(__file__).parents[2]


def commands() -> dict[str, type]:
    ours = {name: str(app) for name, app in get_commands().items() if str(app).startswith("humanexp.")}
    return {name: type(load_command_class(app, name)) for name, app in ours.items()}


def test_every_maker_takes_an_owner_and_the_page_of_commands_says_so() -> None:
    assert {name for name, kind in commands().items() if issubclass(kind, OwnedCommand)} == set(MAKERS)
    rows = re.findall(r"^\| (`.*?) \| ", (ROOT / "docs/commands.md").read_text(encoding="utf-8"), re.MULTILINE)
    told = {row.lstrip("`").partition(" ")[0] for row in rows if "[--owner USERNAME]" in row}
    assert told == set(MAKERS)


@pytest.mark.parametrize("command", MAKERS)
@pytest.mark.parametrize(
    ("username", "sentence"),
    [("nobody", "No one here has an account 'nobody'"), ("gone", "'gone' is closed"), ("", "has an account ''")],
)
def test_who_is_not_there_is_refused_before_anything_is_written(command: str, username: str, sentence: str) -> None:
    User.objects.create_user("gone", is_active=False)
    with pytest.raises(CommandError, match=sentence):
        call_command(command, *MAKERS[command], f"--owner={username}")
    makes = [model for model in apps.get_models() if issubclass(model, Owned)]
    assert not any(model._default_manager.exists() for model in (*makes, Study, Job))


def test_who_is_not_there_does_not_go_on_with_a_set_either(tmp_path: Path) -> None:
    ada = User.objects.create_user("ada")
    for category in ("cat", "dog"):
        (tmp_path / category).mkdir()
        (tmp_path / category / "1.png").write_bytes(encode_png(draw(category, 1, 112)))
    import_images(source=tmp_path, order=ImportOrder(name="drawn", by_id=ada.pk))
    call_command("generate_stimuli", *MAKERS["generate_stimuli"], "--size=112", "--owner=ada")
    with pytest.raises(CommandError, match="No one here has an account 'bob'"):
        call_command("generate_stimuli", *MAKERS["generate_stimuli"], "--size=112", "--owner=bob")
    assert StimulusSet.objects.get().created_by == ada
