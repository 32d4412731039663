from __future__ import annotations

import tomllib

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.errors import InvalidInput
from analysis.study.study import StudyConfiguration
from analysis.study.toml import to_toml

FULL = """
title = "Noise, blur & \\"friends\\""
slug = "noise"
family = "noise-family"
population = "people"
stimuli = "demo"
seed = 7
rules = "vcr"
max_sessions_per_worker = 2
gold_originals = ["cat-1", "dog-2"]
consent_version = "2026-01"
consent = "Line one\\nline two"
debrief = "Thank you."

[protocol]
name = "vcr"
stimulus_ms = 100

[design]
sessions = 12
main_trials = 30

[design.discrimination]
trials = 10
pairs = [["gaussian_noise", "uniform_noise"]]

[recruitment]
reward_cents = 120

[analysis]
margin = 0.05
"""


def test_reads_every_part():
    study = StudyConfiguration.from_toml(FULL)
    assert (study.slug, study.family, study.seed, study.max_sessions_per_worker) == ("noise", "noise-family", 7, 2)
    assert study.protocol.stimulus_ms == 100 and study.protocol.mask_ms == 200
    assert study.design.sessions == 12 and study.design.sessions_per_participant == 2
    assert study.design.discrimination.pairs == (("gaussian_noise", "uniform_noise"),)
    assert study.gold_originals == ("cat-1", "dog-2")
    assert study.recruitment.to_dict() == {"reward_cents": 120} and study.analysis.to_dict() == {"margin": 0.05}


def test_a_setting_that_no_analysis_knows_is_refused_before_the_study_exists():
    with pytest.raises(InvalidInput, match=r"\[analysis\] has no setting 'equivalence_margin'; it has: band_m"):
        StudyConfiguration.from_toml(FULL.replace("margin = 0.05", "equivalence_margin = 0.05"))


def test_a_written_file_gives_the_same_study_and_digest():
    study = StudyConfiguration.from_toml(FULL)
    again = StudyConfiguration.from_toml(study.to_toml())
    assert again == study and again.digest() == study.digest()
    assert StudyConfiguration.from_dict(study.to_dict()) == study


def test_defaults_and_names():
    study = StudyConfiguration.from_dict({"title": "Blur und Rauschen", "stimuli": "demo", "protocol": "vcr"})
    assert study.slug == study.family == "blur-und-rauschen"
    assert study.protocol.name == "vcr" and study.rules == "vcr" and study.max_sessions_per_worker == 1
    changed = StudyConfiguration.from_dict({**study.to_dict(), "seed": 1})
    assert changed.digest() != study.digest()


def test_a_protocol_of_the_labs_own():
    own = {
        **StudyConfiguration.from_dict({"title": "a", "stimuli": "b"}).protocol.to_dict(),
        "name": "lab",
        "mask_ms": 500,
    }
    study = StudyConfiguration.from_dict({"title": "a", "stimuli": "b", "protocol": own})
    assert study.protocol.name == "lab" and study.protocol.mask_ms == 500


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title = x", "study.toml is no valid TOML: .*line 1"),
        ('stimuli = "a"', "study.toml: The study lacks 'title'"),
        ('title = "a"', "lacks 'stimuli'"),
        ('title = "a"\nstimuli = "b"\ncolour = 3', "no setting 'colour'"),
        ('title = "a"\nstimuli = "b"\nslug = "A B"', "slug must be lower-case"),
        ('title = "a"\nstimuli = "b"\npopulation = "robots"', "population must be one of people, scripted"),
        ('title = "a"\nstimuli = "b"\nseed = "x"', "seed must be a whole number"),
        ('title = "a"\nstimuli = "b"\nprotocol = "vrc"', "no protocol 'vrc'; there are: vcr"),
        ('title = "a"\nstimuli = "b"\n[protocol]\nstimulus = 3', "no setting 'stimulus'"),
        (
            'title = "a"\nstimuli = "b"\n[design]\nsesions = 3',
            r"line 4: \[design\] has no setting 'sesions'",
        ),
        ('title = "a"\nstimuli = "b"\n[design]\nsessions_per_participant = 3', "Set max_sessions_per_worker"),
        ('title = "a"\nstimuli = "b"\ndesign = 3', r"\[design\] must be a table"),
        ('title = "a"\nstimuli = "b"\ngold_originals = "x"', "gold_originals must be a list"),
        ('title = "a"\nstimuli = "b"\ngold_originals = ["x", "x"]', "names a picture twice"),
        ('title = 3\nstimuli = "b"', "title must be text"),
        (
            'title = "a"\nstimuli = "b"\n[recruitment]\nassignments = "many"',
            "assignments must be a whole number from 1",
        ),
        ('title = "a"\nstimuli = "b"\n[recruitment]\nreward_cents = -5', "reward_cents must be a whole number from 0"),
        ('title = "a"\nstimuli = "b"\n[recruitment]\nreward_cent = 5', "no setting 'reward_cent'; it has: assignments"),
        ('title = "a"\nstimuli = "b"\n[recruitment]\ntitle = 5', "recruitment.title must be text of at most 128"),
        ('title = "a"\nstimuli = "b"\n[recruitment]\nlink = 5', r"\[recruitment.link\] must be a table"),
        # what TOML can say and no database stores
        ('title = "a"\nstimuli = "b"\nconsent = "I do\\u0000"', "consent holds the null character"),
        (
            'title = "a"\nstimuli = "b"\n[recruitment]\ncontact = 1979-05-27',
            "recruitment.contact must be text, a number",
        ),
        ('title = "a"\nstimuli = "b"\n[protocol]\nbackground = nan', "protocol.background must be a finite number"),
    ],
)
def test_refuses_with_the_field(text, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        StudyConfiguration.from_toml(text)


def test_refuses_a_title_that_leaves_no_name():
    with pytest.raises(InvalidInput, match="slug must be"):
        StudyConfiguration.from_dict({"title": "???", "stimuli": "b"})


_plain = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text('ab" \\\n\t\x00\x7f\x1fé漢😀', max_size=6),
)
_names = st.text('abcXYZ-_ ."é0', min_size=1, max_size=8)
_tables = st.recursive(
    st.dictionaries(_names, st.one_of(_plain, st.lists(_plain, max_size=3)), max_size=4),
    lambda inner: st.dictionaries(_names, st.one_of(_plain, inner), max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_tables)
def test_the_writer_is_the_readers_inverse(values):
    assert tomllib.loads(to_toml(values)) == values


def test_the_writer_leaves_out_what_toml_cannot_say():
    assert tomllib.loads(to_toml({"a": None, "b": 1})) == {"b": 1}
    with pytest.raises(TypeError):
        to_toml({"a": object()})
