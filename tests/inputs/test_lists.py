"""Study files, lists of people and addresses as they come from other programs."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.core.management import CommandError, call_command

from analysis.errors import TableRefused
from analysis.generation.plan import stimulus_file, stimulus_name
from analysis.study.link import Link
from analysis.study.toml import read_toml
from humanexp.core.errors import InputRefused
from humanexp.participation.models import Session
from humanexp.recruiters.models import Campaign, Exclusion, RecruitedPerson
from humanexp.recruiters.people import ids_of
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.inputs.handed import handed_in
from tests.recruitment.studies import Visitor, make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unhurried", "open_gates")]


class TestStudyFiles:
    def test_a_byte_order_mark_is_no_part_of_the_text(self) -> None:
        text = (handed_in("study-file-saved-by-windows") / "study.toml").read_text(encoding="utf-8")
        assert text.startswith("\ufeff")
        assert read_toml(text, source="study.toml")["title"] == "Noise and blur"

    @pytest.mark.parametrize("text", ["a = 1\r\nb = 2\r\n", "\ufeffa = 1\nb = 2\n", "\ufeff\na = 1\r\nb = 2"])
    def test_variants(self, text: str) -> None:
        assert read_toml(text, source="x") == {"a": 1, "b": 2}


class TestExclusions:
    def run(self, file: Path) -> str:
        out = StringIO()
        call_command("exclusions", make_study().family.slug, "--worker-ids", str(file), "--to", "link", stdout=out)
        return out.getvalue()

    @pytest.mark.parametrize("name", ["one-column.csv", "export.csv"])
    def test_the_header_is_nobody_and_an_export_is_read_by_its_column(self, name: str) -> None:
        assert self.run(handed_in("exclusion-list-from-a-spreadsheet") / name).startswith("2 added")
        assert Exclusion.objects.count() == 2

    @pytest.mark.parametrize(
        "content",
        [
            b"P1\nP2\n",
            "﻿Worker ID\r\nP1\r\nP2\r\n".encode(),
            b"WorkerId;Status\nP1;ok\nP2;ok\n",
            "prolific_pid\tage\nP1\t20\nP2\t30\n".encode("utf-16"),
            b"\n  P1 \n\nP2\n",
        ],
    )
    def test_variants(self, content: bytes) -> None:
        assert ids_of(content, source="list.csv") == ["P1", "P2"]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"Teilnehmer\nP1\nP2\n", "line 1: this seems to be a header"),
            (b"name,status\nP1,ok\n", "no column is known to hold ids. Keep one column: one id a line"),
            (b"worker id,participant id\nP1,P2\n", "worker id and participant id can both hold the ids"),
            (b"P1\n9.74077E+15\n", "id 2: a spreadsheet has rounded it"),
            (b"5f0c0ffee0ddba11deadbee0\n5f0c0ffee0ddba11deadbee1\nP7\n", "id 3: it has another form than the others"),
        ],
    )
    def test_what_may_be_no_list_of_ids_is_refused_without_repeating_an_id(self, content: bytes, said: str) -> None:
        with pytest.raises(InputRefused, match=said) as refused:
            ids_of(content, source="list.csv")
        assert "9.74" not in str(refused.value)
        with pytest.raises(TableRefused, match="Excel workbook"):
            ids_of(b"PK\x03\x04", source="list.csv")

    @pytest.mark.parametrize(
        "ids",
        [["ABCDEFGHIJKLMN", "A1BCDEFGHIJKLM", "A2BCDEFGHIJKLM"], ["P1", "maria", "P2", "P3"], ["rapid", "anna"]],
    )
    def test_an_id_without_a_digit_is_no_header(self, ids: list[str]) -> None:
        assert ids_of("\n".join(ids).encode(), source="list.txt") == ids

    def test_hashes_are_no_ids(self, tmp_path: Path) -> None:
        """One in 64 hashes has no digit: no header is looked for among them."""
        hashes = ["X-" + "ABCDE" * 4, "X-" + "AB2DE" * 4, "X-" + "AB3DE" * 4]
        (tmp_path / "list.txt").write_text("\n".join(hashes) + "\n")
        call_command("exclusions", make_study().family.slug, "--hashes", str(tmp_path / "list.txt"), stdout=StringIO())
        assert set(Exclusion.objects.values_list("code", flat=True)) == set(hashes)

    def test_nothing_is_added_of_a_list_that_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "list.txt").write_text("P1\nP 2\n")
        with pytest.raises(CommandError, match="Line 2 is no worker id of link; nothing was added"):
            self.run(tmp_path / "list.txt")
        assert not Exclusion.objects.exists()


class TestAddresses:
    def launched(self, preset: str = "prolific") -> Campaign:
        link = Link(preset=preset)
        return publish(study=make_study(), terms=LaunchTerms(to="link", assignments=3, link=link))

    def opened(self, campaign: Campaign, **ids: str) -> Any:
        """What the page says at once, and what the server says to whoever goes on all the same."""
        text = Visitor(campaign).get(**ids).text
        page = json.loads(text.split('<script id="take-page" type="application/json">')[1].split("</script>")[0])
        came = Visitor(campaign, worker_id=page["workerId"], assignment_id=page["assignmentId"])
        return page["isUnfilled"], came.open().status_code

    def test_ids_that_were_never_filled_in_open_nothing(self) -> None:
        campaign = self.launched()
        for line in (handed_in("link-with-ids-that-were-never-filled-in") / "addresses.txt").read_text().splitlines():
            assert self.opened(campaign, **dict(parse_qsl(line.partition("?")[2]))) == (True, 422)
        assert not Session.objects.exists() and not RecruitedPerson.objects.exists()

    @pytest.mark.parametrize("given", ["null", "NaN", "5f0c0ffee0ddba11deadbee", "ada@example.org", "[PID]", "12345"])
    def test_variants(self, given: str) -> None:
        ids = {"PROLIFIC_PID": given, "STUDY_ID": "s", "SESSION_ID": "66aa00bb11cc22dd33ee44f0"}
        assert self.opened(self.launched(), **ids) == (True, 422)

    @pytest.mark.parametrize("given", ["undefined", "ID", "id", "%ID%"])
    def test_a_site_of_ones_own_has_its_placeholders_too(self, given: str) -> None:
        campaign = self.launched("plain")
        assert self.opened(campaign, id=given) == (True, 422)
        assert self.opened(campaign, id="Maria-7") == (False, 201)


def test_no_spreadsheet_takes_the_name_of_a_stimulus_for_a_number() -> None:
    for line in (handed_in("export-names-that-spreadsheets-change") / "stimuli.csv").read_text().splitlines()[1:]:
        name = stimulus_name(int(line.split(",")[0], 16))
        assert name == f"s{line.split(',')[0]}" and stimulus_file(name) == f"{name[1:3]}/{name}.png"
        with pytest.raises(ValueError, match="could not convert"):
            float(name)
