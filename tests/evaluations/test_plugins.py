"""Classifiers, observers, corruptions and generators of another package, installed as pip installs one."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis import plugins
from analysis.classifiers.loading import SCHEMES, load_classifier
from analysis.corruptions import CORRUPTIONS, corrupt, find_corruption, load_modules, load_plugins, plugged
from analysis.counterfactuals.specifications import load_generator
from analysis.errors import ClassifierUnavailable, GeneratorUnavailable, PluginUnavailable, UnknownName
from analysis.labels.space import Label, LabelSpace
from humanexp.console.doctor_checks import plug_ins
from humanexp.core.errors import InvalidRequest
from humanexp.counterfactuals.services.searches import check_specifications
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import is_asked
from humanexp.evaluations.specs import check_safe, check_spec
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generation import create_stimulus_set
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.acme_package import installed
from tests.analysis.generation.originals import write_originals
from tests.evaluations.sets import picture_set

pytestmark = pytest.mark.django_db(transaction=True)
SPEC = "acme:cat+dog"


@pytest.fixture(autouse=True)
def package(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN001, ANN201
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(installed(tmp_path / "site"))
    known = dict(CORRUPTIONS)
    yield tmp_path / "site"
    CORRUPTIONS.clear()
    CORRUPTIONS.update(known)
    monkeypatch.setattr("analysis.corruptions._plugged", [])
    for name in ("acme_net", "acme_net_broken"):
        sys.modules.pop(name, None)


class TestClassifiers:
    def test_it_is_asked_and_the_run_names_package_and_version(self) -> None:
        space = LabelSpace(name="pets", labels=(Label(id="cat"), Label(id="dog")))
        stimuli = picture_set("pets", {"cat": 3, "dog": 3}, space=space)
        told = StringIO()
        call_command("evaluate", "--stimuli", "pets", "--classifier", SPEC, stdout=told, stderr=StringIO())
        run = stimuli.evaluations.get()
        assert (run.count, run.versions["plug-in"]) == (16, "acme-net 1.2 (acme:)")
        assert "plug-in acme-net 1.2 (acme:)" in told.getvalue()

    def test_another_version_is_another_classifier(self, package: Path) -> None:
        first = load_classifier(SPEC, allow_code=True).digest
        (package / "acme_net-1.2.dist-info").rename(package / "acme_net-1.3.dist-info")
        metadata = package / "acme_net-1.3.dist-info" / "METADATA"
        metadata.write_text(metadata.read_text().replace("1.2", "1.3"))
        assert load_classifier(SPEC, allow_code=True).digest != first

    def test_the_console_runs_no_code_of_a_package(self) -> None:
        assert check_spec(SPEC) == SPEC
        with pytest.raises(InvalidRequest, match="acme: runs code and is for the command line alone"):
            check_safe(SPEC)
        with pytest.raises(ClassifierUnavailable, match="acme:cat.dog runs code of acme-net 1.2 and is not allowed"):
            load_classifier(SPEC)
        assert "acme_net" not in sys.modules

    def test_a_name_of_the_product_stays_the_products(self) -> None:
        assert plugins.refusals(plugins.CLASSIFIERS, SCHEMES) == (
            "The plug-in timm of acme-net 1.2 is left out: timm is HumanExp's own. Give it another name in the group "
            "humanexp.classifiers.",
        )
        with pytest.raises(ClassifierUnavailable, match=r"timm(:| has| is)"):
            load_classifier("timm:no-such-network", allow_code=True)
        assert "acme_net" not in sys.modules

    def test_two_packages_with_one_name_are_both_left_out(self, package: Path) -> None:
        installed(package, name="emca-net", entries="[humanexp.classifiers]\nacme = acme_net:classifier\n")
        sentence = "There are two plug-ins acme, of acme-net 1.2 and emca-net 1.2: uninstall one of them."
        assert sentence in plugins.refusals(plugins.CLASSIFIERS, SCHEMES)
        with pytest.raises(PluginUnavailable, match="two plug-ins acme"):
            load_classifier(SPEC, allow_code=True)
        assert "acme" not in [one.name for one in plugins.offered(plugins.CLASSIFIERS, SCHEMES)]

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("acme-broken:x", "acme-broken of acme-net 1.2 cannot be imported .ModuleNotFoundError: No module named"),
            ("acme-bare:x", "acme-bare:x of acme-net 1.2 makes something without name, labels"),
        ],
    )
    def test_one_that_fails_is_a_sentence_and_leaves_the_others(self, spec: str, message: str) -> None:
        picture_set("pets")
        with pytest.raises(CommandError, match=message):
            call_command("evaluate", "--stimuli", "pets", "--classifier", spec, stdout=StringIO(), stderr=StringIO())
        assert load_classifier(SPEC, allow_code=True).name == "acme"

    def test_one_that_fails_later_is_a_sentence_too(self) -> None:
        made = load_classifier("acme:+", allow_code=True)
        with pytest.raises(ClassifierUnavailable, match="acme .acme-net 1.2 .* fails .RuntimeError: the model server"):
            made.predict(np.zeros((1, 4, 4, 3), np.uint8))  # type: ignore[union-attr]

    def test_doctor_lists_them(self) -> None:
        assert "timm is HumanExp's own" in str(plug_ins())
        assert "acme_net" not in sys.modules


def asked(*more: str, model: str = "parrot:polly") -> EvaluationRun:
    call_command("evaluate", "--stimuli", "pets", "--classifier", model, *more, stdout=StringIO(), stderr=StringIO())
    return EvaluationRun.objects.get()


class TestObservers:
    def test_it_is_asked_answers_are_kept_and_calls_are_counted(self) -> None:
        picture_set("pets")
        run = asked("--allow-upload", "--orders", "2", "--most-calls", "100")
        assert (run.name, run.count, run.asking["calls"]) == ("parrot polly", 16, 64)
        assert run.versions["plug-in"] == "acme-net 1.2 (parrot:)" and run.versions["acme"] == "1.2"
        # Whoever always takes the first option follows a place in the list.
        assert run.asking["summary"]["preference"] > 0.9
        again = asked("--allow-upload", "--orders", "2", "--name", "parrot polly")
        assert again.asking["calls"] == 64

    def test_pictures_need_leave_and_calls_have_a_cap(self) -> None:
        picture_set("pets")
        with pytest.raises(CommandError, match="runs code of acme-net 1.2, which may send the pictures"):
            asked()
        with pytest.raises(CommandError, match="64 calls, more than --most-calls 5"):
            asked("--allow-upload", "--orders", "2", "--most-calls", "5")

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            ("parrot:broken", "parrot broken of acme-net 1.2 fails .OSError: no answer"),
            ("parrot:strange", "parrot strange of acme-net 1.2 answers .*dragon.* which is no answer"),
        ],
    )
    def test_what_is_no_answer_is_taken_for_none(self, model: str, message: str) -> None:
        picture_set("pets")
        with pytest.raises(CommandError, match=message):
            asked("--allow-upload", model=model)

    def test_a_scheme_of_the_product_stays_the_products(self) -> None:
        picture_set("pets")
        assert is_asked("openai:x") and not is_asked("timm:x")
        with pytest.raises(CommandError, match="names no model: write openai:https"):
            asked("--allow-upload", model="openai:polly")


class TestCorruptions:
    def test_the_command_line_finds_it_and_so_do_other_processes(self) -> None:
        with pytest.raises(UnknownName, match="no corruption named 'acme_fog'"):
            find_corruption("acme_fog")
        load_plugins(["acme_fog", "gaussian_blur"])
        assert find_corruption("acme_fog").source == "acme-net 1.2" and plugged() == ("humanexp.corruptions:acme_fog",)
        grey = np.full((8, 8, 3), 55, np.uint8)
        assert corrupt(grey, "acme_fog", 0.5, 0)[0, 0, 0] == 155
        assert find_corruption("gaussian_blur").family == "blur"
        CORRUPTIONS.pop("acme_fog")
        load_modules(plugged())
        assert "acme_fog" in CORRUPTIONS

    def test_stimuli_are_made_with_it(self, tmp_path: Path) -> None:
        write_originals(tmp_path / "pictures", {"cat": 3, "dog": 3})
        import_images(source=tmp_path / "pictures", order=ImportOrder(name="pets"))
        call_command(
            "generate_stimuli", "--images", "pets", "--corruption", "acme_fog", "--count", "12", "--size", "112",
            "--name", "foggy", stdout=StringIO(), stderr=StringIO(),
        )  # fmt: skip
        assert StimulusSet.objects.get(name="foggy").stimuli.filter(corruption="acme_fog").count() == 12

    def test_a_form_knows_none_of_a_package(self) -> None:
        source = picture_set("pets").source_set
        with pytest.raises(InvalidRequest, match="no corruption named 'acme_fog'"):
            create_stimulus_set(Described(source_set=source, name="foggy", corruptions=["acme_fog"], count=12))
        assert "acme_net" not in sys.modules

    def test_something_else_is_refused(self) -> None:
        with pytest.raises(PluginUnavailable, match="acme_rain of acme-net 1.2 is Corruption acme_fog, not"):
            load_plugins(["acme_rain"])
        assert "acme_rain" not in CORRUPTIONS


def test_a_generator_is_for_the_command_line() -> None:
    asked = {"classifier": "export:net.pt2", "generator": "acme-steps:", "oracle": "classifier:export:oracle.pt2"}
    check_specifications(**asked, is_form=False)
    with pytest.raises(InvalidRequest, match="is no generator"):
        check_specifications(**asked, is_form=True)
    with pytest.raises(GeneratorUnavailable, match="runs code of acme-net 1.2 and is not allowed here"):
        load_generator("acme-steps:")
    assert load_generator("acme-steps:", allow_code=True).epsilon == 0.1  # type: ignore[attr-defined]
