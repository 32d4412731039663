"""The networks that come with HumanExp have one name in every folder and on every machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.specifications import load_generator
from analysis.errors import ClassifierUnavailable
from analysis.examples import folder_of, located


def test_a_network_is_found_by_its_name_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    by_name = load_classifier("export:fixtures/classifiers/clean.pt2")
    assert by_name.digest == load_classifier(f"export:{folder_of('classifiers') / 'clean.pt2'}").digest
    named, placed = (
        load_generator(f"vqgan:{path}")
        for path in ("fixtures/counterfactuals/autoencoder.pt", folder_of("counterfactuals") / "autoencoder.pt")
    )
    assert (named.digest, named.input_px) == (placed.digest, placed.input_px)


def test_a_file_in_the_working_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path("fixtures/classifiers/clean.pt2")
    own.parent.mkdir(parents=True)
    own.write_bytes(b"mine")
    assert located(own) == own


@pytest.mark.parametrize(
    "name",
    ["fixtures/classifiers/absent.pt2", "fixtures/pictures.py", "fixtures/classifiers/../pictures.py", "clean.pt2"],
)
def test_nothing_else_is_looked_for_among_the_examples(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert located(Path(name)) == Path(name)


def test_a_refusal_names_what_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ClassifierUnavailable, match=r"^fixtures/classifiers/absent\.pt2: there is no such program"):
        load_classifier("export:fixtures/classifiers/absent.pt2")
