"""`set.toml`: what is read, and every way in which a set can be other than its file says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.errors import InvalidInput
from analysis.sets.set_file import PublishedSet, SetFile, is_test_only, licence_forbids, may_be_passed_on
from tests.published_sets import digest_list

SMALL = 'name = "edges"\nversion = "1"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pictures with their digests."""
    for name in ("dog/dog1.png", "cat/cat1.png"):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(name.encode())
    (tmp_path / "set.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "pictures.sha256").write_text(digest_list(tmp_path, "pictures"), encoding="utf-8")
    return tmp_path


def test_a_set_is_read_from_its_folder_or_its_file(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    one = PublishedSet.read(folder, tell=lambda done, total: told.append((done, total)))
    assert one == PublishedSet.read(folder / "set.toml")
    assert one.key == "edges-1" and one.pictures == folder / "pictures" and one.trial_files == ()
    assert told == [(1, 2), (2, 2)]


def test_the_list_of_digests_is_what_sha256sum_writes(folder: Path) -> None:
    names = ["pictures/cat/cat1.png", "pictures/dog/dog1.png"]
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]
    of_texts = "".join(f"{digest}  {name}\n" for digest, name in zip(digests, names, strict=True))
    assert of_texts == digest_list(folder, "pictures")
    # As it writes them with --binary, and as Windows has capitals.
    of_bytes = "".join(f"{digest.upper()} *{name}\r\n" for digest, name in zip(digests, names, strict=True))
    (folder / "pictures.sha256").write_text(of_bytes)
    assert PublishedSet.read(folder).key == "edges-1"


def test_the_digest_changes_with_the_file_and_with_every_picture(folder: Path) -> None:
    before = PublishedSet.read(folder).digest
    (folder / "pictures/dog/dog1.png").write_bytes(b"another")
    (folder / "pictures.sha256").write_text(digest_list(folder, "pictures"))
    after = PublishedSet.read(folder).digest
    (folder / "set.toml").write_text(SMALL + 'licence = "CC BY 4.0"\n')
    assert len({before, after, PublishedSet.read(folder).digest}) == 3


def _changed(folder: Path) -> None:
    (folder / "pictures/dog/dog1.png").write_bytes(b"another")


def _removed(folder: Path) -> None:
    (folder / "pictures/dog/dog1.png").unlink()


def _further(folder: Path) -> None:
    (folder / "pictures/dog/dog2.png").write_bytes(b"further")


def _listed(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "pictures.sha256").write_text(text) and None  # type: ignore[func-returns-value]


DIGEST = "0" * 64


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (_changed, "pictures/dog/dog1.png: not the picture that pictures.sha256 lists. Get the pictures again."),
        (_removed, "lists pictures/dog/dog1.png, which is not there"),
        (_further, "does not list pictures/dog/dog2.png. Remove it, or list it with sha256sum."),
        (_listed(""), "lists no picture"),
        (_listed("dog1.png"), "line 1: 'dog1.png' is no digest with a path"),
        (_listed(f"{DIGEST}  pictures/a.png\n{DIGEST}  pictures/a.png\n"), "line 2: pictures/a.png is listed twice"),
        (_listed(f"{DIGEST}  ../a.png\n"), "line 1: '../a.png' must be a path below the folder of set.toml"),
        (_listed(f"{DIGEST}  /etc/passwd\n"), "must be a path below the folder"),
    ],
)
def test_a_set_that_is_not_what_its_list_says_is_refused(
    folder: Path, harm: Callable[[Path], None], sentence: str
) -> None:
    harm(folder)
    with pytest.raises(InvalidInput) as refused:
        PublishedSet.read(folder)
    assert sentence in str(refused.value)


def test_what_systems_leave_in_folders_is_no_picture(folder: Path) -> None:
    (folder / "pictures/dog/.DS_Store").write_bytes(b"x")
    assert PublishedSet.read(folder).key == "edges-1"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("use = 'some'", "use must be one of any, test-only, no-redistribution, not 'some'"),
        ("licenses = 'x'", "has no setting 'licenses'"),
        ("reference = 'edges'", "reference must be another set than this one"),
        ("format = 2", "format must be 1, the only format that there is"),
        ("[trials]\nfiles = []", "trials.files must be a list of names"),
        ("[trials]\nfiles = ['t.csv']\nexposure_ms = 0", "trials.exposure_ms must be a number"),
        ("[pictures]\nsize_px = 8", "pictures.size_px must be a whole number from 16 to 2048"),
        ("labels = '../secret.toml'", "labels must be a path below the folder of set.toml, not '../secret.toml'"),
        ("[pictures]\npath = '/etc'", "pictures.path must be a path below the folder of set.toml"),
        ("[pictures]\npath = ''", "pictures.path"),
        ("[pictures]\ndigests = '/etc/passwd'", "pictures.digests must be a path below the folder of set.toml"),
        ("[pictures]\ndigests = 'C:\\\\x'", "pictures.digests must be a path below the folder of set.toml"),
        ("[pictures]\ntable = 'a/../../table.csv'", "pictures.table must be a path below the folder of set.toml"),
        ("[trials]\nfiles = ['../*.csv']", "must be a path below the folder of set.toml"),
        ("[trials]\nfiles = ['t.csv']\nanswers = ['/a.csv']", "must be a path below the folder of set.toml"),
        ("[conditions]\ncontrol = ['0']\nexcluded = ['0']", "conditions.excluded names '0', which is a control"),
    ],
)
def test_a_wrong_setting_is_named_with_its_remedy(more: str, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        SetFile.from_toml(f"{SMALL}{more}\n")
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["Edges", "edge drawings", "-edges", "edges/1", ""])
def test_a_name_is_plain(name: str) -> None:
    with pytest.raises(InvalidInput, match="must be small letters, digits and single hyphens"):
        SetFile.from_toml(f'name = "{name}"\nversion = "1"\n')


def test_patterns_of_trial_files_name_files_below_the_folder(folder: Path) -> None:
    (folder / "set.toml").write_text(SMALL + "[trials]\nfiles = ['trials/*.csv']\n")
    with pytest.raises(InvalidInput, match=r"trials.files: 'trials/\*.csv' names no file"):
        _ = PublishedSet.read(folder).trial_files
    (folder / "trials").mkdir()
    (folder / "trials/b.csv").write_text("x")
    (folder / "trials/a.csv").write_text("x")
    assert [path.name for path in PublishedSet.read(folder).trial_files] == ["a.csv", "b.csv"]


def test_nothing_is_a_set_without_its_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no such file. A set is a folder with set.toml"):
        PublishedSet.read(tmp_path)


def test_what_may_be_trained_on() -> None:
    assert is_test_only(SMALL + "use = 'test-only'\n")
    assert not is_test_only(SMALL + "use = 'no-redistribution'\n")
    assert not is_test_only("")


def test_what_may_be_passed_on() -> None:
    assert may_be_passed_on("") and may_be_passed_on(SMALL + "use = 'test-only'\n")
    assert not may_be_passed_on(SMALL + "use = 'no-redistribution'\n")


@pytest.mark.parametrize(
    ("licence", "forbids"),
    [
        ("CC BY 4.0", False),
        ("CC BY-NC-SA 4.0", False),
        ("CC0; standard terms", False),
        ("", False),
        ("CC BY-ND 4.0", True),
        ("CC BY-NC-ND", True),
        ("Attribution-NoDerivatives", True),
        ("research only, no redistribution", True),
        ("Must not be redistributed", True),
        ("All rights reserved", True),
    ],
)
def test_licences_that_keep_pictures_back_are_known_by_their_words(licence: str, forbids: bool) -> None:
    assert licence_forbids(licence) is forbids
