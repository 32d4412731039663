"""The search from files to files: pure shard functions for any executor, and rounds for people as the oracle."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from analysis.counterfactuals.ascent import Ascent, Trace
from analysis.counterfactuals.files import (
    SearchOriginal,
    SearchRecord,
    SearchSettings,
    check_keys,
    read_prepared,
    read_records,
    shard_name,
    write_picture,
    write_records,
)
from analysis.counterfactuals.search import check_search, run_to_the_end
from analysis.counterfactuals.specifications import CROWD
from analysis.errors import InvalidInput
from analysis.generation.files import UNFINISHED, is_intact, write_atomically


@dataclass(frozen=True, slots=True)
class SearchShard:
    """Work of searching for some pictures, at most a batch."""

    settings: SearchSettings
    originals: tuple[SearchOriginal, ...]


def cut_search(settings: SearchSettings, originals: Sequence[SearchOriginal]) -> Iterator[SearchShard]:
    """Shards of one batch each, in the order of the originals."""
    for start in range(0, len(originals), settings.batch):
        yield SearchShard(settings, tuple(originals[start : start + settings.batch]))


def check_before_work(settings: SearchSettings, originals: Sequence[SearchOriginal]) -> dict[str, str]:
    """Refuse a search that cannot run; else the digests of classifier, generator and oracle.

    Raises
    ------
    SearchRefused
        See `analysis.counterfactuals.search`.
    ClassifierUnavailable, GeneratorUnavailable, OracleUnavailable, UnknownName
        If one of the three cannot be loaded.
    """
    check_keys(originals)
    target, generator = settings.load_target(), settings.load_generator()
    oracle = None if settings.oracle == CROWD else settings.load_oracle()
    check_search(
        [original.category for original in originals],
        len(originals),
        target=target,
        generator=generator,
        oracle=oracle,
        budget=settings.budget,
        control=settings.control,
        size_px=settings.size_px,
        batch=settings.batch,
    )
    return {
        "classifier": target.digest,
        "generator": generator.digest,
        "oracle": oracle.digest if oracle else "people",
    }


def search_shard(shard: SearchShard) -> list[SearchRecord]:
    """Search for the pictures of a shard, write files and records; what is there and intact is not made again."""
    settings, folder = shard.settings, Path(shard.settings.folder)
    target, generator, oracle = settings.load_target(), settings.load_generator(), settings.load_oracle()
    name = shard_name(settings, shard.originals, [target.digest, generator.digest, oracle.digest])
    path = folder / "shards" / f"{name}.json"
    found = read_records(path)
    if found is not None and all(not one.sha256 or is_intact(kept_file(folder, one.key), one.sha256) for one in found):
        return found
    ascent = _started(shard)
    run_to_the_end(ascent, oracle)
    records = [
        SearchRecord.of(original.key, ascent.traces[place], _write_kept(folder, original.key, ascent, place))
        for place, original in enumerate(shard.originals)
    ]
    write_records(path, records, beside=folder / UNFINISHED)
    return records


def kept_file(folder: Path, key: str) -> Path:
    """Where the kept counterfactual of an original lies."""
    return folder / "pictures" / f"{key}.png"


def original_file(folder: Path, key: str) -> Path:
    """Where the original lies, cut to the size of the search."""
    return folder / "originals" / f"{key}.png"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A picture that waits for people's verdict.

    Attributes
    ----------
    key, category : str
        Of the original.
    step : int
        0 for the generator's picture before any perturbation.
    file : str
        Path of the PNG file, relative to the folder of the search.
    sha256 : str
    """

    key: str
    category: str
    step: int
    file: str
    sha256: str


def open_rounds(shard: SearchShard) -> list[Proposal]:
    """Make the pictures of step 0 for people to judge, and store where the search stands."""
    return _store(shard, _started(shard), [""] * len(shard.originals))


def next_round(
    shard: SearchShard, step: int, verdicts: Mapping[str, bool]
) -> tuple[list[Proposal], list[SearchRecord]]:
    """Go on with people's verdicts on the proposals of a step.

    Parameters
    ----------
    shard : SearchShard
        The same as for `open_rounds`.
    step : int
        The step that was judged; judged twice, it gives the same again.
    verdicts : mapping of str to bool
        For the key of every original whose proposal was judged: does it still show its category?

    Returns
    -------
    proposals : list of Proposal
        What people judge next; empty when every picture has left.
    records : list of SearchRecord
        All pictures of the shard, as they stand.

    Raises
    ------
    InvalidInput
        If a verdict is missing.
    """
    settings, folder = shard.settings, Path(shard.settings.folder)
    stored = folder / "rounds" / f"{_rounds_name(shard)}-{step}.npz"
    with np.load(stored, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    told = json.loads(str(arrays.pop("traces")))
    digests: list[str] = json.loads(str(arrays.pop("digests")))
    ascent = Ascent.from_arrays(
        arrays,
        [Trace(**fields) for fields in told],
        target=settings.load_target(),
        generator=settings.load_generator(),
        budget=settings.budget,
    )
    keys = [shard.originals[place].key for place in ascent.active]
    missing = [key for key in keys if key not in verdicts]
    if missing:
        raise InvalidInput(f"The verdict on {missing[0]} at step {step} is missing.")
    accepted = np.array([verdicts[key] for key in keys], dtype=bool)
    answers = [label if good else "" for label, good in zip(ascent.active_labels, accepted, strict=True)]
    ascent.advance(accepted, answers)
    for place in ascent.kept:
        digests[place] = _write_kept(folder, shard.originals[place].key, ascent, place)
    proposals = _store(shard, ascent, digests)
    records = [
        SearchRecord.of(original.key, trace, sha256)
        for original, trace, sha256 in zip(shard.originals, ascent.traces, digests, strict=True)
    ]
    return proposals, records


def _started(shard: SearchShard) -> Ascent:
    settings, folder = shard.settings, Path(shard.settings.folder)
    pictures = read_prepared(shard.originals, settings.size_px)
    for original, picture in zip(shard.originals, pictures, strict=True):
        write_picture(folder, f"originals/{original.key}.png", picture)
    labels = [original.category for original in shard.originals]
    target = settings.load_target()
    return Ascent(
        settings.control.prepare(pictures, target.numbers(labels), target),
        labels,
        [original.seed for original in shard.originals],
        target=target,
        generator=settings.load_generator(),
        budget=settings.budget,
    )


def _write_kept(folder: Path, key: str, ascent: Ascent, place: int) -> str:
    picture = ascent.kept.get(place)
    return "" if picture is None else write_picture(folder, f"pictures/{key}.png", picture)


def _rounds_name(shard: SearchShard) -> str:
    return shard_name(shard.settings, shard.originals, [])


def _store(shard: SearchShard, ascent: Ascent, digests: list[str]) -> list[Proposal]:
    folder = Path(shard.settings.folder)
    proposals = []
    for place, picture in zip(ascent.active, ascent.proposals, strict=True):
        original = shard.originals[place]
        file = f"rounds/{ascent.step}/{original.key}.png"
        sha256 = write_picture(folder, file, picture)
        proposals.append(Proposal(original.key, original.category, ascent.step, file, sha256))
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        traces=np.array(json.dumps([asdict(trace) for trace in ascent.traces])),
        digests=np.array(json.dumps(digests)),
        **ascent.to_arrays(),  # type: ignore[arg-type]
    )
    path = folder / "rounds" / f"{_rounds_name(shard)}-{ascent.step}.npz"
    write_atomically(path, buffer.getvalue(), beside=folder / UNFINISHED)
    return proposals
