from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    path = tmp_path_factory.mktemp("openapi") / "openapi.yaml"
    call_command("spectacular", file=str(path), validate=True, fail_on_warn=True)
    return path.read_text()


def test_the_committed_description_is_current(generated):
    assert COMMITTED.read_text() == generated, "run: python manage.py spectacular --file docs/openapi.yaml"


def test_the_participant_api_is_described_whole(generated):
    for call in ("handoff", "session", "lease", "status", "responses", "complete"):
        assert f"/api/v1/run/{call}/:" in generated
    assert "/api/v1/run/trials/{position}/stimulus/{showing}/:" in generated
    assert "/api/v1/run/trials/{position}/mask/:" in generated
    assert "sessionToken" in generated and "X-Lease" in generated
    for column in ("frames_target", "n_long_frames", "visible_whole_trial"):
        assert column in generated


def test_replies_promise_no_role_category_or_visual_change(generated):
    import yaml

    schemas = yaml.safe_load(generated)["components"]["schemas"]
    for name in ("SessionOut", "BlockOut", "ResponseOut", "StatusOut", "CompletionOut"):
        assert not {"role", "category", "corruption", "visual_change"} & set(schemas[name]["properties"])
