from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.counterfactuals.files import SearchOriginal, SearchSettings, read_picture
from analysis.counterfactuals.shards import (
    check_before_work,
    cut_search,
    kept_file,
    next_round,
    open_rounds,
    original_file,
    search_shard,
)
from analysis.errors import InvalidInput, PictureRefused, SearchRefused
from analysis.examples import folder_of
from analysis.examples.pictures import draw
from analysis.generation.files import encode_png
from analysis.labels.files import default_labels

CLEAN, ROBUST = (f"export:fixtures/classifiers/{name}.pt2" for name in ("clean", "robust"))


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> tuple[SearchOriginal, ...]:
    folder = tmp_path_factory.mktemp("originals")
    found = []
    for number, category in enumerate(default_labels().ids[:5]):
        path = folder / f"{category}.png"
        path.write_bytes(encode_png(draw(category, 40 + number, 64)))
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        found.append(SearchOriginal(f"drawn/{category}-1", category, str(path), sha256, 7 + number))
    return tuple(found)


@pytest.fixture
def settings(tmp_path) -> SearchSettings:
    return SearchSettings(
        classifier=CLEAN, generator="corruption:gaussian_noise,step=0.3", oracle=f"classifier:{ROBUST}",
        folder=str(tmp_path / "search"), budget=3, batch=3, size_px=64,
    )  # fmt: skip


def files(folder: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*.png"))
        if "rounds" not in path.parts
    }


def test_records_that_a_loss_of_power_emptied_are_made_again(settings, originals) -> None:
    shard = next(cut_search(settings, originals))
    expected = search_shard(shard)
    (path,) = (Path(settings.folder) / "shards").glob("*.json")
    for left in (b"", path.read_bytes()[:40]):
        path.write_bytes(left)
        assert search_shard(shard) == expected


def test_a_network_that_was_put_in_anothers_place_is_the_one_that_is_searched(settings, tmp_path) -> None:
    """A runner of jobs lives for days, and keeps what it has loaded."""
    for suffix in (".pt2", ".json"):
        shutil.copy((folder_of("classifiers") / "clean").with_suffix(suffix), tmp_path / f"model{suffix}")
    own = replace(settings, classifier=f"export:{tmp_path / 'model.pt2'}", oracle=f"classifier:{ROBUST}")
    first = own.load_target()
    assert own.load_target().classifier is first.classifier
    shutil.copy(folder_of("classifiers") / "robust.pt2", tmp_path / "new.pt2")
    (tmp_path / "new.pt2").replace(tmp_path / "model.pt2")
    assert own.load_target().digest != first.digest


def test_shards_resume_and_give_the_same_files(settings, originals, tmp_path) -> None:
    assert set(check_before_work(settings, originals)) == {"classifier", "generator", "oracle"}
    shards = list(cut_search(settings, originals))
    assert [len(shard.originals) for shard in shards] == [3, 2]
    records = [record for shard in shards for record in search_shard(shard)]
    assert [record.key for record in records] == [original.key for original in originals]
    made = files(settings.folder)
    stamp = kept_file(Path(settings.folder), records[0].key).stat().st_mtime_ns
    assert search_shard(shards[0]) == records[:3]
    assert kept_file(Path(settings.folder), records[0].key).stat().st_mtime_ns == stamp
    # A lost picture is made again, as it was; and so are all of them elsewhere.
    kept_file(Path(settings.folder), records[0].key).unlink()
    assert search_shard(shards[0]) == records[:3] and files(settings.folder) == made
    elsewhere = replace(settings, folder=str(tmp_path / "again"))
    assert [r for shard in cut_search(elsewhere, originals) for r in search_shard(shard)] == records
    assert files(elsewhere.folder) == made


def test_every_kept_picture_is_accepted_from_its_file(settings, originals) -> None:
    oracle = settings.load_oracle()
    for shard in cut_search(settings, originals):
        for record in search_shard(shard):
            assert original_file(Path(settings.folder), record.key).is_file()
            path = kept_file(Path(settings.folder), record.key)
            assert path.is_file() == record.valid == bool(record.sha256)
            if record.valid:
                assert hashlib.sha256(path.read_bytes()).hexdigest() == record.sha256
                assert oracle.judge(read_picture(path)[None], [record.category]).accepted.all()


def test_rounds_with_the_same_verdicts_find_the_same_pictures(settings, originals, tmp_path) -> None:
    # Of a generator that asks no oracle on its way.
    (direct,) = cut_search(replace(settings, generator="pixel:", batch=5), originals)
    expected = search_shard(direct)
    by_people = replace(direct, settings=replace(direct.settings, oracle="crowd:", folder=str(tmp_path / "people")))
    check_before_work(by_people.settings, originals)
    oracle, proposals, step = settings.load_oracle(), open_rounds(by_people), 0
    assert len(proposals) == 5
    while proposals:
        verdicts = {}
        for proposal in proposals:
            assert proposal.step == step
            picture = read_picture(Path(by_people.settings.folder) / proposal.file)
            verdicts[proposal.key] = bool(oracle.judge(picture[None], [proposal.category]).accepted[0])
        proposals, records = next_round(by_people, step, verdicts)
        assert next_round(by_people, step, verdicts) == (proposals, records)
        step += 1
    assert [record.sha256 for record in records] == [record.sha256 for record in expected]
    assert [record.losses for record in records] == [record.losses for record in expected]
    assert files(by_people.settings.folder) == files(direct.settings.folder)


def test_a_round_needs_every_verdict(settings, originals) -> None:
    (shard,) = cut_search(replace(settings, oracle="crowd:", batch=5), originals)
    open_rounds(shard)
    with pytest.raises(InvalidInput, match="drawn/airplane-1 at step 0 is missing"):
        next_round(shard, 0, {})


def test_what_cannot_run_is_refused_before_any_file(settings, originals) -> None:
    with pytest.raises(SearchRefused, match="stands twice"):
        check_before_work(settings, [*originals, originals[0]])
    with pytest.raises(SearchRefused, match="cannot name a file"):
        check_before_work(settings, [replace(originals[0], key="../x")])
    with pytest.raises(SearchRefused, match="budget"):
        check_before_work(replace(settings, budget=0), originals)
    assert not Path(settings.folder).exists()
    with pytest.raises(PictureRefused, match="not the one that was imported"):
        search_shard(next(cut_search(settings, [replace(originals[0], sha256="0" * 64)])))
