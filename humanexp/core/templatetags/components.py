"""What pages are made of: `{% load components %}`. Whatever is given to them is escaped."""

from __future__ import annotations

from typing import Any

from django import template
from django.core.paginator import Page
from django.forms import BaseForm, BoundField
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from humanexp.core.pages.tables import Table

register = template.Library()
_NOTHING = SafeString("")


@register.filter(name="n")
def counted(number: int, words: str) -> str:
    """A number and what is counted, in the singular or the plural: `3|n:"person,people"` is 3 people."""
    one, many = words.split(",")
    return f"{number:,} {one if number == 1 else many}"


@register.simple_block_tag
def card(content: SafeString, title: str, *, of: str, span: int = 12, also: str = "", id: str = "") -> SafeString:
    """A part of a page with its title. `of` names it among the ids, `span` says how many of 12 columns it takes."""
    kinds = " ".join(["card", *([f"c{span}"] if span else []), *([also] if also else [])])
    return format_html(
        '<section class="{}" aria-labelledby="{of}-title"{}>\n<h2 id="{of}-title">{}</h2>\n{}</section>',
        kinds,
        format_html(' id="{}"', id) if id else "",
        title,
        content,
        of=of,
    )


@register.simple_block_tag
def fact(content: SafeString, term: str) -> SafeString:
    """A term and its description in a list of facts; nothing where there is nothing to say."""
    return format_html("<dt>{}</dt><dd>{}</dd>", term, content) if content.strip() else _NOTHING


@register.simple_block_tag
def rows(
    content: SafeString, *heads: str, of: str = "", label: str = "", also: str = "", low: bool = False
) -> SafeString:
    """A table whose rows the page writes. Of its heads, `Fee:n` is for numbers; `Tick:unseen` is only read out."""
    named = [(kind, words) for words, _, kind in (head.partition(":") for head in heads if head)]
    context = {"heads": named, "body": content, "of": of, "label": label, "also": also, "low": low}
    return render_to_string("components/_table.html", context)


@register.inclusion_tag("components/_table.html")
def table(table: Table, *, of: str = "", label: str = "") -> dict[str, Any]:
    """A table whose columns are declared in Python."""
    return {
        "heads": [(column.kind, column.head) for column in table.heads],
        "lines": map(table.shown, table.rows),
        "sums": [table.shown(row) for row in table.sums],
        "of": of,
        "label": label,
    }


@register.simple_tag
def go(words: str, name: str, *args: object, also: str = "", then: str = "") -> SafeString:
    """A link: its words, the name of its address and what belongs to that; `then` is what follows the address."""
    kinds = format_html(' class="{}"', also) if also else ""
    return format_html('<a{} href="{}{}">{}</a>', kinds, reverse(name, args=args), then, words)


@register.simple_tag(takes_context=True)
def post(context: Context, words: str, name: str, *args: object, also: str = "", **hidden: object) -> SafeString:
    """A button that changes something: its words, the name of its address and what belongs to that, hidden fields."""
    return format_html(
        '<form method="post" action="{}">{}{}<button type="submit" class="{}">{}</button></form>',
        reverse(name, args=args),
        CsrfTokenNode().render(context),
        _hidden(hidden),
        f"btn {also}".strip(),
        words,
    )


@register.simple_tag(takes_context=True)
def confirm(
    context: Context,
    words: str,
    *,
    back: str,
    or_else: str = "Not now",
    total: str = "",
    errors: object = "",
    **hidden: Any,
) -> SafeString:
    """The form that spends what its page has shown. `total` is what has to be typed where money is real; `errors` are
    those of that field."""
    asked = render_to_string("components/_confirm_total.html", {"total": total}) if total else ""
    return format_html(
        '<form class="after" method="post">{}{}{}{}<p class="form__foot">'
        '<button type="submit" class="btn btn--main">{}</button> <a class="btn" href="{}">{}</a></p></form>',
        CsrfTokenNode().render(context),
        _hidden(hidden),
        asked,
        errors,
        words,
        back,
        or_else,
    )


@register.simple_tag
def fields(*found: BaseForm | BoundField) -> SafeString:
    """Fields with their labels, help and errors; of a whole form all that are seen."""
    listed = [one for each in found for one in (each.visible_fields() if isinstance(each, BaseForm) else [each])]
    return format_html_join("", "{}", ((render_to_string("components/_field.html", {"field": one}),) for one in listed))


@register.simple_tag
def refused(form: BaseForm) -> SafeString:
    """What is wrong with a form and not with a field of it."""
    errors = form.non_field_errors()
    return format_html('<div class="message message--bad" role="alert">{}</div>', errors) if errors else _NOTHING


@register.simple_tag
def copy(text: str, *, also: str = "") -> SafeString:
    """A button that puts a text on the clipboard, for pages with js/recruitment/copy.js."""
    return format_html(
        '<button type="button" class="btn btn--small{}" data-copy="{}" data-copied="Copied">Copy</button>',
        f" {also}" if also else "",
        text,
    )


@register.inclusion_tag("components/_pages.html", takes_context=True)
def pages(context: Context, page: Page[Any]) -> dict[str, Any]:
    """Ways to the pages before and after this one, which keep what was looked for."""
    return {"page": page, "request": context["request"]}


def _hidden(values: dict[str, object]) -> SafeString:
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', values.items())
