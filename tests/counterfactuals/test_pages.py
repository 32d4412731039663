from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.urls import reverse

from humanexp.core.models import User
from humanexp.core.storage import media_path, write_whole
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import rounds_of
from humanexp.counterfactuals.services.searches import create_search
from humanexp.jobs import runner
from humanexp.studies.models import StudyMembership
from tests.counterfactuals.networks import CLEAN, ROBUST


@pytest.fixture
def signed_in(client, db):
    client.force_login(User.objects.create_user("ada", is_staff=True))
    return client


@pytest.fixture
def finished(order) -> SearchRun:
    run, job = create_search(**order(size_px=112))
    runner.run_waiting(kinds=[job.kind])
    run.refresh_from_db()
    return run


def test_empty_states_say_what_to_do(signed_in) -> None:
    page = signed_in.get("/counterfactuals/").content.decode()
    assert "there are none yet" in page and reverse("stimuli:new_source") in page


def test_pages_need_an_account(client, db) -> None:
    assert client.get("/counterfactuals/").status_code == 302


def test_a_search_is_asked_for_on_a_page(signed_in, source_set) -> None:
    assert "No search yet" in signed_in.get("/counterfactuals/").content.decode()
    asked = {
        "name": "first", "images": "drawn", "classifier": CLEAN, "generator": "pixel:",
        "oracle": f"classifier:{ROBUST}",
        "budget": 1, "pictures": 2, "size_px": 64, "seed": 0, "fgsm": 0, "answers_per_picture": 5,
    }  # fmt: skip
    refused = signed_in.post("/counterfactuals/new/", {**asked, "oracle": "crowd:"})
    assert refused.status_code == 422 and "say what all rounds may cost" in refused.content.decode()
    refused = signed_in.post("/counterfactuals/new/", {**asked, "classifier": "python:x:y"})
    assert refused.status_code == 422 and "runs code" in refused.content.decode()
    answer = signed_in.post("/counterfactuals/new/", asked)
    assert answer.status_code == 302 and answer.url == "/counterfactuals/first/"
    page = signed_in.get(answer.url).content.decode()
    assert "under way" in page and "2 pictures in the queue" in page and "couple__pictures" not in page
    assert "first" in signed_in.get("/counterfactuals/").content.decode()


def test_pages_say_that_the_shipped_autoencoder_is_no_use_on_photographs(signed_in, order) -> None:
    caveat = "It is no use on photographs"
    assert caveat in signed_in.get("/counterfactuals/new/").content.decode()
    own = media_path("classifiers/published.ckpt")
    write_whole(own, b"weights of another autoencoder")
    assert caveat not in signed_in.get("/counterfactuals/new/").content.decode()
    create_search(**order(name="painted", generator="vqgan:fixtures/counterfactuals/autoencoder.pt"))
    assert caveat in signed_in.get("/counterfactuals/painted/").content.decode()
    create_search(**order(name="noisy"))
    assert caveat not in signed_in.get("/counterfactuals/noisy/").content.decode()


def test_scores_gallery_and_benchmark(signed_in, finished) -> None:
    address = f"/counterfactuals/{finished.name}/"
    page = signed_in.get(address)
    text = page.content.decode()
    assert page.status_code == 200 and "Freeze as a benchmark" in text and text.count("couple__pictures") == 6
    kept = finished.counterfactuals.exclude(sha256="").first()
    for which in ("original", "kept"):
        picture = signed_in.get(f"/counterfactuals/pictures/{kept.pk}/{which}.png")
        assert picture["Content-Type"] == "image/png" and picture.content.startswith(b"\x89PNG")
    assert signed_in.get(f"/counterfactuals/pictures/{kept.pk}/other.png").status_code == 404
    assert signed_in.get(f"{address}export.zip").status_code == 404
    part = signed_in.get(f"{address}?show=fooled&page=0", HTTP_HX_REQUEST="true").content.decode()
    assert part.lstrip().startswith("<section") and "<html" not in part
    assert "No such picture" in signed_in.get(f"{address}?show=all&page=7").content.decode()

    assert signed_in.post(f"{address}freeze/").status_code == 302
    archive = b"".join(signed_in.get(f"{address}export.zip").streaming_content)
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        told = json.loads(packed.read("manifest.json"))
        assert {picture["file"] for picture in told["pictures"]} <= set(packed.namelist())
    answer = signed_in.post(f"{address}stimuli/")
    assert answer.url == f"/stimuli/sets/{finished.name}-benchmark/" or answer.url.endswith("-benchmark/")
    assert signed_in.get(answer.url).status_code == 200


def test_the_board_is_sorted_by_what_is_asked(signed_in, finished) -> None:
    for order in ("oor", "weights", "nonsense"):
        page = signed_in.get(f"/counterfactuals/?by={order}")
        assert page.status_code == 200 and finished.model_name in page.content.decode()
    assert 'aria-current="true"' in page.content.decode()


def test_a_round_without_answers_is_not_closed(signed_in, order) -> None:
    run, job = create_search(
        **order(oracle="crowd:", size_px=112, pictures=4, population="scripted", answers_per_picture=2)
    )
    runner.run_waiting(kinds=[job.kind])
    page = signed_in.get(f"/counterfactuals/{run.name}/").content.decode()
    assert "Rounds judged by people" in page and f"{run.name}-step-0" in page
    (row,) = rounds_of(run)
    assert row.estimate_cents and f"${row.estimate_cents / 100:.2f}" in page
    User.objects.filter(username="ada").update(is_staff=False)
    assert signed_in.post(f"/counterfactuals/{run.name}/rounds/0/").status_code == 403
    StudyMembership.objects.create(study=run.rounds.get().study, user=User.objects.get(username="ada"), role="owner")
    answer = signed_in.post(f"/counterfactuals/{run.name}/rounds/0/", follow=True)
    assert "have no answer" in answer.content.decode()
    assert signed_in.post(f"/counterfactuals/{run.name}/rounds/9/").status_code == 404
