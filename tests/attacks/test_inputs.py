"""Input that nobody types by accident: each is refused with a sentence, and tells nothing about the server."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from humanexp.studies.models import Study

HUGE = "99999999999999999999"
#: What fits into the field for further settings.
NESTED = 4_000
DEEP = {
    "brackets": "x = " + "[" * NESTED + "]" * NESTED,
    "open brackets": "x = " + "[" * NESTED,
    "inline tables": "x = " + "{a=" * NESTED + "1" + "}" * NESTED,
    "dotted names": ".".join("a" * NESTED) + " = 1",
    "a dotted table": "[" + ".".join("a" * NESTED) + "]\nx = 1",
    "a number of 5,000 digits": "seed = " + "9" * 5_000,
    "a number of 15,000 hexadecimal digits": "seed = 0x" + "f" * 15_000,
}
SMALL = "[protocol]\nsize_px = 24\n"
FIELDS = {"title": "Small study", "stimuli": "pictures", "task": "categorisation", "protocol": "vcr", "rules": "vcr"}


@pytest.fixture
def author(client, django_user_model, stimulus_set):
    client.force_login(django_user_model.objects.create_user("ada", is_staff=True))
    return client


@pytest.mark.verify
@pytest.mark.parametrize("positions", [f"0-{HUGE}", f"{HUGE}-{HUGE}", f"{HUGE}-0", f"{HUGE}-{HUGE[:-1]}8"])
def test_a_range_of_trials_beyond_all_numbers_is_refused(tab, positions):
    reply = tab.get(f"trials/{positions}/pictures/")
    assert reply.status_code in (404, 422)
    assert reply["Content-Type"] == "application/problem+json" and reply.json()["detail"]


@pytest.mark.parametrize("call", ["trials/{n}/stimulus/0/", "trials/0/stimulus/{n}/", "trials/{n}/mask/"])
def test_a_trial_beyond_all_numbers_is_not_there(tab, call):
    reply = tab.get(call.format(n=HUGE))
    assert reply.status_code == 404 and reply["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("position", [int(HUGE), -1, 2**63, 10**400])
def test_an_answer_to_a_trial_beyond_all_numbers_is_refused(tab, position):
    reply = tab.answer(position)
    assert reply.status_code in (400, 404, 422) and reply["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("way", ["pasted", "uploaded", "read", "further settings", "drafted"])
def test_a_study_file_without_bottom_is_refused_with_a_sentence(author, way):
    for name, text in DEEP.items():
        check_refused(author, way, name, text)
    if way in ("pasted", "uploaded", "read"):
        check_refused(author, way, "20,000 brackets", "x = " + "[" * 20_000 + "]" * 20_000)
    assert not Study.objects.exists()


def check_refused(author, way, name, text):
    if way == "uploaded":
        sent = {"file": SimpleUploadedFile("study.toml", text.encode())}
    elif way in ("further settings", "drafted"):
        sent = {**FIELDS, "more": text}
    else:
        sent = {"text": text, **({"read": "1"} if way == "read" else {})}
    reply = author.post("/studies/new/draft/" if way == "drafted" else "/studies/new/", sent)
    assert reply.status_code == (200 if way == "drafted" else 422), name
    words = ("nests tables or lists more than", "more than 64 bits", "is no valid TOML")
    assert any(sentence in reply.content.decode() for sentence in words), name


def test_a_posted_path_of_rules_is_an_unknown_name(author, tmp_path):
    """The same words for a rule set, for another file and for no file: nothing is looked for, nothing is told."""
    (tmp_path / "lab.toml").write_text('name = "lab"\nversion = "1"\ndescription = "ours"\n')
    (tmp_path / "other.toml").write_text("secret = 1\n")
    said = set()
    for name in ("lab.toml", "other.toml", "nothing.toml"):
        path = str(tmp_path / name)
        form = {**FIELDS, "rules": path, "more": SMALL}
        file = f'title = "A"\nstimuli = "pictures"\nrules = "{path}"\n{SMALL}'
        for sent in (form, {"text": file}):
            reply = author.post("/studies/new/", sent)
            assert reply.status_code == 422
            sentences = re.findall(r"There is no rule set.*?\.(?=\W*<)", reply.content.decode())
            assert sentences
            said.update(sentence.replace(path, "PATH") for sentence in sentences)
        drafted = author.post("/studies/new/draft/", form).content.decode()
        assert "There is no rule set" in drafted
    (sentence,) = said
    assert sentence.endswith("there are: imagenet-d, none, vcr.")
    assert not Study.objects.exists()
