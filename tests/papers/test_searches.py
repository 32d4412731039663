"""OOR's searches by the commands of docs/papers.md, beside scores that are counted apart."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.files import read_picture
from analysis.counterfactuals.port import Target
from analysis.counterfactuals.specifications import load_generator
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Counterfactual, SearchRun
from tests.counterfactuals.networks import CLEAN, ROBUST
from tests.labels import of_the_sixteen
from tests.papers.workspace import Workspace, told

pytestmark = [pytest.mark.verify, of_the_sixteen]
AUTOENCODER = "vqgan:fixtures/counterfactuals/autoencoder.pt"
ORACLE = "export:fixtures/counterfactuals/oracle.pt2"
PICTURES, BUDGET = 32, 10
#: Network and generator of each search.
SEARCHES = {
    "walked": (CLEAN, AUTOENCODER),
    "signed": (CLEAN, "pixel:"),
    "noisy": (CLEAN, "corruption:gaussian_noise"),
    "other": (ROBUST, AUTOENCODER),
}
MANUAL = Path(__file__).resolve().parents[2] / "docs" / "counterfactuals.md"
#: OOR, appendix J: networks, generators and oracle, by their numbers at arXiv.
NETWORKS = {
    "ResNet50": "1512.03385", "ViT": "2010.11929", "DeiT": "2012.12877", "Twins": "2104.13840",
    "Visformer": "2104.12533", "Swin": "2103.14030", "ConvNeXt": "2201.03545", "SIN": "1811.12231",
    "ANT": "2001.06057", "ANT+SIN": "2001.06057", "Augmix": "1912.02781", "DeepAug": "2006.16241",
    "DeepAug+AM": "2006.16241",
}  # fmt: skip
GENERATORS = {
    "VQGAN": "2012.09841", "CLIP": "2103.00020", "ADM": "2105.05233", "Improved DDPM": "2102.09672",
    "Efficient-VDVAE": "2203.13751", "StyleGAN-XL": "2202.00273",
}  # fmt: skip


@pytest.fixture(scope="module")
def searched(workspace: Workspace) -> Workspace:
    for name, (network, generator) in SEARCHES.items():
        told(
            *("counterfactuals", "--images=demo", f"--classifier={network}", f"--generator={generator}"),
            *(f"--oracle=classifier:{ORACLE}", f"--name={name}", "--size=64", f"--pictures={PICTURES}"),
            f"--json={workspace.folder / name}.json",
        )
    return workspace


def rows_of(name: str) -> list[Counterfactual]:
    return list(SearchRun.objects.get(name=name).counterfactuals.select_related("source_image", "run"))


@cache
def network(spec: str) -> Any:
    return load_classifier(spec)


def stored(file: str) -> np.ndarray:
    return read_picture(media_path(file))


def named(spec: str, pictures: list[np.ndarray]) -> np.ndarray:
    """What a network calls pictures, asked here."""
    return np.array(network(spec).labels)[network(spec).predict(np.stack(pictures)).argmax(axis=1)]


def test_algorithm_1_by_hand_ends_at_the_same_pictures(searched: Workspace) -> None:
    """Generate, ask the oracle, fall back to the picture before a refusal, stop after 10 steps of size 0.1."""
    generator, target = load_generator(AUTOENCODER), Target(network(CLEAN))
    rows = rows_of("walked")
    for one in rows:
        state = generator.start(stored(one.original_file)[None], np.zeros(1, np.int64))
        accepted: list[np.ndarray] = []
        while len(accepted) <= BUDGET:
            painting = generator.paint(state)
            if named(ORACLE, list(painting.pictures)) != one.category:
                break
            accepted.append(painting.pictures[0])
            before, state = state, generator.step(state, target.numbers([one.category]), target, painting)
            assert np.sqrt(np.mean((state["latents"] - before["latents"]) ** 2)) == pytest.approx(0.1, rel=1e-3)
        assert (one.valid, one.accepted_steps) == (bool(accepted), max(0, len(accepted) - 1))
        assert one.ending == ("budget" if len(accepted) > BUDGET else "refused")
        if accepted:
            # Pictures that advance together differ in the last bits of a gradient.
            assert np.abs(accepted[-1].astype(int) - stored(one.kept_file)).mean() < 0.1
    assert len({one.accepted_steps for one in rows}) > 2
    ends = {(one.ending, one.accepted_steps == BUDGET) for name in SEARCHES for one in rows_of(name)}
    assert ends == {("refused", False), ("budget", True)}


@pytest.mark.parametrize("name", SEARCHES)
def test_scores_are_those_of_asking_both_networks_again(searched: Workspace, name: str) -> None:
    """SA, VR, CA and OOR = CA / SA, pooled and by category, in the file and on the page."""
    spec, rows = SEARCHES[name][0], rows_of(name)
    clean = named(spec, [stored(one.original_file) for one in rows])
    kept = [one for one in rows if one.sha256]
    pictures = [stored(one.kept_file) for one in kept]
    again = dict(zip([one.pk for one in kept], named(spec, pictures), strict=True))
    assert named(ORACLE, pictures).tolist() == [one.category for one in kept], "the oracle still sees the category"
    found = json.loads((searched.folder / f"{name}.json").read_text())
    page = searched.page(f"/counterfactuals/{name}/")
    shares = set()
    for category in ("", *sorted({one.category for one in rows})):
        own = [place for place, one in enumerate(rows) if category in ("", one.category)]
        sa = np.mean([clean[place] == rows[place].category for place in own])
        right = [again[rows[place].pk] == rows[place].category for place in own if rows[place].sha256]
        numbers = {"sa": sa, "vr": len(right) / len(own)}
        if right:
            numbers |= {"ca": np.mean(right)} | ({"oor": np.mean(right) / sa} if sa else {})
        scores = found["classes"][category] if category else found["pooled"]
        told_here = {head: scores[head] for head in ("sa", "vr", "ca", "oor") if scores[head] is not None}
        assert told_here == pytest.approx(numbers) and scores["n"] == len(own)
        row = page.split(f'<th scope="row">{category or "all"}</th>')[1].split("</tr>")[0]
        shown = dict(re.findall(r'data-label="(SA|VR|CA|OOR)"><span>([\d.]+)', row))
        assert shown == {head.upper(): f"{value:.3f}" for head, value in told_here.items()}
        shares.add(numbers["vr"])
    assert name != "walked" or len(shares) > 2, "the oracle is not alike for every category"


def test_steps_go_up_the_loss_of_the_category(searched: Workspace) -> None:
    moved = [one for one in rows_of("signed") if one.accepted_steps]
    shares = [
        network(CLEAN).predict(np.stack([stored(file) for file in files]))
        for files in ([one.original_file for one in moved], [one.kept_file for one in moved])
    ]
    places = [network(CLEAN).labels.index(one.category) for one in moved]
    first, last = (-np.log(np.maximum(own[np.arange(len(moved)), places], 1e-12)) for own in shares)
    assert len(moved) > PICTURES / 2 and (last > first).all()
    assert [one.losses[0] for one in moved] == pytest.approx(first.tolist(), rel=1e-2, abs=1e-4)
    assert [one.losses[-1] for one in moved] == pytest.approx(last.tolist(), rel=1e-2, abs=1e-4)


def test_noise_that_is_added_knows_nothing_of_its_neighbours(searched: Workspace) -> None:
    pairs = []
    for one in rows_of("noisy"):
        if one.accepted_steps:
            original, kept = (stored(file).astype(float) for file in (one.original_file, one.kept_file))
            # Where neither is cut off at black or white.
            noise = np.where((original > 60) & (original < 195) & (kept > 0) & (kept < 255), kept - original, np.nan)
            pairs.append(np.stack([noise[:, :-1].ravel(), noise[:, 1:].ravel()]))
    both = np.concatenate(pairs, axis=1)
    both = both[:, np.isfinite(both).all(axis=0)]
    assert both.shape[1] > 10_000 and both.std() > 2
    assert abs(np.corrcoef(both)[0, 1]) < 0.05 and abs(both.mean()) < 0.1 * both.std()


def test_originals_are_drawn_beside_what_each_network_says(searched: Workspace) -> None:
    drawn = searched.drawn("counterfactuals", "walked", f"--searches={','.join(SEARCHES)}")["counterfactuals"]
    kept = {name: {one.source_image.key: one for one in rows_of(name) if one.sha256} for name in SEARCHES}
    common = set.intersection(*map(set, kept.values()))
    assert {row["original"] for row in drawn} == common and len(drawn) == len(common) * len(SEARCHES)
    fooled = []
    for row in drawn:
        one = kept[row["search"]][row["original"]]
        (said,) = named(SEARCHES[row["search"]][0], [stored(one.kept_file)])
        assert (row["category"], row["model"], row["oracle"]) == (one.category, said, one.category)
        fooled.append(said != one.category)
    # Originals that fool most come first.
    counts = np.reshape(fooled, (-1, len(SEARCHES))).sum(axis=1).tolist()
    assert counts == sorted(counts, reverse=True) and counts[0] > 0


def test_what_appendix_j_lists_is_listed_with_its_links(workspace: Workspace) -> None:
    listed = workspace.page("/classifiers/").split("<tr>")
    for name, number in NETWORKS.items():
        (row,) = [one for one in listed if re.search(rf"[> ]{re.escape(name)} \(OOR\)", one)]
        assert f'href="https://arxiv.org/abs/{number}"' in row and row.count('href="https://') == 2, name
    lines = MANUAL.read_text(encoding="utf-8").splitlines()
    for name, number in GENERATORS.items():
        (line,) = [one for one in lines if re.match(rf"\| {re.escape(name)}[ ,]", one)]
        assert f"https://arxiv.org/abs/{number}" in line and line.count("https://") >= 2, name
