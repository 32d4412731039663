"""What the search for counterfactuals finds and costs, in one run: `python -m benchmarks.counterfactuals`.

Drawn pictures at 64 px, the repository's own VQ autoencoder, the demo's two networks and an adversarially trained one
as models under test, a wider network as the oracle.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import cv2
import numpy as np
import torch

from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.files import Control
from analysis.counterfactuals.latents import LatentGenerator
from analysis.counterfactuals.pixels import PixelGenerator, as_pictures, as_tensor
from analysis.counterfactuals.port import Oracle, Target
from analysis.counterfactuals.retraining import LabelledPictures, retrain_on_counterfactuals
from analysis.counterfactuals.score import score_with_intervals
from analysis.counterfactuals.search import Counterfactual, search
from analysis.counterfactuals.sparse_submodel import SparseSubmodel, fit_sparse_submodel
from analysis.counterfactuals.specifications import load_generator, load_oracle
from analysis.counterfactuals.summaries import budget_study, generator_agreement
from analysis.counterfactuals.transfer import transfer_matrix
from analysis.counterfactuals.walked_latents import Latents, WalkedLatents
from analysis.examples.pictures import draw
from analysis.labels.files import default_labels
from analysis.retraining.training import Recipe
from benchmarks._command import run

FIXTURES = Path("fixtures")
MODELS = {
    "clean": FIXTURES / "classifiers/clean.pt2",
    "robust": FIXTURES / "classifiers/robust.pt2",
    "adversarial": FIXTURES / "counterfactuals/adversarial.pt2",
}
ORACLE = f"classifier:export:{FIXTURES / 'counterfactuals/oracle.pt2'}"
VQGAN = f"vqgan:{FIXTURES / 'counterfactuals/autoencoder.pt'}"
GENERATORS = {
    "pixel": "pixel:",
    "vqgan": VQGAN,
    "noise": "corruption:gaussian_noise",
    "blur": "corruption:gaussian_blur",
}
SIZE_PX = 64


def pictures(per_category: int, first: int) -> tuple[np.ndarray, list[str]]:
    """Drawn pictures and their labels."""
    drawn = [
        cv2.resize(draw(category, seed), (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA)
        for seed in range(first, first + per_category)
        for category in default_labels().ids
    ]
    return np.stack(drawn), [category for _ in range(per_category) for category in default_labels().ids]


def scored(found: Sequence[Counterfactual]) -> dict[str, object]:
    return score_with_intervals(
        clean_correct=[one.clean_correct for one in found],
        valid=[one.valid for one in found],
        counterfactual_correct=[one.counterfactual_correct for one in found],
    ).to_dict()


def models_and_generators(per_category: int, budget: int) -> dict[str, object]:
    """OOR of every model with every generator, budgets, transfer, agreement; kept pictures judged again."""
    originals, labels = pictures(per_category, 700)
    models = {name: load_classifier(f"export:{path}") for name, path in MODELS.items()}
    oracle = load_oracle(ORACLE)
    oor: dict[str, dict[str, float]] = {}
    told: dict[str, object] = {}
    again = kept = 0
    for generator_name, spec in GENERATORS.items():
        searches = {
            name: search(
                originals, labels, classifier=model, generator=load_generator(spec), oracle=oracle, budget=budget
            )
            for name, model in models.items()
        }
        scores = {name: scored(found) for name, found in searches.items()}
        oor[generator_name] = {
            name: np.nan if one["oor"] is None else float(one["oor"]) for name, one in scores.items()
        }
        budgets = {
            name: [round(point.mean_loss, 3) for point in budget_study(found, range(budget + 1))]
            for name, found in searches.items()
        }
        transfer = transfer_matrix(searches, models)
        for found in searches.values():
            valid = [one for one in found if one.picture is not None]
            accepted = oracle.judge(np.stack([one.picture for one in valid]), [one.label for one in valid]).accepted
            again, kept = again + int(accepted.sum()), kept + len(valid)
        told[generator_name] = {
            "scores": scores,
            "mean_loss_by_budget": budgets,
            "loss_never_falls": {name: bool(np.all(np.diff(losses) >= 0)) for name, losses in budgets.items()},
            "transfer": {"rows": transfer.made_against, "accuracy": transfer.accuracy.round(3).tolist()},
        }
    agreement = [
        {"pair": one.pair, "rho": one.rho, "tau": one.tau, "models": one.n} for one in generator_agreement(oor)
    ]
    return {"generators": told, "kept": kept, "accepted_again": again, "agreement": agreement}


def sparse_submodel(per_category: int, budget: int) -> dict[str, object]:
    """Selected dimensions, test score, and the search with and without, in one run on other pictures."""
    generator = load_generator(VQGAN)
    assert isinstance(generator, LatentGenerator)
    oracle, model = load_oracle(ORACLE), load_classifier(f"export:{MODELS['robust']}")
    training, labels = pictures(per_category, 50)
    target, numbers = Target(model), default_labels().places_of(labels)
    before, after = [], []
    for start in range(0, len(training), 32):
        state = generator.start(training[start : start + 32], np.zeros(len(training[start : start + 32]), np.int64))
        before.append(state["latents"])
        for _ in range(budget):
            state = generator.step(state, numbers[start : start + 32], target)
        after.append(state["latents"])
    walked = WalkedLatents(np.concatenate(before), np.concatenate(after), len(training))
    told: dict[str, object] = {}
    submodels: dict[str, SparseSubmodel] = {}
    for latents in get_args(Latents):
        # One split of these few latents says little: the score is the mean over five.
        splits = [fit_sparse_submodel(*walked.taken(latents, generator), seed=seed) for seed in range(5)]
        submodels[latents] = submodel = splits[0]
        told[latents] = {
            "share": submodel.share, "test_scores": [round(one.test_score, 3) for one in splits],
            "test_score": float(np.mean([one.test_score for one in splits])), "fit_s": round(submodel.seconds, 2),
            "latents": submodel.n_train + submodel.n_test,
        }  # fmt: skip
    originals, labels = pictures(2, 400)
    sparse = {f"sparse, {name}": generator.sparse(one.dimensions) for name, one in submodels.items()}
    for name, one in {"full": generator, **sparse}.items():
        started = time.perf_counter()
        found = search(originals, labels, classifier=model, generator=one, oracle=oracle, budget=budget)
        elapsed = time.perf_counter() - started
        steps = sum(one.accepted_steps for one in found)
        tried = sum(len(one.oracle_responses) for one in found)
        told[name] = {
            "seconds": round(elapsed, 2), "accepted_steps": steps, "accepted_share": round(
                sum(len(one.losses) for one in found) / tried, 3
            ), "seconds_a_judged_picture": round(elapsed / tried, 4), "oor": scored(found)["oor"],
        }  # fmt: skip
    return told


@dataclass(frozen=True)
class Way:
    """A generator as a loop over pictures writes it: what is perturbed, what is painted from it, one step."""

    start: Callable[[Any], Any]
    paint: Callable[[Any], Any]
    move: Callable[[Any, Any, Any], Any]


def plain_ways() -> dict[str, Way]:
    """Both gradient generators in plain torch, with the steps of ours."""
    latent, pixel = load_generator(VQGAN), PixelGenerator()
    assert isinstance(latent, LatentGenerator)
    network, stride = latent.network, latent.stride

    def within(changed: Any, first: Any) -> Any:
        return (first + (changed - first).clamp(-pixel.epsilon, pixel.epsilon)).clamp(0, 1)

    return {
        "pixel": Way(
            lambda original: original,
            lambda values: values,
            lambda values, gradient, first: within(values + pixel.stride * gradient.sign(), first),
        ),
        "vqgan": Way(
            lambda original: network.encode(2 * original - 1),
            lambda values: ((network.decode(values) + 1) / 2).clamp(0, 1),
            lambda values, gradient, first: values + stride * gradient / gradient.pow(2).mean().sqrt(),
        ),
    }


def one_by_one(
    originals: np.ndarray, labels: Sequence[str], model: Any, oracle: Oracle, way: Way, budget: int, *, remembers: bool
) -> list[int]:
    """Algorithm 1 as it is printed, one picture at a time, plain autograd; networks are frozen and in evaluation mode.

    A step takes the gradient at the last accepted picture, which means painting it again, and paints the next; with
    `remembers` the loop differentiates the very picture that the oracle judged. Returns the accepted steps.
    """
    accepted = []
    for original, label, number in zip(originals, labels, default_labels().places_of(labels), strict=True):
        with torch.no_grad():
            first = values = way.start(as_tensor(original[None].astype(np.float32) / 255, "cpu"))
        steps, kept = -1, None
        while steps < budget:
            values = values.detach().requires_grad_()
            with torch.set_grad_enabled(remembers):
                painted = way.paint(values)
            picture = np.rint(255 * as_pictures(painted)).astype(np.uint8)
            if not oracle.judge(picture, [label]).accepted[0]:
                break
            steps, kept = steps + 1, picture
            if steps < budget:
                logits = model.label_logits(painted if remembers else way.paint(values), default_labels())
                loss = torch.nn.functional.cross_entropy(logits, torch.tensor([int(number)]))
                (gradient,) = torch.autograd.grad(loss, values)
                values = way.move(values.detach(), gradient, first)
        if kept is not None:
            model.predict(kept)
        accepted.append(max(0, steps))
    return accepted


def throughput(count: int, budget: int = 5, rounds: int = 2) -> dict[str, object]:
    """A batch against the same search picture by picture, and against two loops in plain torch.

    Each contender in the better of one thread and all, best of `rounds`.
    """
    originals, labels = pictures(-(-count // 16), 900)
    originals, labels = originals[:count], labels[:count]
    model, oracle = load_classifier(f"export:{MODELS['clean']}"), load_oracle(ORACLE)
    told: dict[str, object] = {"cores": len(os.sched_getaffinity(0))}
    ways = plain_ways()
    for name in ("pixel", "vqgan", "blur"):
        generator = load_generator(GENERATORS[name])

        def batches(size: int, generator: Any = generator) -> list[int]:
            found = search(
                originals, labels, classifier=model, generator=generator, oracle=oracle, budget=budget, batch=size
            )
            return [one.accepted_steps for one in found]

        contenders: dict[str, Callable[[], list[int]]] = {
            "batched": partial(batches, count),
            "batches_of_one": partial(batches, 1),
        }
        if name in ways:
            loop = partial(one_by_one, originals, labels, model, oracle, ways[name], budget)
            contenders["loop_as_printed"] = partial(loop, remembers=False)
            contenders["loop_that_remembers"] = partial(loop, remembers=True)
        steps: dict[str, list[int]] = {}
        seconds: dict[str, tuple[float, float, int]] = {}
        cpu: dict[str, float] = {}
        for threads in sorted({1, len(os.sched_getaffinity(0))}):
            torch.set_num_threads(threads)
            for contender, way in contenders.items():
                for _ in range(rounds):
                    started, worked = time.perf_counter(), time.process_time()
                    steps[contender] = way()
                    spent = time.perf_counter() - started, time.process_time() - worked, threads
                    seconds[contender] = min(seconds.get(contender, spent), spent)
                    cpu[contender] = min(cpu.get(contender, np.inf), spent[1])
        told[name] = {
            "seconds_threads": {one: (round(spent[0], 2), spent[2]) for one, spent in seconds.items()},
            "cpu_seconds": {one: round(spent, 2) for one, spent in cpu.items()},
            "batched_pictures_per_s": round(count / seconds["batched"][0], 2),
            "batched_is_faster_than": {
                one: round(spent[0] / seconds["batched"][0], 2) for one, spent in seconds.items() if one != "batched"
            },
            "same_accepted_steps": {
                one: float(np.mean(np.array(found) == np.array(steps["batched"]))) for one, found in steps.items()
            },
            "mean_accepted_steps": float(np.mean(steps["batched"])),
        }
    torch.set_num_threads(1)
    return told


def memory(counts: Sequence[int]) -> dict[str, dict[str, float]]:
    """Peak resident memory after so many pictures from files to files, MB; one generator after the other."""
    return {name: memory_of(GENERATORS[name], counts) for name in ("pixel", "vqgan")}


def memory_of(generator: str, counts: Sequence[int]) -> dict[str, float]:
    import hashlib
    import tempfile

    from analysis.counterfactuals.files import SearchOriginal, SearchSettings
    from analysis.counterfactuals.shards import cut_search, search_shard
    from analysis.generation.files import encode_png

    told = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "original.png"
        path.write_bytes(encode_png(pictures(1, 5)[0][0]))
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        settings = SearchSettings(
            classifier=f"export:{MODELS['clean']}", generator=generator, oracle=ORACLE, folder=f"{folder}/search",
            budget=1, size_px=SIZE_PX, batch=16,
        )  # fmt: skip
        done = 0
        for count in counts:
            originals = [
                SearchOriginal(f"airplane-{number}", default_labels().ids[0], str(path), sha256, number)
                for number in range(done, count)
            ]
            for shard in cut_search(settings, originals):
                search_shard(shard)
            done = count
            told[str(count)] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    return told


def kept_pictures(
    per_category: int, first: int, model: Any, oracle: Oracle, generator: str, budget: int
) -> LabelledPictures:
    """Originals of which the oracle accepted a counterfactual, and these."""
    originals, labels = pictures(per_category, first)
    found = search(
        originals, labels, classifier=model, generator=load_generator(generator), oracle=oracle, budget=budget
    )
    valid = [place for place, one in enumerate(found) if one.picture is not None]
    kept = np.stack([found[place].picture for place in valid])
    return LabelledPictures(originals[valid], kept, tuple(labels[place] for place in valid))


def retraining(per_category: int, budget: int) -> dict[str, object]:
    """The 2 x 2 of training on counterfactuals."""
    model, oracle = load_classifier(f"export:{MODELS['clean']}"), load_oracle(ORACLE)
    noise = "corruption:gaussian_noise"
    sides = [kept_pictures(per_category, first, model, oracle, noise, budget) for first in (2000, 3000)]
    done = retrain_on_counterfactuals(model, sides[0], sides[1], Recipe(epochs=10))
    return {"before_after_by_clean_counterfactual": done.accuracy.round(3).tolist(), "n": done.n,
            "seconds": round(done.seconds, 1)}  # fmt: skip


@dataclass(frozen=True)
class _StartedAt:
    """A generator that begins with other pictures than it is given: those before they were rounded to 8 bits."""

    of: Any
    pictures: np.ndarray

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of, name)

    def start(self, pictures: np.ndarray, seeds: np.ndarray) -> Any:
        return self.of.start(self.pictures, seeds)


def signed_step(per_category: int, budget: int) -> dict[str, object]:
    """Searches from the originals, from pictures after a signed step of 0.003, and from the same without rounding."""
    originals, labels = pictures(per_category, 4000)
    oracle = load_oracle(ORACLE)
    told: dict[str, object] = {}
    for name, path in MODELS.items():
        model = load_classifier(f"export:{path}")
        target = Target(model)
        gradient = target.gradient(as_tensor(originals.astype(np.float32) / 255, "cpu"), target.numbers(labels))
        # Intensities as they would be without rounding, 0.765 of a level from the originals.
        exact = np.clip(originals + np.float32(255 * 0.003) * np.sign(as_pictures(gradient)), 0, 255)
        with torch.inference_mode():
            logits = model.label_logits(as_tensor(exact / 255, "cpu"), default_labels())
        right = logits.argmax(1).numpy() == target.numbers(labels)
        found: dict[str, object] = {}
        generator = load_generator(VQGAN)
        ways: dict[str, dict[str, Any]] = {
            "originals": {"generator": generator},
            "step of 0.003 in 8 bits": {"generator": generator, "control": Control(fgsm=0.003)},
            "step of 0.003, exact": {"generator": _StartedAt(generator, exact)},
        }
        for way, how in ways.items():
            one = scored(search(originals, labels, classifier=model, oracle=oracle, budget=budget, batch=999, **how))
            if way == "step of 0.003, exact":  # a search knows the originals alone
                one |= {"sa": float(right.mean()), "oor": one["ca"] / right.mean() if right.any() else None}
            found[way] = {key: one[key] for key in ("n", "n_valid", "sa", "vr", "ca", "oor")}
        told[name] = found
    return told


def consistency(per_category: int, budget: int) -> dict[str, object]:
    """Training on counterfactuals by weights of the consistency loss: both accuracies after it, of two seeds."""
    model, oracle = load_classifier(f"export:{MODELS['clean']}"), load_oracle(ORACLE)
    sides = [
        kept_pictures(per_category, first, model, oracle, "corruption:gaussian_noise", budget) for first in (2000, 3000)
    ]
    told: dict[str, object] = {"n": [len(side.labels) for side in sides]}
    for weight in (0.0, 0.001, 0.01):
        done = [
            retrain_on_counterfactuals(
                model,
                sides[0],
                sides[1],
                Recipe(epochs=10, held_out=0, seed=seed, consistency=weight),
            ).accuracy
            for seed in range(2)
        ]
        told[f"weight {weight:g}"] = [one[1].round(3).tolist() for one in done]
        told["before"] = done[0][0].round(3).tolist()
    return told


#: What is measured, by pictures a category and budget.
PARTS: dict[str, Callable[[int, int], object]] = {
    "models": models_and_generators,
    "sparse": lambda per_category, budget: sparse_submodel(24 * per_category, budget),
    "throughput": lambda per_category, budget: throughput(32),
    "memory": lambda per_category, budget: memory((160, 320, 640)),
    "retraining": lambda per_category, budget: retraining(3 * per_category, budget),
    "signed_step": lambda per_category, budget: signed_step(2 * per_category, budget),
    "consistency": lambda per_category, budget: consistency(3 * per_category, budget),
}


def main(
    *,
    parts: Annotated[str, "separated by commas"] = ",".join(PARTS),
    pictures: Annotated[int, "a category (default 2)"] = 2,
    budget: int = 10,
    out: Path | None = None,
) -> None:
    torch.set_num_threads(1)
    told = {}
    for part in parts.split(","):
        started = time.perf_counter()
        told[part] = PARTS[part](pictures, budget)
        print(json.dumps({part: told[part]}, indent=1), f"({time.perf_counter() - started:.0f} s)", flush=True)
    if out:
        out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(main)
