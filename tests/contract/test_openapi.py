from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    path = tmp_path_factory.mktemp("openapi") / "openapi.yaml"
    call_command("spectacular", file=str(path), validate=True, fail_on_warn=True)
    return path.read_text()


def test_the_committed_description_is_current(generated):
    assert COMMITTED.read_text() == generated, "run: python manage.py spectacular --file docs/openapi.yaml"


def test_whoever_asks_for_it_gets_what_was_made_once(client, generated, monkeypatch):
    """Anybody may ask, as often as they like and in whatever language; making it takes longer than any page."""
    made = []
    get_schema = SchemaGenerator.get_schema
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *a, **k: made.append(1) or get_schema(*a, **k))
    replies = [
        client.get(f"/api/v1/schema/?lang={lang}&n={n}", headers={"Accept": kind, "Accept-Language": lang})
        for n, lang in enumerate(("de", "en", "de"))
        for kind in ("*/*", "application/json")
    ]
    assert len(made) <= 2, "one for each format"
    assert replies[0].content.decode() == generated.removesuffix("\n") + "\n"
    assert replies[0]["Content-Type"].startswith("application/vnd.oai.openapi") and not replies[0].cookies
    assert len({reply.content for reply in replies[::2]}) == len({reply.content for reply in replies[1::2]}) == 1
    assert replies[1].json() == yaml.safe_load(generated)


def test_the_participant_api_is_described_whole(generated):
    for call in ("handoff", "session", "lease", "status", "responses", "complete"):
        assert f"/api/v1/run/{call}/:" in generated
    assert "/api/v1/run/trials/{position}/stimulus/{showing}/:" in generated
    assert "/api/v1/run/trials/{position}/mask/:" in generated
    assert "sessionToken" in generated and "X-Lease" in generated
    for column in ("frames_target", "n_long_frames", "visible_whole_trial"):
        assert column in generated


def test_replies_promise_no_role_category_or_visual_change(generated):
    schemas = yaml.safe_load(generated)["components"]["schemas"]
    for name in ("SessionOut", "BlockOut", "ResponseOut", "StatusOut", "CompletionOut"):
        assert not {"role", "category", "corruption", "visual_change"} & set(schemas[name]["properties"])


def test_every_operation_says_its_problems_as_what_they_are(generated):
    described = yaml.safe_load(generated)
    shared = described["components"]["responses"]
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            problems = {status: reply for status, reply in operation["responses"].items() if status >= "400"}
            wanted = {"500"}
            wanted |= {"404"} if "{" in path else set()
            wanted |= {"400", "411", "413", "415", "422"} if "requestBody" in operation else set()
            wanted |= {"401", "429"} if operation.get("security") else set()
            assert wanted <= problems.keys(), (method, path)
            for reply in problems.values():
                reply = shared[reply["$ref"].rpartition("/")[2]] if "$ref" in reply else reply
                assert list(reply["content"]) == ["application/problem+json"], (method, path)
