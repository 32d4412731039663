from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from analysis.errors import InvalidInput, UnknownName
from analysis.study.protocol import PROTOCOLS, ProtocolConfig, load_protocol, sources


@pytest.mark.parametrize("name", PROTOCOLS)
def test_survives_json(name):
    config = load_protocol(name)
    assert ProtocolConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_vcr_is_the_published_duration_and_our_rest():
    config = load_protocol("vcr")
    assert (config.fixation_ms, config.stimulus_ms, config.blank_frames, config.mask_ms, config.response_ms) == (
        300,
        200,
        0,
        200,
        4000,
    )
    assert (config.background, config.size_px, config.click_policy, config.fixed_response_window) == (
        0.454,
        224,
        "first",
        False,
    )
    assert [field for field, source in sources(config).items() if source == "published"] == ["stimulus_ms"]


def test_the_two_batches_of_2018_differ_where_the_code_differs():
    first, second = load_protocol("geirhos2018-batch1"), load_protocol("geirhos2018-batch2")
    differing = {
        field for field, value in first.to_dict().items() if value != second.to_dict()[field] and field != "name"
    }
    assert differing == {"background", "size_px", "fixation_px", "contrast_ramp", "mask_contrast"}
    assert second.mask_contrast == 4.0 and second.background == 0.4423 and first.fixation_px == 262
    assert first.response_ms == 1500 and first.fixed_response_window and first.click_policy == "last"


FIELDS = [
    *("background", "size_px", "fixation_ms", "fixation_shape", "fixation_px", "stimulus_ms", "contrast_ramp"),
    *("blank_frames", "mask_ms", "mask_contrast", "response_ms", "click_policy", "fixed_response_window"),
    *("feedback_ms", "feedback_sound", "grid_order"),
]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "vcr",
            [0.454, 224, 300, "cross", 24, 200, "none", 0, 200, 1.0, 4000, "first", False, 1000, False, "published"],
        ),
        (
            "geirhos2018-batch1",
            [
                0.454,
                256,
                300,
                "square",
                262,
                200,
                "tapered-cosine",
                1,
                200,
                1.0,
                1500,
                "last",
                True,
                300,
                True,
                "published",
            ],
        ),
        (
            "geirhos2018-batch2",
            [0.4423, 224, 300, "square", 230, 200, "none", 1, 200, 4.0, 1500, "last", True, 300, True, "published"],
        ),
    ],
)
def test_every_value_of_the_shipped_protocols(name, values):
    config = load_protocol(name)
    assert {field: getattr(config, field) for field in FIELDS} == dict(zip(FIELDS, values, strict=True))
    assert config.feedback_wrong_ms == (2500 if name == "vcr" else None)
    assert set(sources(config)) - {"feedback_wrong_ms"} == set(FIELDS)
    expected = {"stimulus_ms"} if name == "vcr" else set(FIELDS)
    assert {field for field, source in sources(config).items() if source == "published"} == expected


def test_a_changed_value_says_so():
    config = load_protocol("vcr", {"stimulus_ms": 100})
    assert sources(config)["stimulus_ms"] == "changed"
    assert sources(config)["mask_ms"] == "ours"
    assert config.digest() != load_protocol("vcr").digest()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"stimulus_ms": 0}, "stimulus_ms must be a whole number"),
        ({"stimulus_ms": 200.5}, "stimulus_ms must be a whole number"),
        ({"background": 1.2}, "background must be a number from 0 to 1, not 1.2"),
        ({"click_policy": "middle"}, "click_policy must be one of first, last"),
        ({"fixed_response_window": "yes"}, "fixed_response_window must be true or false"),
        ({"stimulus": 200}, "no setting 'stimulus'"),
    ],
)
def test_refuses_what_cannot_be_shown(changes, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        load_protocol("vcr", changes)


def test_refuses_unknown_names_and_missing_fields():
    with pytest.raises(UnknownName, match="there are: vcr"):
        load_protocol("vrc")
    with pytest.raises(InvalidInput, match="A protocol lacks 'mask_ms'"):
        values = load_protocol("vcr").to_dict()
        del values["mask_ms"]
        ProtocolConfig.from_dict(values)


def test_is_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        load_protocol("vcr").stimulus_ms = 1
