"""Presentation protocols: what is shown for how long, and how an answer is taken.

A protocol is a value. The shipped ones are registered by name in ``PROTOCOLS`` together with the fields that stand in a
publication; everything else in them is this project's choice. A new protocol is one more entry there.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from analysis.errors import InvalidInput, UnknownName

Source = Literal["published", "ours", "changed"]
FixationShape = Literal["cross", "square"]
ContrastRamp = Literal["none", "tapered-cosine"]
ClickPolicy = Literal["first", "last"]
GridOrder = Literal["published", "shuffled"]


@dataclass(frozen=True, kw_only=True)
class ProtocolConfig:
    """One presentation protocol; a value that cannot be shown is refused on construction.

    Parameters
    ----------
    name : str
        Name of the shipped protocol, or the lab's own.
    background : float
        Grey of the page, 0 = black to 1 = white, in units of the display's pixel value.
    size_px : int
        Side of the picture in pixels; the stimulus set must have been made with the same side.
    fixation_ms, stimulus_ms, mask_ms, response_ms, feedback_ms : int
        Durations. The page shows the whole number of frames nearest to each.
    fixation_shape : {"cross", "square"}
        What is fixated; a square is an outline with side `fixation_px`.
    fixation_px : int
        Side of the fixation mark.
    contrast_ramp : {"none", "tapered-cosine"}
        Course of the contrast over the frames of stimulus and mask.
    blank_frames : int
        Frames of background between stimulus and mask.
    mask_contrast : float
        Factor about the mask's middle grey.
    click_policy : {"first", "last"}
        Which answer within the response window counts.
    fixed_response_window : bool
        Whether the window stays open for its whole time after an answer.
    feedback_sound : bool
        Whether practice answers a mistake with a low tone as well.
    grid_order : {"published", "shuffled"}
        Order of the 16 answers: that of the published experiments, or one of each participant's own, which stays.
    """

    name: str
    background: float
    size_px: int
    fixation_ms: int
    fixation_shape: FixationShape
    fixation_px: int
    stimulus_ms: int
    contrast_ramp: ContrastRamp
    blank_frames: int
    mask_ms: int
    mask_contrast: float
    response_ms: int
    click_policy: ClickPolicy
    fixed_response_window: bool
    feedback_ms: int
    feedback_sound: bool
    grid_order: GridOrder = "published"

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 60:
            raise InvalidInput("A protocol needs a name of 1 to 60 characters.")
        if not 0 <= self.background <= 1:
            raise InvalidInput(f"background must lie in [0, 1], not {self.background}.")
        for field, low, high in _RANGES:
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise InvalidInput(f"{field} must be a whole number from {low} to {high}, not {value!r}.")
        if not 0 < self.mask_contrast <= 100:
            raise InvalidInput(f"mask_contrast must lie in (0, 100], not {self.mask_contrast}.")
        for field, allowed in _LEVELS:
            if getattr(self, field) not in allowed:
                raise InvalidInput(f"{field} must be one of {', '.join(allowed)}, not {getattr(self, field)!r}.")
        for field in ("fixed_response_window", "feedback_sound"):
            if not isinstance(getattr(self, field), bool):
                raise InvalidInput(f"{field} must be true or false, not {getattr(self, field)!r}.")

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ProtocolConfig:
        """Inverse of `to_dict`; `grid_order`, which earlier versions did not have, may be missing.

        Raises
        ------
        InvalidInput
            If another field is missing, or one is unknown or out of range.
        """
        names = {field.name for field in dataclasses.fields(cls)}
        unknown, missing = sorted(set(values) - names), sorted(names - set(values) - {"grid_order"})
        if unknown:
            raise InvalidInput(f"A protocol has no field {unknown[0]!r}; it has: {', '.join(sorted(names))}.")
        if missing:
            raise InvalidInput(f"The protocol lacks the field {missing[0]!r}.")
        return cls(**values)

    def digest(self) -> str:
        """SHA-256 of the values, independent of their order."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()


_RANGES = (
    ("size_px", 16, 2048),
    ("fixation_ms", 0, 10_000),
    ("fixation_px", 1, 4096),
    ("stimulus_ms", 1, 60_000),
    ("blank_frames", 0, 600),
    ("mask_ms", 0, 10_000),
    ("response_ms", 200, 600_000),
    ("feedback_ms", 0, 10_000),
)
_LEVELS = (
    ("fixation_shape", get_args(FixationShape)),
    ("contrast_ramp", get_args(ContrastRamp)),
    ("click_policy", get_args(ClickPolicy)),
    ("grid_order", get_args(GridOrder)),
)


@dataclass(frozen=True, kw_only=True)
class ShippedProtocol:
    """A protocol of this package: its values, where they come from, and which of them are printed there."""

    config: ProtocolConfig
    source: str
    published: frozenset[str]


_BATCH_1 = ProtocolConfig(
    name="geirhos2018-batch1",
    background=0.454,
    size_px=256,
    fixation_ms=300,
    fixation_shape="square",
    fixation_px=262,
    stimulus_ms=200,
    contrast_ramp="tapered-cosine",
    blank_frames=1,
    mask_ms=200,
    mask_contrast=1.0,
    response_ms=1500,
    click_policy="last",
    fixed_response_window=True,
    feedback_ms=300,
    feedback_sound=True,
)
_EVERY_FIELD = frozenset(field.name for field in dataclasses.fields(ProtocolConfig)) - {"name"}

PROTOCOLS: Mapping[str, ShippedProtocol] = {
    shipped.config.name: shipped
    for shipped in (
        ShippedProtocol(
            config=ProtocolConfig(
                name="vcr",
                background=0.454,
                size_px=224,
                fixation_ms=300,
                fixation_shape="cross",
                fixation_px=24,
                stimulus_ms=200,
                contrast_ramp="none",
                blank_frames=0,
                mask_ms=200,
                mask_contrast=1.0,
                response_ms=4000,
                click_policy="first",
                fixed_response_window=False,
                feedback_ms=300,
                feedback_sound=False,
            ),
            source="Shen et al., visually-continuous corruption robustness, main text and supplement",
            # The papers print the duration and that a noise mask follows; the rest is ours, mostly after Geirhos 2018.
            published=frozenset({"stimulus_ms"}),
        ),
        ShippedProtocol(
            config=_BATCH_1,
            source="Geirhos et al. 2018, experimental code: colour, contrast, eidolon and noise experiments",
            published=_EVERY_FIELD,
        ),
        ShippedProtocol(
            config=dataclasses.replace(
                _BATCH_1,
                name="geirhos2018-batch2",
                background=0.4423,
                size_px=224,
                fixation_px=230,
                contrast_ramp="none",
                mask_contrast=4.0,
            ),
            source="Geirhos et al. 2018, experimental code: second batch of experiments",
            published=_EVERY_FIELD,
        ),
    )
}


def load_protocol(name: str, changes: Mapping[str, Any] | None = None) -> ProtocolConfig:
    """Shipped protocol `name`, with some values changed.

    Raises
    ------
    UnknownName
        If no protocol has this name.
    InvalidInput
        If a change is unknown or out of range.
    """
    if name not in PROTOCOLS:
        raise UnknownName(f"There is no protocol {name!r}; there are: {', '.join(PROTOCOLS)}.")
    return ProtocolConfig.from_dict({**PROTOCOLS[name].config.to_dict(), **(changes or {})})


def sources(config: ProtocolConfig) -> dict[str, Source]:
    """For every value, whether it is printed in the protocol's source, is our choice, or was changed for this study."""
    shipped = PROTOCOLS.get(config.name)
    result: dict[str, Source] = {}
    for field, value in config.to_dict().items():
        if field == "name":
            continue
        if shipped is None:
            result[field] = "ours"
        elif getattr(shipped.config, field) != value:
            result[field] = "changed"
        else:
            result[field] = "published" if field in shipped.published else "ours"
    return result
