"""A catalogue of the installation: refused as a whole if it is at fault, and then spoken on every page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.management import call_command
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext, ngettext

from analysis.errors import InvalidInput
from analysis.study.ethics import Ethics, EthicsTexts
from analysis.study.study import StudyConfiguration
from humanexp.core import checks
from humanexp.core.errors import InputRefused
from humanexp.core.languages import CONSENT, Catalogue, catalogue_keys, catalogue_template, catalogues, texts_of
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.studies.facts import StudyFacts
from tests.made_up import TAG, catalogue_file, made_up_catalogue, said
from tests.texts import participant_texts


def refusal(text: str) -> str:
    with pytest.raises(InputRefused) as refused:
        Catalogue.read(text, source="farsi.toml")
    return refused.value.message


class TestKeys:
    def test_a_catalogue_can_translate_every_text_of_a_participant(self) -> None:
        keys = catalogue_keys()
        assert {text: plural or "" for text, plural in participant_texts().items()}.items() <= keys.items()
        assert "Taking part is voluntary" in keys and keys["This takes about %(minutes)s minute in total."]

    def test_the_template_has_every_key_in_the_order_of_the_pages(self) -> None:
        empty = catalogue_template()
        assert len(re.findall(r'^".*" = (?:""|\["", ""\])$', empty, re.M)) == len(catalogue_keys())
        assert refusal(empty).startswith("farsi.toml: language must be a language tag")
        order = list(texts_of())
        assert order.index("Taking part is voluntary") < order.index("Before you start") < order.index("Good to know")
        assert order.index("Good to know") < order.index("Knife")

    def test_a_study_needs_only_the_texts_of_its_tasks(self) -> None:
        named, compared = texts_of(["categorisation"]), texts_of(["discrimination"])
        assert named.keys() < catalogue_keys().keys() and compared.keys() < catalogue_keys().keys()
        same = "Were the two pictures changed in the same way?"
        assert (same in compared, same in named) == (True, False) or named.keys() != compared.keys()

    @pytest.mark.parametrize("leaves", ["full", "share", "none"])
    @pytest.mark.parametrize("contact", ["", "lab@example.org"])
    @pytest.mark.parametrize("own_text", ["", "Our own text."])
    @pytest.mark.parametrize("way", ["link", "hit"])
    @pytest.mark.parametrize("tasks", [("categorisation",), ("abx",), ("categorisation", "abx"), ("validation",)])
    def test_consent_by_sentence_says_what_the_house_text_says(
        self, leaves: Any, contact: str, own_text: str, way: Any, tasks: tuple[str, ...]
    ) -> None:
        full = EthicsTexts(**{name: f"Our {name}." for name in EthicsTexts.model_fields})
        for texts, cents, minor in ((EthicsTexts(), 0, False), (full, 120, True), (EthicsTexts(), 120, False)):
            facts = StudyFacts(
                tasks=tasks,
                way=way,
                contact=contact,
                pay_on_leaving=leaves,
                reward_cents=cents,
                minutes=1 + minor,
                marks_browser=not cents,
                shows_curve=bool(contact),
                shown_next_to=own_text,
            )
            context = {
                "facts": facts,
                "ethics": Ethics(guardian_consent=minor),
                "texts": texts,
                "texts_language": "en",
                "own_text": own_text,
                "own_language": "en",
            }
            house = render_to_string(f"recruitment/take/consent/{HOUSE_VERSION}.html", context)
            assert words(render_to_string(CONSENT, context)) == words(house)


def words(html: str) -> list[str]:
    return re.sub(r"<[^>]+>", " ", html.replace(' dir="auto"', "")).split()


class TestRefusals:
    """Each names the file, the key, and what to do."""

    def test_a_whole_one_is_taken(self) -> None:
        found = made_up_catalogue()
        assert (found.tag, found.direction) == (TAG, "rtl") and found.texts["Continue"] == (said("Continue"),)
        assert found.digest == made_up_catalogue().digest != made_up_catalogue(direction="ltr").digest

    @pytest.mark.parametrize("text", [None, "", "  "])
    def test_a_text_that_is_missing_is_read_in_english(self, text: str | None) -> None:
        found = Catalogue.read(catalogue_file(changes={"Continue": text}), source="made-up.toml")
        assert found.gettext("Continue") == "Continue" and found.gettext("Back") == said("Back")
        assert found.digest != made_up_catalogue().digest

    @pytest.mark.parametrize(
        ("key", "text", "sentence"),
        [
            ("Contine", "x", "farsi.toml has a key 'Contine' that no page has. Take it out, or compare with the "),
            ("Continue", "<b>x</b>", "farsi.toml: the text of 'Continue' holds '<'. Texts are plain:"),
            ("Continue", 'x" onfocus=', "farsi.toml: the text of 'Continue' holds '\"'. Texts are plain:"),
            ("Continue", "&lt;", "farsi.toml: the text of 'Continue' holds '&'. Texts are plain:"),
            ("Continue", "{label}", "farsi.toml: the text of 'Continue' has, and its key has not, '{label}'. Keep"),
            ("Continue", "100 %", "farsi.toml: the text of 'Continue' has, and its key has not, '%'. Keep what"),
            ("Text %(version)s", "x", "farsi.toml: the text of 'Text %(version)s' lacks '%(version)s'. Keep what"),
            ("Continue", ["x"], "farsi.toml: the key 'Continue' takes one text."),
            ("Continue", 3, "farsi.toml: the key 'Continue' takes one text."),
            ("https://en.wikipedia.org/wiki/Cat", "javascript:x", "farsi.toml: the text of 'https://en.wikipedia"),
            (
                "A research study of about %(minutes)s minute",
                ["%(minutes)s"],
                "farsi.toml: the key 'A research study of about %(minutes)s minute' takes a list of 2 texts, one for",
            ),
        ],
    )
    def test_texts(self, key: str, text: object, sentence: str) -> None:
        assert refusal(catalogue_file(changes={key: text})).startswith(sentence)

    @pytest.mark.parametrize(
        ("line", "other", "sentence"),
        [
            (f'language = "{TAG}"', 'language = "Farsi"', "farsi.toml: language must be a language tag"),
            (f'language = "{TAG}"', 'language = "de"', "farsi.toml: HumanExp has 'de' itself."),
            ('direction = "rtl"', 'direction = "up"', "farsi.toml: direction must be"),
            ("plural=(n != 1);", "plural=__import__('os');", "farsi.toml: plural must be a rule"),
            ("plural=(n != 1);", "plural=n;", "farsi.toml: plural must be a rule"),
            ("plural=(n != 1);", "plural=1/n;", "farsi.toml: plural must be a rule"),
            ("[texts]", "colour = 3\n[texts]", "farsi.toml has no use for 'colour': take it out."),
            ("[texts]", "[text]", "farsi.toml has no use for 'text': take it out."),
            ("[texts]", "[texts", "farsi.toml is no valid TOML"),
        ],
    )
    def test_the_head(self, line: str, other: str, sentence: str) -> None:
        file = catalogue_file()
        assert line in file and refusal(file.replace(line, other, 1)).startswith(sentence)


@pytest.mark.django_db
class TestSpoken:
    @pytest.mark.process
    def test_django_speaks_it_and_comes_back(self, made_up_language: Any) -> None:
        with translation.override(catalogues()[TAG].code):
            assert gettext("Continue") == said("Continue") and gettext("Not on any page") == "Not on any page"
            one, many = "You named %(pictures)s picture.", "x"
            assert ngettext(one, many, 2) == many
            with translation.override("de"):
                assert gettext("Continue") == "Weiter"
            assert gettext("Continue") == said("Continue")
        assert gettext("Continue") == "Continue"

    def test_a_folder_at_fault_is_refused(self, made_up_language: Any, settings: Any, tmp_path: Any) -> None:
        (tmp_path / "one.toml").write_text(catalogue_file(), encoding="utf-8")
        (tmp_path / "two.toml").write_text(catalogue_file(), encoding="utf-8")
        settings.LOCALE_FOLDER = str(tmp_path)
        with pytest.raises(InputRefused, match=f"two.toml is a second catalogue for '{TAG}'"):
            checks.check()
        settings.LOCALE_FOLDER = str(tmp_path / "absent")
        with pytest.raises(InputRefused, match="there is no such folder"):
            catalogues()

    def test_plural_forms_follow_the_rule_of_the_language(self) -> None:
        key = "This takes about %(minutes)s minute in total."
        file = catalogue_file(tag="pl").replace(
            "nplurals=2; plural=(n != 1);", "nplurals=3; plural=n==1 ? 0 : n<5 ? 1 : 2;"
        )
        for plural_key, plural in catalogue_keys().items():
            if plural:
                found = next(line for line in file.splitlines() if line.startswith(f'"{plural_key}" = '))
                forms = [f"{number} {' '.join(re.findall(r'%[(][a-z]+[)]s', plural_key))}" for number in "abc"]
                file = file.replace(found, f'"{plural_key}" = ["{forms[0]}", "{forms[1]}", "{forms[2]}"]')
        found = Catalogue.read(file, source="pl.toml")
        assert [found.ngettext(key, "", n)[0] for n in (1, 3, 7)] == ["a", "b", "c"]


class TestCommand:
    def test_it_writes_the_template_and_checks_a_file(self, capsys: Any, tmp_path: Any) -> None:
        call_command("catalogue")
        assert capsys.readouterr().out == catalogue_template()
        path = tmp_path / "made-up.toml"
        path.write_text(catalogue_file(changes={"Continue": ""}), encoding="utf-8")
        call_command("catalogue", str(path))
        count = len(catalogue_keys())
        assert f"made-up.toml: {made_up_catalogue().name}, {count - 1} of {count} texts" in capsys.readouterr().out


class TestStudyFile:
    def configuration(self, **values: Any) -> StudyConfiguration:
        return StudyConfiguration.from_file_values({"title": "T", "stimuli": "s", **values})

    @pytest.mark.parametrize(
        ("values", "sentence"),
        [
            ({"language": "Farsi"}, "language must be a tag such as en, fa, zh-Hant or pt-BR, not 'Farsi'."),
            ({"languages": {"fa": "fa.toml"}}, "languages"),
        ],
    )
    def test_what_cannot_be_is_refused(self, values: dict[str, Any], sentence: str) -> None:
        with pytest.raises(InvalidInput, match=re.escape(sentence)):
            self.configuration(**values)
        assert self.configuration(language="fa").language == "fa"
