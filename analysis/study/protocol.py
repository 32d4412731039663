"""Presentation protocols: what is shown for how long, and how an answer is taken.

A protocol is a value. The shipped ones are registered by name in ``PROTOCOLS`` together with the fields that stand in a
publication; everything else in them is this project's choice. A new protocol is one more entry there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from analysis.errors import UnknownName
from analysis.study.base import Number, Spec

Source = Literal["published", "ours", "changed"]
FixationShape = Literal["cross", "square"]
ContrastRamp = Literal["none", "tapered-cosine"]
ClickPolicy = Literal["first", "last"]
GridOrder = Literal["published", "shuffled"]
_Background = Annotated[float, Field(ge=0, le=1, description="grey of the page, from 0 (black) to 1 (white)"), Number]
_Contrast = Annotated[
    float, Field(gt=0, le=100, description="contrast of the mask: a factor about its middle grey"), Number
]


class ProtocolConfig(Spec):
    """One presentation protocol. Pages show the whole number of frames that is nearest to each duration."""

    name: Annotated[str, Field(min_length=1, max_length=60, description="name of the shipped protocol, or your own")]
    background: _Background
    size_px: Annotated[int, Field(ge=16, le=2048, description="side of the picture; that of the stimulus set")]
    fixation_ms: Annotated[int, Field(ge=0, le=10_000, description="how long the fixation mark is shown")]
    fixation_shape: Annotated[FixationShape, Field(description="the mark; a square is an outline")]
    fixation_px: Annotated[int, Field(ge=1, le=4096, description="side of the fixation mark")]
    stimulus_ms: Annotated[int, Field(ge=1, le=60_000, description="how long the picture is shown")]
    contrast_ramp: Annotated[ContrastRamp, Field(description="course of the contrast over picture and mask")]
    blank_frames: Annotated[int, Field(ge=0, le=600, description="frames of background between picture and mask")]
    mask_ms: Annotated[int, Field(ge=0, le=10_000, description="how long the noise mask is shown")]
    mask_contrast: _Contrast
    response_ms: Annotated[int, Field(ge=200, le=600_000, description="time for the answer")]
    click_policy: Annotated[ClickPolicy, Field(description="which answer within that time counts")]
    fixed_response_window: Annotated[bool, Field(description="whether the time runs to its end after an answer")]
    feedback_ms: Annotated[int, Field(ge=0, le=10_000, description="how long practice shows whether it was right")]
    feedback_wrong_ms: Annotated[
        int | None,
        Field(
            ge=0,
            le=60_000,
            description="how long practice shows the right answer after a wrong one, unless the participant presses a "
            "key or clicks; as long as `feedback_ms` if left out, with a sentence after it, as published",
        ),
    ] = None
    feedback_sound: Annotated[bool, Field(description="whether practice also answers a mistake with a low tone")]
    grid_order: Annotated[
        GridOrder,
        Field(
            description="order of the 16 answers: that of the published experiments, or one of each participant's "
            "own, which stays and stands in the exported trials"
        ),
    ] = "published"

    @classmethod
    def called(cls) -> str:
        return "A protocol"

    @model_serializer(mode="wrap")
    def _stated(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Protocols that do not state how long a mistake is marked are stored as they were before they could."""
        values: dict[str, object] = handler(self)
        return {name: value for name, value in values.items() if name != "feedback_wrong_ms" or value is not None}

    def digest(self) -> str:
        """SHA-256 of the values, independent of their order."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()


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
_EVERY_FIELD = frozenset(ProtocolConfig.model_fields) - {"name", "feedback_wrong_ms"}
#: Begins the names of the protocols whose practice is published: one round, and a mark of 300 ms.
PUBLISHED_PRACTICE = "geirhos2018-"

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
                feedback_ms=1000,
                feedback_wrong_ms=2500,
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
            config=_BATCH_1.but(
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

#: Values that a shipped protocol had in files of a version before the one that is named.
_EARLIER: Mapping[str, tuple[int, Mapping[str, object]]] = {"vcr": (4, {"feedback_ms": 300, "feedback_wrong_ms": None})}


def shipped_values(name: str, *, version: int | None = None) -> dict[str, object]:
    """Values of the shipped protocol `name` as files of this version of the specification mean them; None = newest."""
    values = PROTOCOLS[name].config.to_dict()
    than, before = _EARLIER.get(name, (0, {}))
    return {**values, **before} if version is not None and version < than else values


def load_protocol(name: str, changes: Mapping[str, object] | None = None) -> ProtocolConfig:
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
