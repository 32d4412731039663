"""Pages of labels: what they list and show, what is refused before anything is stored, and who may do what."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.labels.files import labels_of_words, labels_to_toml, shipped
from humanexp.core.models import Lab, User
from humanexp.stimuli.label_files import labels_of_file, packed_labels
from humanexp.stimuli.models import LabelSet, SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.label_sets import label_set_named, store_labels
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.generation.originals import write_originals
from tests.markup import words

pytestmark = pytest.mark.django_db

ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><rect width="1" height="1"/>{}</svg>'
KITCHEN = """
name = "kitchen"
negatives = "kind"
grid = [["fork", "spoon"], ["apple", "pear"]]
[partitions.kind]
tool = ["fork", "spoon"]
food = ["apple", "pear"]
[labels.fork]
words = { en = "Fork", de = "Gabel" }
icon = "fork.svg"
[labels.spoon]
words = { en = "Spoon", de = "Löffel" }
[labels.apple]
words = { en = "Apple", de = "Apfel" }
[labels.pear]
words = { en = "Pear", de = "Birne" }
"""
PLAIN = KITCHEN.replace('icon = "fork.svg"\n', "")
TEN = "Apple\nPear\nQuince\nPlum\nCherry\nFig\nDate\nLemon\nLime\nMango"


def archive_of(**files: str | bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def send(client: Client, content: bytes | str = "", file: str = "labels.toml", **fields: str):  # noqa: ANN201
    data: dict[str, object] = dict(fields)
    if content:
        data["file"] = SimpleUploadedFile(file, content.encode() if isinstance(content, str) else content)
    return client.post(reverse("stimuli:new_labels"), data)


def body(response, status: int = 200) -> str:  # noqa: ANN001
    assert response.status_code == status, response.content.decode()[-2000:]
    text = words(response.content)
    assert "style=" not in text
    return text


def space_page(client: Client, name: str, **query: str) -> str:
    return body(client.get(reverse("stimuli:label_space", args=[name]), query))


def shown(page: str) -> dict[str, object]:
    """What the script draws the grid of."""
    return json.loads(re.search(r'id="grid" type="application/json">(.*?)</script>', page)[1])


def test_the_list_names_own_labels_and_those_of_the_product(researcher: Client, source_set: SourceSet) -> None:
    store_labels(labels_of_words("fruits", TEN.split()))
    page = body(researcher.get(reverse("stimuli:labels")))
    assert [name for name in re.findall(r'/stimuli/labels/([\w-]+)/"', page) if name != "new"] == [
        "fruits", "backgrounds9", "cifar10", "entry16", "imagenet1000", "mnist", "objectnet113", "restricted9",
    ]  # fmt: skip
    assert "animal (5)" in page and "artefact (11)" in page
    row = re.search(r"entry16</a>(.*?)</tr>", page, re.DOTALL)[1]
    assert re.findall(r">\s*(\d+)\s*</td>", row) == ["16", "1"]


def test_ten_words_are_labels(researcher: Client) -> None:
    response = send(researcher, name="fruits", words=TEN, language="en")
    assert (response.status_code, response.headers["Location"]) == (302, "/stimuli/labels/fruits/")
    stored = LabelSet.objects.get()
    assert stored.created_by.username == "lab" and len(stored.space) == 10
    assert stored.space["quince"].words == {"en": "Quince"}
    page = space_page(researcher, "fruits")
    assert stored.identity[:12] in page and stored.identity[:13] not in page
    grid = shown(page)
    assert grid["columns"] is None
    assert grid["choices"][0] == {"name": "apple", "label": "Apple"}


def test_words_of_another_language(researcher: Client) -> None:
    send(researcher, name="obst", words="Apfel\nBirne", language="de")
    assert LabelSet.objects.get().space["apfel"].words == {"de": "Apfel"}
    assert "no tag of a language" in body(send(researcher, name="x", words="a\nb", language="german"), 422)


def test_a_file_with_groups_and_languages_is_shown_in_each(researcher: Client) -> None:
    assert send(researcher, PLAIN).status_code == 302
    assert [one["label"] for one in shown(space_page(researcher, "kitchen"))["choices"]] == [
        "Fork", "Spoon", "Apple", "Pear",
    ]  # fmt: skip
    page = space_page(researcher, "kitchen", language="de")
    assert [one["label"] for one in shown(page)["choices"]] == ["Gabel", "Löffel", "Apfel", "Birne"]
    assert shown(page)["columns"] == 2
    assert "tool (2)" in page and "another group of kind" in page


def test_an_archive_brings_icons_which_are_cleaned(researcher: Client) -> None:
    drawn = ICON.format("<script>alert(1)</script>")
    files = {"k/kitchen.toml": KITCHEN, "k/fork.svg": drawn, "__MACOSX/k/._fork.svg": b"\0", "k/.DS_Store": b"\0"}
    assert send(researcher, archive_of(**files), "kitchen.zip").status_code == 302
    space = LabelSet.objects.get().space
    assert "script" not in space.drawings["fork.svg"] and "rect" in space.drawings["fork.svg"]
    first, *others = shown(space_page(researcher, "kitchen"))["choices"]
    assert first["icon"].startswith("data:image/svg+xml;base64,") and not any("icon" in one for one in others)
    response = researcher.get(reverse("stimuli:labels_file", args=["kitchen", "zip"]))
    again = labels_of_file("kitchen.zip", io.BytesIO(response.content))
    assert (again.identity, again.presentation) == (space.identity, space.presentation)


def test_labels_may_have_icons_of_the_product(researcher: Client) -> None:
    text = labels_to_toml(shipped("entry16")).replace('name = "entry16"', 'name = "ours"')
    assert send(researcher, text).status_code == 302
    stored = LabelSet.objects.get().space
    assert stored.identity == shipped("entry16").identity and stored.drawings == {}
    assert shown(space_page(researcher, "ours"))["choices"][0]["icon"].startswith("/static/icons/knife")


REFUSED = {
    "doubled ids": (PLAIN + "[labels.pear]\n", "labels.toml", "no TOML"),
    "a reserved id": (PLAIN.replace("pear", "none"), "labels.toml", "no label can be called"),
    "a strange group": (PLAIN.replace('"apple", "pear"]\n[labels', '"apple", "plum"]\n[labels'), "labels.toml", "plum"),
    "an icon without an archive": (KITCHEN, "labels.toml", "send a zip archive"),
    "an icon outside": (KITCHEN.replace("fork.svg", "../fork.svg"), "labels.toml", "leads outside"),
    "not UTF-8": (PLAIN.encode("utf-16"), "labels.toml", "not written in UTF-8"),
    "a name of the product": (PLAIN.replace("kitchen", "cifar10"), "labels.toml", "The product ships labels"),
    "a name that is an address": (PLAIN.replace("kitchen", "new"), "labels.toml", "cannot be a name"),
    "no zip": (b"what is this", "labels.zip", "neither a TOML file nor a zip archive"),
    "too large": (PLAIN + "#" * 901_000, "labels.toml", "labels take at most 900 kB"),
    "no document": (archive_of(**{"fork.svg": ICON}), "k.zip", "must have one TOML file; it has none"),
    "two documents": (archive_of(**{"a.toml": PLAIN, "b.toml": PLAIN}), "k.zip", "it has 2"),
    "a path outside": (archive_of(**{"k.toml": KITCHEN, "../fork.svg": ICON}), "k.zip", "leads out of the archive"),
    "a rooted path": (archive_of(**{"k.toml": KITCHEN, "/fork.svg": ICON}), "k.zip", "leads out of the archive"),
    "a missing icon": (archive_of(**{"k.toml": KITCHEN}), "k.zip", "which is not in the archive"),
    "an icon of no label": (archive_of(**{"k.toml": PLAIN, "fork.svg": ICON}), "k.zip", "which no label names"),
    "an icon that draws nothing": (
        archive_of(**{"k.toml": KITCHEN, "fork.svg": ICON.replace('<rect width="1" height="1"/>', "<script/>")}),
        "k.zip",
        "draws nothing",
    ),
    "entities": (
        archive_of(**{"k.toml": KITCHEN, "fork.svg": '<!DOCTYPE s [<!ENTITY a "b">]>' + ICON}),
        "k.zip",
        "declares a document type",
    ),
    "much unpacked": (archive_of(**{"k.toml": PLAIN + "#" * 2_100_000}), "k.zip", "more than 2 MB unpacked"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_said_in_the_form_and_nothing_is_stored(researcher: Client, case: str) -> None:
    content, name, sentence = REFUSED[case]
    page = body(send(researcher, content, name), 422)
    assert sentence in page and 'enctype="multipart/form-data"' in page
    assert not LabelSet.objects.exists()


def test_doubled_words_and_half_filled_forms_are_refused(researcher: Client) -> None:
    assert "is there twice" in body(send(researcher, name="x", words="Pear\npear"), 422)
    assert "Give either" in body(send(researcher, name="x", words=" \n "), 422)
    assert "Give either" in body(send(researcher, PLAIN, words="Pear\nPlum"), 422)
    assert "Give the labels a name" in body(send(researcher, words="Pear\nPlum"), 422)
    assert not LabelSet.objects.exists()


def test_a_name_is_replaced_only_when_that_is_asked_for(researcher: Client, tmp_path: Path) -> None:
    send(researcher, PLAIN)
    mended = PLAIN.replace("Gabel", "Forke")
    assert "There are labels called kitchen already" in body(send(researcher, mended), 422)
    assert send(researcher, mended, mends="on").status_code == 302
    assert LabelSet.objects.get().space["fork"].words["de"] == "Forke"
    write_originals(tmp_path / "pictures", {"fork": 2, "Pear": 1})
    import_images(source=tmp_path / "pictures", order=ImportOrder(name="table", labels="kitchen"))
    other = mended.replace("spoon", "knife").replace("Spoon", "Knife")
    assert "the new ones mean something else" in body(send(researcher, other, mends="on"), 422)
    assert "spoon" in LabelSet.objects.get().space
    assert send(researcher, PLAIN, mends="on").status_code == 302


def test_labels_of_pictures_stay_and_others_are_deleted(researcher: Client, tmp_path: Path) -> None:
    send(researcher, PLAIN)
    send(researcher, name="fruits", words=TEN, language="en")
    write_originals(tmp_path / "pictures", {"fork": 2, "Pear": 1})
    import_images(source=tmp_path / "pictures", order=ImportOrder(name="table", labels="kitchen"))
    page = space_page(researcher, "kitchen")
    assert "/stimuli/sources/table/" in page and "Delete kitchen" not in page
    assert researcher.post(reverse("stimuli:delete_labels", args=["kitchen"])).status_code == 409
    assert "Delete fruits" in space_page(researcher, "fruits")
    assert researcher.post(reverse("stimuli:delete_labels", args=["fruits"])).status_code == 302
    assert list(LabelSet.objects.values_list("name", flat=True)) == ["kitchen"]
    assert researcher.post(reverse("stimuli:delete_labels", args=["cifar10"])).status_code == 409
    assert researcher.post(reverse("stimuli:delete_labels", args=["nothing"])).status_code == 404


def test_the_page_of_pictures_says_what_was_read_as_which_label(researcher: Client, tmp_path: Path) -> None:
    send(researcher, PLAIN)
    write_originals(tmp_path / "pictures", {"fork": 2, "Gabel": 1, "n02085620": 1})
    import_images(source=tmp_path / "pictures", order=ImportOrder(name="table", labels="kitchen", skip_unusable=True))
    page = body(researcher.get(reverse("stimuli:source_set", args=["table"])))
    assert "/stimuli/labels/kitchen/" in page
    card = re.search(r"What was read as which label(.*?)</section>", page, re.DOTALL)[1]
    assert "Gabel" in card and "n02085620" in card and "left out" in card
    assert "2 names of the source" in card


def test_pictures_that_are_called_as_their_labels_need_no_list(researcher: Client, source_set: SourceSet) -> None:
    page = body(researcher.get(reverse("stimuli:source_set", args=["pets"])))
    assert "What was read as which label" not in page and "/stimuli/labels/entry16/" in page


def test_many_labels_are_looked_for_and_have_no_grid(researcher: Client) -> None:
    page = space_page(researcher, "imagenet1000")
    assert "Page 1 of 20" in page and "data-sample" not in page and "at most 30 labels" in page
    assert "n01440764" in page and "n15075141" not in page
    assert "n15075141" in space_page(researcher, "imagenet1000", page="20")
    found = space_page(researcher, "imagenet1000", q="Tench")
    # Whole ids: a random token of the page can hold the letters.
    assert set(re.findall(r"\bn\d{8}\b", found)) == {"n01440764"}
    assert "No label fits" in space_page(researcher, "imagenet1000", q="no such thing")


@pytest.mark.parametrize("name", ["entry16", "cifar10", "imagenet1000"])
def test_files_are_read_back_as_the_same_labels(researcher: Client, name: str) -> None:
    response = researcher.get(reverse("stimuli:labels_file", args=[name, "toml"]))
    assert response.headers["Content-Disposition"] == f'attachment; filename="{name}.toml"'
    again = labels_of_file("labels.toml", io.BytesIO(response.content))
    assert (again.identity, again.presentation) == (shipped(name).identity, shipped(name).presentation)
    assert researcher.get(reverse("stimuli:labels_file", args=[name, "zip"])).status_code == 404


def test_the_import_form_begins_with_the_labels_of_the_link(researcher: Client) -> None:
    page = body(researcher.get(reverse("stimuli:new_source"), {"labels": "cifar10"}))
    assert re.search(r'<option value="cifar10"\s+selected', page)
    assert "/stimuli/labels/new/" in page


def test_another_laboratory_sees_only_what_is_shipped(client: Client) -> None:
    Lab.objects.create(name="elsewhere")
    owner = User.objects.create_user("owner")
    store_labels(labels_of_words("fruits", TEN.split()), by=owner)
    label_set_named("cifar10", by=owner)  # imported first by another laboratory, and still everybody's
    client.force_login(User.objects.create_user("stranger", lab_id="elsewhere"))
    assert "fruits" not in body(client.get(reverse("stimuli:labels")))
    for address in (("label_space", "fruits"), ("labels_file", "fruits", "toml")):
        assert client.get(reverse(f"stimuli:{address[0]}", args=address[1:])).status_code == 404
    assert client.post(reverse("stimuli:delete_labels", args=["fruits"])).status_code == 404
    assert send(client, name="fruits", words=TEN, mends="on").status_code == 422
    assert client.get(reverse("stimuli:label_space", args=["cifar10"])).status_code == 200
    assert LabelSet.objects.get(name="fruits").created_by == owner


def test_a_colleague_looks_and_changes_nothing(client: Client) -> None:
    store_labels(labels_of_words("fruits", TEN.split()), by=User.objects.create_user("owner"))
    client.force_login(User.objects.create_user("colleague"))
    page = space_page(client, "fruits")
    assert "Delete fruits" not in page
    assert client.post(reverse("stimuli:delete_labels", args=["fruits"])).status_code == 403
    assert "belongs to owner" in body(send(client, name="fruits", words="One\nTwo", mends="on", language="en"), 422)
    assert len(LabelSet.objects.get().space) == 10


def test_pages_need_an_account(client: Client) -> None:
    for name, args in (("labels", []), ("new_labels", []), ("label_space", ["cifar10"]), ("delete_labels", ["x"])):
        for response in (client.get(reverse(f"stimuli:{name}", args=args)), send(client, PLAIN)):
            assert response.status_code == 302 and "/login/" in response.headers["Location"]
    assert not LabelSet.objects.exists()


def test_the_command_stores_a_file_with_its_icons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    User.objects.create_user("ada")
    (tmp_path / "kitchen.toml").write_text(KITCHEN)
    with pytest.raises(CommandError, match=r"no icon 'fork.svg' beside"):
        call_command("import_labels", tmp_path / "kitchen.toml")
    (tmp_path / "fork.svg").write_text(ICON)
    call_command("import_labels", tmp_path / "kitchen.toml", owner="ada")
    assert "kitchen: 4 labels stored" in capsys.readouterr().out
    stored = LabelSet.objects.get()
    assert stored.created_by.username == "ada" and "fork.svg" in stored.space.drawings
    with pytest.raises(CommandError, match="already"):
        call_command("import_labels", tmp_path / "kitchen.toml")
    (tmp_path / "kitchen.zip").write_bytes(packed_labels(stored.space))
    call_command("import_labels", tmp_path / "kitchen.zip", replace=True)
    with pytest.raises(CommandError, match="There is no file"):
        call_command("import_labels", tmp_path / "nothing.toml")
    assert LabelSet.objects.count() == 1
