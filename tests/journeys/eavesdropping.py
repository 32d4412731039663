"""What a browser receives of every trial besides pixels, as numbers, and how well they tell what was kept back."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.test import Client
from numpy.typing import NDArray

from humanexp.participation.models import Session, Trial
from humanexp.participation.openings import issue_handoff

API = "/api/v1/run/"
LEASE = "a-tab-of-its-own"
#: Features that are left aside; they are measured apart.
SIZE, REPEATED, ELSEWHERE = "size of the file", "contents came before", "contents of other sessions"
Floats = NDArray[np.float64]


@dataclass
class Heard:
    """One trial that is not practice: what was received about it, and the truth."""

    session: int
    role: str
    category: str
    digest: str
    #: numbers, and texts that are told apart as they are
    features: dict[str, Any] = field(default_factory=dict)


def listen(session: Session, answers: np.random.Generator) -> list[Heard]:
    """Go through a session as the page does, and note all that arrives."""
    http, heard = Client(), []
    kept = {trial.position: trial for trial in Trial.objects.filter(session=session).select_related("stimulus")}
    categories = dict(Trial.objects.filter(session=session).values_list("position", "stimulus__source_image__category"))
    shell = http.get("/run/")
    code = issue_handoff(session=session)
    token = _json(http.post(f"{API}handoff/", {"code": code}, content_type="application/json"))["token"]
    headers = {"Authorization": f"Bearer {token}", "X-Lease": LEASE}
    http.post(f"{API}lease/", {"lease": LEASE}, content_type="application/json", headers=headers)
    told = _json(http.get(f"{API}session/", headers=headers))
    choices = [choice["name"] for choice in told["choices"]["categorisation"]]
    whole = {
        "page": hashlib.sha256(shell.content).hexdigest(),
        **{f"told of {name}": json.dumps(told[name]) for name in told if name not in ("blocks", "cursor")},
        "token": sum(token.encode()),
    }
    for block in told["blocks"]:
        positions = range(block["first"], block["last"] + 1)
        pictures = {}
        for position in positions:
            stimulus = http.get(f"{API}trials/{position}/stimulus/0/", headers=headers)
            mask = http.get(f"{API}trials/{position}/mask/", headers=headers)
            assert stimulus.status_code == mask.status_code == 200
            pictures[position] = (stimulus, mask)
        status = http.get(f"{API}status/", headers=headers)
        for position in positions:
            body = {"position": position, "response": str(answers.choice(choices)), "rt_ms": 640.0}
            stored = http.post(f"{API}responses/", body, content_type="application/json", headers=headers)
            assert stored.status_code == 201
            if block["kind"] == "practice":
                continue
            stimulus, mask = pictures[position]
            trial = kept[position]
            heard.append(
                Heard(
                    session=session.pk,
                    role=trial.role,
                    category=categories[position],
                    digest=hashlib.sha256(stimulus.content).hexdigest(),
                    features={
                        **whole,
                        **_place(position, block, told["total"]),
                        **_reply("picture", stimulus),
                        **_reply("mask", mask),
                        **_png("picture", stimulus.content),
                        **_png("mask", mask.content),
                        **_noise(mask.content),
                        **_reply("answer", stored),
                        **_said("answer", _json(stored), position),
                        **_reply("status", status),
                        **_said("status", _json(status), block["first"]),
                        SIZE: len(stimulus.content),
                    },
                )
            )
    return heard


def _json(reply: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(reply.content)
    return content


def _place(position: int, block: Mapping[str, Any], total: int) -> dict[str, Any]:
    length = block["last"] - block["first"] + 1
    within = (position - block["first"]) / length
    return {
        "position": position,
        **{f"position modulo {n}": str(position % n) for n in (2, 3, 4, 5, 8)},
        "tenth of the session": str(10 * position // total),
        "tenth of the block": str(int(10 * within)),
        "in the block": within,
        "before the end": block["last"] - position,
        "first of the block": float(position == block["first"]),
        **{f"block {name}": json.dumps(block[name]) for name in block},
        "address": len(f"{API}trials/{position}/stimulus/0/"),
    }


def _reply(what: str, reply: Any) -> dict[str, Any]:
    headers = {name: value for name, value in reply.headers.items() if name != "Content-Length"}
    return {
        f"{what}: status": reply.status_code,
        f"{what}: headers": json.dumps(headers, sort_keys=True),
        f"{what}: cookies": len(reply.cookies),
    }


def _said(what: str, said: Mapping[str, Any], position: int) -> dict[str, Any]:
    ahead = {name: value - position for name, value in said.items() if name in ("position", "cursor")}
    return {f"{what}: {name}": str(ahead.get(name, value)) for name, value in said.items()}


def _png(what: str, png: bytes) -> dict[str, Any]:
    chunks = list(_chunks(png))
    drawn = [content for name, content in chunks if name == b"IDAT"]
    return {
        f"{what}: chunks": b" ".join(name for name, _ in chunks if name != b"IDAT").decode(),
        f"{what}: pieces": len(drawn),
        f"{what}: header": chunks[0][1].hex(),
        # How the pixels were packed; what follows are pixels.
        f"{what}: packing": drawn[0][:2].hex(),
        f"{what}: after the end": len(png) - _end(png),
    }


def _noise(mask: bytes) -> dict[str, Any]:
    """A mask is no stimulus: its own pixels count as well."""
    pixels = np.frombuffer(b"".join(content for name, content in _chunks(mask) if name == b"IDAT"), dtype=np.uint8)
    return {"mask: mean": float(pixels.mean()), "mask: spread": float(pixels.std()), "mask: size": len(mask)}


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 8
    while place + 12 <= len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        place += 12 + length


def _end(png: bytes) -> int:
    return 8 + sum(12 + len(content) for _, content in _chunks(png))


def add_repetitions(heard: Sequence[Heard]) -> None:
    """How often the same bytes came before in the session, and in how many other sessions they come up."""
    holders: dict[str, set[int]] = {}
    for trial in heard:
        holders.setdefault(trial.digest, set()).add(trial.session)
    before: Counter[tuple[int, str]] = Counter()
    for trial in heard:
        trial.features[REPEATED] = before[trial.session, trial.digest]
        trial.features[ELSEWHERE] = np.log(len(holders[trial.digest]))
        before[trial.session, trial.digest] += 1


def columns(heard: Sequence[Heard], names: Sequence[str] | None = None) -> tuple[Floats, list[str]]:
    """Features as standardised columns: texts as indicators (rare ones together), numbers with their square and ranks.

    Without `names`, all but sizes and repetitions. What is the same for every trial makes no column.
    """
    chosen = names or [name for name in heard[0].features if name not in (SIZE, REPEATED, ELSEWHERE)]
    made: dict[str, Floats] = {}
    for name in chosen:
        values = [trial.features[name] for trial in heard]
        if isinstance(values[0], str):
            common = [value for value, _ in Counter(values).most_common(40)]
            for value in common if len(common) > 1 else ():
                made[f"{name} = {value[:40]}"] = np.array([given == value for given in values], dtype=float)
        else:
            numbers = np.array(values, dtype=float)
            made[name], made[f"{name}, squared"] = numbers, (numbers - numbers.mean()) ** 2
            for cut in np.unique(np.quantile(numbers, np.linspace(0.1, 0.9, 9))):
                made[f"{name} > {cut:.3g}"] = (numbers > cut).astype(float)
    kept = {name: column for name, column in made.items() if column.std() > 1e-9}
    table = np.array([(column - column.mean()) / column.std() for column in kept.values()]).T
    return (table if kept else np.zeros((len(heard), 0))), list(kept)


def held_out_scores(table: Floats, target: NDArray[np.bool_], sessions: NDArray[np.int64], folds: int = 5) -> Floats:
    """Log odds of a logistic regression that never saw the trial's session."""
    scores = np.zeros(len(target))
    fold_of = {session: number % folds for number, session in enumerate(np.unique(sessions))}
    fold = np.array([fold_of[session] for session in sessions])
    for number in range(folds):
        learn, test = fold != number, fold == number
        scores[test] = _design(table[test]) @ _fit(_design(table[learn]), target[learn].astype(float))
    return scores


def _design(table: Floats) -> Floats:
    return np.column_stack([np.ones(len(table)), table])


def _fit(design: Floats, target: Floats, penalty: float = 3.0) -> Floats:
    """Ridge logistic regression by Newton's method."""
    weights = np.zeros(design.shape[1])
    ridge = np.full(design.shape[1], penalty)
    ridge[0] = 1e-6
    for _ in range(25):
        expected = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (target - expected) - ridge * weights
        curvature = (design * (expected * (1 - expected))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def auc(scores: Floats, target: NDArray[np.bool_]) -> float:
    """Share of pairs of one target and one other trial in which the target has the higher score; ties count half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    hits = int(target.sum())
    return float((ranks[target].sum() - hits * (hits + 1) / 2) / (hits * (len(target) - hits)))


def upper_bound(
    answered: Sequence[tuple[Floats, NDArray[np.bool_]]], sessions: NDArray[np.int64], draws: int = 300, seed: int = 0
) -> tuple[float, float]:
    """Mean AUC of questions put to the same trials, and its upper 95 % bound over sessions drawn again."""
    rng, known = np.random.default_rng(seed), np.unique(sessions)
    rows = {session: np.flatnonzero(sessions == session) for session in known}
    drawn = []
    for _ in range(draws):
        chosen = np.concatenate([rows[session] for session in rng.choice(known, len(known))])
        drawn.append(np.mean([auc(scores[chosen], target[chosen]) for scores, target in answered]))
    found = float(np.mean([auc(scores, target) for scores, target in answered]))
    return found, float(np.quantile(drawn, 0.95))
