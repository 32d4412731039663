"""Every kind of study that was ever stored keeps its digest, and is read and written without a change."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from analysis.study.protocol import PROTOCOLS, ProtocolConfig, shipped_values
from analysis.study.rules import RULE_SETS, load_rule_set
from analysis.study.study import StudyConfiguration, digest_of
from tests.labels import of_the_sixteen

#: Written by the release before the specification had models of its own.
STORED = json.loads((Path(__file__).parent / "stored.json").read_text())


@of_the_sixteen
@pytest.mark.parametrize("name", STORED["studies"])
def test_a_stored_study_keeps_its_digest(name):
    stored = STORED["studies"][name]
    assert digest_of(stored["configuration"]) == stored["digest"]
    study = StudyConfiguration.from_dict(stored["configuration"])
    assert study.to_dict() == stored["configuration"]
    assert study.digest() == stored["digest"]
    assert study.protocol.digest() == stored["protocol_digest"]


@of_the_sixteen
@pytest.mark.parametrize("name", STORED["studies"])
def test_a_file_makes_the_study_that_it_made(name):
    stored = STORED["studies"][name]
    first_version = "spec = 1\n" + stored["file"]  # it did not say so
    study = StudyConfiguration.from_toml(first_version)
    assert study.digest() == stored["digest"]
    # in the order of the settings, too: exports are compared byte by byte
    assert json.dumps(study.to_dict()) == json.dumps(stored["configuration"])
    assert StudyConfiguration.from_toml(study.to_toml()).digest() == stored["digest"]


def test_the_shipped_rules_and_protocols_are_what_they_were():
    def digest(values):
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    assert {name: digest(load_rule_set(name).to_dict()) for name in RULE_SETS} == STORED["rule_sets"]
    protocols = {name: ProtocolConfig.from_dict(shipped_values(name, version=3)) for name in PROTOCOLS}
    assert {name: config.digest() for name, config in protocols.items()} == STORED["protocols"]
