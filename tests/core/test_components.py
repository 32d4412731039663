"""What pages are made of, on what they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import RequestContext, Template
from django.test import RequestFactory

from humanexp.core.pages.rendering import Column, Table
from tests.markup import markup


def made(source: str, **context: Any) -> str:
    request = RequestFactory().get("/?query=a+b&page=2")
    return markup(Template("{% load components %}" + source).render(RequestContext(request, context)))


@dataclass(frozen=True)
class Sum:
    name: str
    cents: int


TABLE = Table(
    [
        Column("Name", "name", "row", "name"),
        Column(name="cents"),
        Column("Sum", lambda row: f"${row.cents / 100:.2f}", "n", "sum_cents", "cents"),
        Column("Only here", lambda row: "<b>"),
    ],
    [Sum("one", 150)],
    [Sum("all", 300)],
)


@pytest.mark.parametrize(("n", "words"), [(0, "0 people"), (1, "1 person"), (1_200, "1,200 people")])
def test_what_is_counted_is_said_in_the_singular_or_the_plural(n: int, words: str) -> None:
    assert made('{{ n|n:"person,people" }}', n=n) == words


def test_a_card_is_named_by_its_title_and_what_is_given_is_escaped() -> None:
    page = made('{% card title of="x" span=6 also="prose" id="y" %}<p>in</p>{% endcard %}', title="<i>")
    assert page == (
        '<section class="card c6 prose" aria-labelledby="x-title" id="y">'
        '<h2 id="x-title">&lt;i&gt;</h2><p>in</p></section>'
    )


def test_a_fact_without_a_description_is_left_out() -> None:
    source = '{% fact "Why" %} {{ why }} {% endfact %}'
    assert made(source, why="<i>") == "<dt>Why</dt><dd>&lt;i&gt;</dd>"
    assert made(source, why="") == ""


def test_a_declared_table_is_the_same_on_a_page_and_in_a_file() -> None:
    page = made('{% table table of="x" %}', table=TABLE)
    assert '<th scope="col">Name</th><th scope="col" class="n">Sum</th><th scope="col">Only here</th>' in page
    assert '<tr><th scope="row">one</th><td class="n">$1.50</td><td>&lt;b&gt;</td></tr>' in page
    assert '<tfoot><tr><th scope="row">all</th><td class="n">$3.00</td>' in page
    file = TABLE.file("x.csv")
    assert file.getvalue().decode("utf-8-sig") == "name,cents,sum_cents\r\none,150,150\r\n"
    assert "x.csv" in file["Content-Disposition"]


def test_a_written_table_has_its_heads() -> None:
    page = made('{% rows "Who" "Fee:n" "Do:unseen" none label="All" also="stacked" %}<tr></tr>{% endrows %}', none="")
    assert 'aria-label="All"' in page and '<table class="stacked">' in page and "<tbody><tr></tr></tbody>" in page
    assert '<th scope="col" class="n">Fee</th>' in page
    assert page.count("<th ") == 3 and '<span class="visually-hidden">Do</span>' in page


def test_a_button_that_changes_something_posts_its_fields_with_the_token() -> None:
    page = made('{% post words "console:studies" also="btn--small" kind="a" subject=7 %}', words="Do <it>")
    assert 'method="post"' in page and 'name="csrfmiddlewaretoken"' in page
    assert '<input type="hidden" name="kind" value="a"><input type="hidden" name="subject" value="7">' in page
    assert '<button type="submit" class="btn btn--small">Do &lt;it&gt;</button>' in page


@pytest.mark.parametrize(("total", "is_typed"), [("12.30", True), ("", False)])
def test_real_money_is_typed_before_it_is_spent(total: str, is_typed: bool) -> None:
    page = made('{% confirm "Pay" back="/back/" total=total shown=5 %}', total=total)
    assert ('name="confirm_total"' in page) is is_typed
    assert '<input type="hidden" name="shown" value="5">' in page and '<a class="btn" href="/back/">Not now</a>' in page


class AForm(forms.Form):
    name = forms.CharField(help_text="As it is.")
    kept = forms.CharField(widget=forms.HiddenInput)

    def clean(self) -> None:
        raise forms.ValidationError("Not <so>.")


def test_fields_have_labels_help_and_errors_and_hidden_ones_are_left_to_the_page() -> None:
    form = AForm({"kept": "x"})
    page = made("{% refused form %}{% fields form %}", form=form)
    assert 'role="alert"' in page and "Not &lt;so&gt;." in page
    assert '<label for="id_name">Name</label>' in page and "As it is." in page and "This field is required." in page
    assert 'name="kept"' not in page
    assert made("{% refused form %}", form=AForm()) == ""


def test_other_pages_keep_what_was_looked_for() -> None:
    page = made("{% pages page %}", page=Paginator(range(30), 10).page(2))
    assert 'href="?query=a+b&amp;page=1"' in page and 'href="?query=a+b&amp;page=3"' in page and "Page 2 of 3" in page
    assert made("{% pages page %}", page=Paginator(range(3), 10).page(1)).strip() == ""


def test_a_column_and_its_cell_are_written_in_one_place() -> None:
    page = made(
        '{% columns people as name,fee of="x" labelled=True by="fee" %}{% column "Who:row" %} {{ name }} '
        '{% column "Fee:n:-fee" %}{{ fee }}{% column "Secret" if none %}{{ fee }}'
        '{% column "Pay:actions" %}<b>now</b>{% endcolumns %}',
        people=[("<Ada>", 5), ("Bo", 7)],
        none="",
    )
    assert '<table class="stacked">' in page and 'aria-labelledby="x-title"' in page and "Secret" not in page
    assert '<th scope="col" class="n"><a href="?by=fee" aria-current="true">Fee ↓</a></th>' in page
    assert '<th scope="col"><span class="visually-hidden">Pay</span></th>' in page
    assert '<tr><th scope="row">&lt;Ada&gt;</th><td class="n" data-label="Fee">5</td>' in page
    assert '<td class="actions"><b>now</b></td></tr>' in page


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{% head title %}{% endhead %}", '<div class="head"><h1>&lt;A&gt;</h1></div>'),
        (
            "{% head title %}Why.{% split %}<b>do</b>{% endhead %}",
            '<div class="head"><h1>&lt;A&gt;</h1><p>Why.</p><div class="head__actions"><b>do</b></div></div>',
        ),
        (
            '{% answer cap="So far" %}<p>Yes.</p>{% endanswer %}',
            '<section class="card c12 answer" aria-label="In one sentence"><div class="answer__text">'
            '<p class="cap">So far</p><p>Yes.</p></div></section>',
        ),
        (
            '{% card title of="x" span=6 %}<b>near</b>{% split %}<p>body</p>{% endcard %}',
            '<section class="card c6" aria-labelledby="x-title"><div class="card__head"><h2 id="x-title">&lt;A&gt;</h2>'
            "<b>near</b></div><p>body</p></section>",
        ),
    ],
)
def test_a_block_has_a_place_for_words_and_one_for_actions(source: str, shown: str) -> None:
    assert made(source, title="<A>") == shown


def test_a_form_ends_in_its_button_and_a_way_back() -> None:
    assert made('{% submit "Store" "Back" "console:studies" %}') == (
        '<p class="form__foot"><button type="submit" class="btn btn--main">Store</button>'
        '<a class="btn" href="/">Back</a></p>'
    )


class Choices(forms.Form):
    one = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect)
    many = forms.MultipleChoiceField(choices=[("a", "A")], widget=forms.CheckboxSelectMultiple)
    file = forms.FileField()


def test_choices_are_a_group_and_a_file_can_be_dropped() -> None:
    page = made("{% fields form.one form.many %}{% fields form %}", form=Choices())
    assert page.count('<fieldset class="field radios" data-field="one">') == 2
    assert page.count('<fieldset class="field radios radios--many" data-field="many">') == 2
    assert page.count("<legend>Many</legend>") == 2 and '<div class="field drop"' in page
