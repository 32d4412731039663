from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.labels.files import default_labels
from analysis.study.validation import IS_NONE
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.personas import DEFAULT_MIX, Honest, TruePicture, cast, personas
from tests.labels import of_the_sixteen

OBSERVERS = ObserverModel(curves=DEMO_CURVES, seed=3)
CLEAN = TruePicture(original="cat-1", category="cat", corruption="none", visual_change=0.0)


def answers(name: str, picture: TruePicture, count: int = 2000) -> list:
    persona = personas(OBSERVERS, seed=3)[name]
    return [persona.answer([picture], participant=f"p{number}", position=5) for number in range(count)]


def test_an_honest_person_is_right_as_often_as_the_model_says() -> None:
    without_effects = ObserverModel(curves=DEMO_CURVES, image_sd=0, participant_sd=0)
    persona = Honest(name="x", observers=without_effects, seed=0, lapse=0.1, miss=0.05)
    picture = TruePicture(original="o", category="dog", corruption="gaussian_noise", visual_change=0.8)
    given = [persona.answer([picture], participant=f"p{n}", position=0).response for n in range(8000)]
    share = float(without_effects.marginal("gaussian_noise", np.array(0.8)))
    expected = persona.marginal_share(share)
    assert np.mean([response == "dog" for response in given]) == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(8000))
    assert np.mean([response == "na" for response in given]) == pytest.approx(0.05, abs=0.01)


@of_the_sixteen
def test_a_random_clicker_is_at_chance_and_one_button_has_one_answer() -> None:
    clicks = [answer.response for answer in answers("random", CLEAN)]
    assert np.mean([response == "cat" for response in clicks]) == pytest.approx(1 / 16, abs=0.02)
    assert set(clicks) == set(default_labels().ids)
    one_button = personas(OBSERVERS, seed=3)["one-button"]
    given = {one_button.answer([CLEAN], participant="p", position=n).response for n in range(50)}
    assert len(given) == 1


def test_the_too_fast_answer_before_anybody_could_see() -> None:
    assert max(answer.rt_ms for answer in answers("too-fast", CLEAN, 200)) < 250


def test_look_alike_noises_are_called_the_same_and_blur_is_not() -> None:
    persona = personas(OBSERVERS, seed=3)["careful"]
    noise, other, blur = (
        TruePicture(original=name, category="cat", corruption=name, visual_change=0.7)
        for name in ("gaussian_noise", "uniform_noise", "gaussian_blur")
    )
    alike = [persona.answer([noise, other], participant=f"p{n}", position=0).response for n in range(500)]
    apart = [persona.answer([noise, blur], participant=f"p{n}", position=0).response for n in range(500)]
    assert np.mean([response == "same" for response in alike]) > 0.8
    assert np.mean([response == "different" for response in apart]) > 0.9


def test_x_is_matched_with_a_or_b_where_they_can_be_told_apart() -> None:
    persona = personas(OBSERVERS, seed=3)["careful"]
    noise, other, blur = (
        TruePicture(original=name, category="cat", corruption=name, visual_change=0.7)
        for name in ("gaussian_noise", "uniform_noise", "gaussian_blur")
    )

    def share_of_a(a: TruePicture, b: TruePicture, x: TruePicture) -> float:
        given = [persona.answer([a, b, x], participant=f"p{n}", position=0).response for n in range(400)]
        return float(np.mean([response == "a" for response in given]))

    assert share_of_a(noise, blur, noise) > 0.9 > 0.1 > share_of_a(noise, blur, blur)
    assert 0.4 < share_of_a(noise, other, noise) < 0.6
    # Two clean pictures are told by what they show.
    cat, dog = (
        TruePicture(original=name, category=name, corruption="none", visual_change=0.0) for name in ("cat", "dog")
    )
    assert share_of_a(cat, dog, cat) > 0.9 > 0.1 > share_of_a(cat, dog, dog)
    others = personas(OBSERVERS, seed=3)
    assert {
        others["one-button"].answer([noise, blur, x], participant="p", position=0).response for x in (noise, blur)
    } == {"a"}
    assert {others["random"].answer([noise, blur, noise], participant="p", position=n).response for n in range(40)} == {
        "a",
        "b",
    }


@pytest.mark.parametrize("participants", [1, 7, 40, 101])
def test_a_cast_meets_the_shares_as_closely_as_whole_people_allow(participants: int) -> None:
    names = cast(DEFAULT_MIX, participants, seed=0)
    assert len(names) == participants
    for name, share in DEFAULT_MIX.items():
        assert abs(names.count(name) - participants * share) < 1
    assert names == cast(DEFAULT_MIX, participants, seed=0)


@pytest.mark.parametrize("mix", [{"careful": -1.0}, {"careful": 0.0}, {"lazy": 1.0}])
def test_an_impossible_mix_is_refused(mix: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"persona|shares"):
        cast(mix, 10, seed=0)


CONFLICT = TruePicture(original="x", category="cat", corruption="none", visual_change=0.0, texture="dog")


@pytest.mark.parametrize(("name", "shape", "texture"), [("network", 0.2, 0.53), ("vision-language", 0.5, 0.31)])
def test_a_machine_names_textures_as_often_as_it_says(name: str, shape: float, texture: float) -> None:
    machine = personas(OBSERVERS, seed=3)[name]
    given = [
        machine.answer([replace(CONFLICT, original=f"x{n}")], participant="p", position=n).response for n in range(3000)
    ]
    assert np.mean([one == "cat" for one in given]) == pytest.approx(shape, abs=0.03)
    assert np.mean([one == "dog" for one in given]) == pytest.approx(texture, abs=0.03)
    # The next person who sends this machine's answers sends the same ones.
    again = [machine.answer([CONFLICT], participant=f"p{n}", position=n).response for n in range(50)]
    assert len(set(again)) == 1


def test_an_imitator_turns_most_texture_answers_to_shape() -> None:
    known = personas(OBSERVERS, seed=3)
    pictures = [replace(CONFLICT, original=f"x{n}") for n in range(3000)]
    talking, imitator = (
        [known[name].answer([one], participant="p", position=n).response for n, one in enumerate(pictures)]
        for name in ("vision-language", "imitator")
    )
    assert imitator.count("dog") == pytest.approx(0.25 * talking.count("dog"), rel=0.2)
    assert imitator.count("cat") + imitator.count("dog") == talking.count("cat") + talking.count("dog")


def test_a_machine_is_near_perfect_on_clean_pictures_and_falls_early() -> None:
    clean = [replace(CLEAN, original=f"c{n}") for n in range(1000)]
    assert np.mean([answers_of("network", one, n) == "cat" for n, one in enumerate(clean)]) > 0.94
    harder = [replace(one, corruption="gaussian_blur", visual_change=0.7) for one in clean]
    assert np.mean([answers_of("network", one, n) == "cat" for n, one in enumerate(harder)]) < 0.2


def answers_of(name: str, picture: TruePicture, position: int) -> str:
    return personas(OBSERVERS, seed=3)[name].answer([picture], participant="p", position=position).response


def test_an_assisted_person_takes_a_persons_time() -> None:
    known = personas(OBSERVERS, seed=3)
    harder = [
        TruePicture(original=f"h{n}", category="cat", corruption="gaussian_noise", visual_change=0.65)
        for n in range(400)
    ]
    sent = {
        name: [known[name].answer([one], participant="p", position=n) for n, one in enumerate(harder)]
        for name in ("average", "network", "assisted")
    }
    times = {name: np.log([one.rt_ms for one in own if one.rt_ms is not None]) for name, own in sent.items()}
    assert np.std(times["network"]) < 0.05 < 0.2 < np.std(times["assisted"])
    right = {name: np.mean([one.response == "cat" for one in own]) for name, own in sent.items()}
    assert right["network"] < right["assisted"] < right["average"]
    assert right["assisted"] == pytest.approx(0.8 * right["network"] + 0.2 * right["average"], abs=0.06)


def test_machines_compare_match_and_judge_too() -> None:
    noise = replace(CLEAN, corruption="gaussian_noise", visual_change=0.4)
    other = replace(CLEAN, corruption="uniform_noise", visual_change=0.4)
    machine = personas(OBSERVERS, seed=3)["network"]

    def share(pictures: list[TruePicture], said: str, wanted: str | None = None) -> float:
        own = [machine.answer(pictures, participant="p", position=n, wanted=wanted).response for n in range(300)]
        return own.count(said) / len(own)

    assert share([noise, other], "different") > 0.9 and share([noise, noise], "same") > 0.9
    assert share([noise, other, other], "b") > 0.9 and share([noise, other, noise], "a") > 0.9
    assert share([CLEAN], IS_NONE, wanted="dog") == 1.0
