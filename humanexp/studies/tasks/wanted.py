"""The categories as validation asks about them: a short definition, a page to read more, and the two questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analysis.labels.files import default_labels


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A category that a picture is compared with."""

    label: str | Promise
    #: as it stands in a question, with its article
    phrase: str | Promise
    definition: str | Promise
    #: article of the encyclopaedia, in the reader's language
    link: str | Promise


WANTED: Mapping[str, Wanted] = {
    "airplane": Wanted(
        label=_("Airplane"),
        phrase=_("an airplane"),
        definition=_("A flying vehicle with fixed wings and an engine, large or small."),
        link=_("https://en.wikipedia.org/wiki/Airplane"),
    ),
    "bear": Wanted(
        label=_("Bear"),
        phrase=_("a bear"),
        definition=_("A large, heavy wild animal with thick fur, round ears and a short tail, such as a brown bear."),
        link=_("https://en.wikipedia.org/wiki/Bear"),
    ),
    "bicycle": Wanted(
        label=_("Bicycle"),
        phrase=_("a bicycle"),
        definition=_("A vehicle with two wheels one behind the other, which its rider drives by pedals."),
        link=_("https://en.wikipedia.org/wiki/Bicycle"),
    ),
    "bird": Wanted(
        label=_("Bird"),
        phrase=_("a bird"),
        definition=_("An animal with feathers, two wings and a beak."),
        link=_("https://en.wikipedia.org/wiki/Bird"),
    ),
    "boat": Wanted(
        label=_("Boat"),
        phrase=_("a boat"),
        definition=_("A vehicle that carries people or goods over water, from a canoe to a ship."),
        link=_("https://en.wikipedia.org/wiki/Boat"),
    ),
    "bottle": Wanted(
        label=_("Bottle"),
        phrase=_("a bottle"),
        definition=_("A container for liquids with a neck that is narrower than its body."),
        link=_("https://en.wikipedia.org/wiki/Bottle"),
    ),
    "car": Wanted(
        label=_("Car"),
        phrase=_("a car"),
        definition=_("A motor vehicle on four wheels, made for carrying a few people on roads."),
        link=_("https://en.wikipedia.org/wiki/Car"),
    ),
    "cat": Wanted(
        label=_("Cat"),
        phrase=_("a cat"),
        definition=_("The small furry animal that is kept as a pet and catches mice, of any breed."),
        link=_("https://en.wikipedia.org/wiki/Cat"),
    ),
    "chair": Wanted(
        label=_("Chair"),
        phrase=_("a chair"),
        definition=_("A piece of furniture for one person to sit on, with a seat and a back."),
        link=_("https://en.wikipedia.org/wiki/Chair"),
    ),
    "clock": Wanted(
        label=_("Clock"),
        phrase=_("a clock"),
        definition=_("A device that shows the time of day, with hands or with digits."),
        link=_("https://en.wikipedia.org/wiki/Clock"),
    ),
    "dog": Wanted(
        label=_("Dog"),
        phrase=_("a dog"),
        definition=_("The four-legged animal that is kept as a pet or for work and barks, of any breed."),
        link=_("https://en.wikipedia.org/wiki/Dog"),
    ),
    "elephant": Wanted(
        label=_("Elephant"),
        phrase=_("an elephant"),
        definition=_("A very large grey animal with a trunk and large ears, often with tusks."),
        link=_("https://en.wikipedia.org/wiki/Elephant"),
    ),
    "keyboard": Wanted(
        label=_("Keyboard"),
        phrase=_("a keyboard"),
        definition=_("A board of keys with which one types on a computer or a similar machine."),
        link=_("https://en.wikipedia.org/wiki/Computer_keyboard"),
    ),
    "knife": Wanted(
        label=_("Knife"),
        phrase=_("a knife"),
        definition=_("A hand tool for cutting: a sharp blade with a handle."),
        link=_("https://en.wikipedia.org/wiki/Knife"),
    ),
    "oven": Wanted(
        label=_("Oven"),
        phrase=_("an oven"),
        definition=_("A closed, heated chamber in which food is baked or roasted, alone or as a part of a cooker."),
        link=_("https://en.wikipedia.org/wiki/Oven"),
    ),
    "truck": Wanted(
        label=_("Truck"),
        phrase=_("a truck"),
        definition=_("A large motor vehicle for carrying goods or loads on roads."),
        link=_("https://en.wikipedia.org/wiki/Truck"),
    ),
}


def question(category: str, wording: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """What the page is told about a trial: the wanted category, its definition and link, and both questions.

    Nothing of it depends on the picture or its role.
    """
    wanted, own = WANTED[category], wording.get(category, {})
    thing = {"thing": wanted.phrase}
    # Nobody uses a dog as a dog: of animals it is asked whether one could take it for one.
    usable = (
        _("Could what it shows be taken for %(thing)s?")
        if default_labels().group(category) == "animal"
        else _("Could what it shows be used as %(thing)s?")
    )
    return {
        "wanted": category,
        "label": str(wanted.label),
        "definition": own.get("definition") or str(wanted.definition),
        "link": own.get("link", str(wanted.link)),
        "questions": [str(_("Does the picture show %(thing)s?") % thing), str(usable % thing)],
    }
