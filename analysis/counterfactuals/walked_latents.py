"""Latents before and after a finished search, walked again: what a sparse submodel is fitted to."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.counterfactuals.files import SearchRecord, read_prepared, shard_name
from analysis.counterfactuals.latents import LatentGenerator
from analysis.counterfactuals.port import Generator, select
from analysis.counterfactuals.shards import SearchShard
from analysis.errors import SearchRefused
from analysis.generation.files import UNFINISHED, digest, encode_png, write_atomically

#: Which latents a regression sees: before the codebook on both sides; as the OOR paper has it (section 3.2.1), those of
#: the encoder for originals and quantised ones for counterfactuals; or quantised ones on both sides.
Latents = Literal["encoder", "published", "quantised"]


@dataclass(frozen=True, slots=True)
class Walk:
    """Work of walking the accepted pictures of a shard again."""

    shard: SearchShard
    records: tuple[SearchRecord, ...]


@dataclass(frozen=True, slots=True, eq=False)
class WalkedLatents:
    """Latents of pictures that the oracle accepted at step 0.

    Attributes
    ----------
    before, after : ndarray of float32, shape (n, c, h, w)
        Of the encoder, and of the kept counterfactual.
    n_as_kept : int
        Pictures of which the decoder makes the very bytes that the search kept; on another device, or with other
        versions, there may be fewer than n.
    """

    before: NDArray[np.float32]
    after: NDArray[np.float32]
    n_as_kept: int

    def __len__(self) -> int:
        return len(self.before)

    def taken(self, latents: Latents, generator: LatentGenerator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Those before and after, as a regression is to see them."""
        before = generator.quantise(self.before) if latents == "quantised" else self.before
        return before, self.after if latents == "encoder" else generator.quantise(self.after)

    @classmethod
    def joined(cls, parts: Sequence[WalkedLatents]) -> WalkedLatents:
        """Those of all shards."""
        return cls(
            np.concatenate([one.before for one in parts]),
            np.concatenate([one.after for one in parts]),
            sum(one.n_as_kept for one in parts),
        )


def check_walkable(generator: Generator) -> LatentGenerator:
    """The generator; refuses one without latents, or one that is sparse already.

    Raises
    ------
    SearchRefused
    """
    if not isinstance(generator, LatentGenerator) or generator.dimensions is not None:
        raise SearchRefused(
            f"A sparse submodel is fitted to a search in all latents of an autoencoder, not with {generator.name}: "
            "search with --generator vqgan:CHECKPOINT, without sparse=, first."
        )
    return generator


def walk_again(walk: Walk) -> WalkedLatents:
    """Take every accepted picture as many steps as the search did; what is on disk is not walked again.

    Notes
    -----
    OOR paper, section 3.2.1 and appendix G: negative labels are the latents after the encoder, positive ones the final
    latents before the decoder. The oracle has judged; only the classifier's gradients are computed again.
    """
    shard, settings = walk.shard, walk.shard.settings
    target, generator = settings.load_target(), check_walkable(settings.load_generator())
    name = shard_name(settings, shard.originals, [target.digest, generator.digest, repr(walk.records)])
    path = Path(settings.folder) / "latents" / f"{name}.npz"
    if path.is_file():
        with np.load(path, allow_pickle=False) as stored:
            return WalkedLatents(stored["before"], stored["after"], int(stored["n_as_kept"]))
    labels = [original.category for original in shard.originals]
    numbers = target.numbers(labels)
    pictures = settings.control.prepare(read_prepared(shard.originals, settings.size_px), numbers, target)
    accepted = np.flatnonzero([record.valid for record in walk.records])
    seeds = np.array([original.seed for original in shard.originals], np.int64)
    state = generator.start(pictures[accepted], seeds[accepted])
    before, after = state["latents"].copy(), state["latents"].copy()
    steps = np.array([walk.records[place].accepted_steps for place in accepted], np.int64)
    walking = np.arange(len(accepted))
    for step in range(int(steps.max(initial=0))):
        going = steps[walking] > step
        walking, state = walking[going], select(state, going)
        state = generator.step(state, numbers[accepted[walking]], target)
        after[walking] = state["latents"]
    made = WalkedLatents(before, after, _as_kept(generator, pictures[accepted], seeds[accepted], after, accepted, walk))
    buffer = io.BytesIO()
    np.savez(buffer, before=made.before, after=made.after, n_as_kept=np.array(made.n_as_kept))
    write_atomically(path, buffer.getvalue(), beside=Path(settings.folder) / UNFINISHED)
    return made


def _as_kept(
    generator: Generator,
    pictures: NDArray[np.uint8],
    seeds: NDArray[np.int64],
    after: NDArray[np.float32],
    accepted: NDArray[np.intp],
    walk: Walk,
) -> int:
    if not len(accepted):
        return 0
    painted = generator.paint({**generator.start(pictures, seeds), "latents": after}).pictures
    kept = [walk.records[place].sha256 for place in accepted]
    return sum(digest(encode_png(picture)) == sha256 for picture, sha256 in zip(painted, kept, strict=True))
