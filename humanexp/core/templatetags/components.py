"""What pages are made of: `{% load components %}`. Whatever is given to them is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django import template
from django.core.paginator import Page
from django.forms import BaseForm, BoundField
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from humanexp.core.pages.rendering import Table

register = template.Library()
_NOTHING = SafeString("")
#: Where a block has two places to fill; no page contains this character.
_SPLIT = SafeString("\x1e")


@register.filter(name="n")
def counted(number: int, words: str) -> str:
    """A number and what is counted: `3|n:"person,people"` is 3 people, `3|n:"picture"` is 3 pictures."""
    one, _, many = words.partition(",")
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


@register.simple_tag
def split() -> SafeString:
    """Ends the first of two places in a block: the text of a head or an answer, what is next to a card's title."""
    return _SPLIT


@register.simple_block_tag
def head(content: SafeString, title: object) -> SafeString:
    """How a page begins: its title, a sentence, and after `{% split %}` what can be done there."""
    words, _, actions = map(_stripped, content.partition(_SPLIT))
    return format_html(
        '<div class="head"><h1>{}</h1>{}{}</div>',
        title,
        format_html("<p>{}</p>", words) if words else "",
        format_html('<div class="head__actions">{}</div>', actions) if actions else "",
    )


@register.simple_block_tag
def answer(content: SafeString, label: str = "In one sentence", *, cap: str = "") -> SafeString:
    """What a page answers, in a sentence or two; after `{% split %}` what can be done about it."""
    words, _, actions = map(_stripped, content.partition(_SPLIT))
    return format_html(
        '<section class="card c12 answer" aria-label="{}"><div class="answer__text">{}{}</div>{}</section>',
        label,
        format_html('<p class="cap">{}</p>', cap) if cap else "",
        words,
        format_html('<div class="head__actions">{}</div>', actions) if actions else "",
    )


@register.simple_block_tag
def card(content: SafeString, title: object, *, of: str, span: int = 12, also: str = "", id: str = "") -> SafeString:
    """A part of a page with its title. `of` names it among the ids, `span` says how many of 12 columns it takes. What
    comes before a `{% split %}` is next to the title."""
    near, is_split, body = content.partition(_SPLIT)
    line = format_html('<h2 id="{}-title">{}</h2>', of, title)
    return format_html(
        '<section class="{}" aria-labelledby="{}-title"{}>\n{}\n{}</section>',
        " ".join(["card", *([f"c{span}"] if span else []), *([also] if also else [])]),
        of,
        format_html(' id="{}"', id) if id else "",
        format_html('<div class="card__head">{}{}</div>', line, _stripped(near)) if is_split else line,
        _stripped(body) if is_split else content,
    )


@register.simple_block_tag
def fact(content: SafeString, term: object) -> SafeString:
    """A term and its description in a list of facts; nothing where there is nothing to say."""
    return format_html("<dt>{}</dt><dd>{}</dd>", term, _stripped(content)) if content.strip() else _NOTHING


@register.simple_block_tag
def rows(
    content: SafeString, *heads: str, of: str = "", label: str = "", also: str = "", low: bool = False
) -> SafeString:
    """A table whose rows the page writes. Of its heads, `Fee:n` is for numbers; `Tick:unseen` is only read out."""
    return _drawn((_head(head)[:2] for head in heads if head), content, of=of, label=label, also=also, low=low)


@register.simple_tag
def table(table: Table, **options: object) -> SafeString:
    """A table whose columns are declared in Python."""
    lines, sums = (_lines(map(table.shown, found)) for found in (table.rows, table.sums))
    return _drawn(((column.kind, column.head) for column in table.heads), lines, sums=sums, **options)


@register.tag
def columns(parser: Parser, token: Token) -> template.Node:
    """A table with a column for each `{% column "Fee:n" %}` and its cell, and a row for each of what is listed.

    `{% columns payments as payment of="payments" %}`; heads are as of `rows`, `Name:row` is what a row is called,
    `Change:actions` is for buttons.
    A column may end in `if` and a condition. `labelled=True`: on a phone, cells show the head of their column.
    `by=order`: the head `Size:n:-size` orders the rows, with the minus where the largest comes first.
    """
    _name, listed, _as, name, *options = token.split_contents()
    parser.parse(["column"])
    found, token = [], parser.next_token()
    while token.contents != "endcolumns":
        _tag, head, *condition = token.split_contents()
        cell = parser.parse(["column", "endcolumns"])
        is_shown = parser.compile_filter(condition[1] if condition else "True")
        found.append(_Column(parser.compile_filter(head), is_shown, cell))
        token = parser.next_token()
    return _Columns(parser.compile_filter(listed), name.split(","), found, token_kwargs(options, parser))


class _Column(NamedTuple):
    head: FilterExpression
    is_shown: FilterExpression
    cell: NodeList


class _Columns(template.Node):
    def __init__(
        self, listed: FilterExpression, names: list[str], columns: list[_Column], options: dict[str, FilterExpression]
    ) -> None:
        self.listed, self.names, self.columns, self.options = listed, names, columns, options

    def render(self, context: Context) -> SafeString:
        options = {name: value.resolve(context) for name, value in self.options.items()}
        shown = [one for one in self.columns if one.is_shown.resolve(context)]
        heads = [_head(str(one.head.resolve(context))) for one in shown]
        by = options.pop("by", "")
        lines = []
        for row in self.listed.resolve(context):
            with context.push(**dict(zip(self.names, row if len(self.names) > 1 else [row], strict=True))):
                cells = [_stripped(one.cell.render(context)) for one in shown]
                lines.append([(kind, cell, words) for (kind, words, _), cell in zip(heads, cells, strict=True)])
        if is_labelled := options.pop("labelled", False):
            options["also"] = f"stacked {options.get('also', '')}".strip()
        body = _lines(lines if is_labelled else ([cell[:2] for cell in line] for line in lines))
        return _drawn([(kind, _ordering(words, key, by)) for kind, words, key in heads], body, **options)


def _head(words: str) -> tuple[str, str, str]:
    words, _, rest = words.partition(":")
    kind, _, key = rest.partition(":")
    return kind, words, key


def _ordering(words: str, key: str, by: str) -> str:
    """What is over a column; a link where it can order the rows."""
    name, arrow = key.lstrip("-"), "↓" if key.startswith("-") else "↑"
    if not name:
        return words
    current = mark_safe(' aria-current="true"') if name == by else ""
    return format_html('<a href="?by={}"{}>{}{}</a>', name, current, words, f" {arrow}" if current else "")


def _lines(lines: Iterable[Iterable[tuple[object, ...]]]) -> SafeString:
    """Rows of a table; a cell is its kind, what is in it, and the label that it has on a phone."""
    return format_html_join("", "<tr>{}</tr>", ((format_html_join("", "{}", map(_cell, line)),) for line in lines))


def _cell(cell: tuple[object, ...]) -> tuple[SafeString]:
    kind, shown, *label = str(cell[0]), *cell[1:]
    if kind == "row":
        return (format_html('<th scope="row">{}</th>', shown),)
    is_silent = kind == "actions" or "unseen" in kind
    kinds = kind.replace("unseen", "").strip()
    classes = format_html(' class="{}"', kinds) if kinds else ""
    labels = format_html(' data-label="{}"', *label) if label and not is_silent else ""
    return (format_html("<td{}{}>{}</td>", classes, labels, shown),)


def _drawn(heads: Iterable[tuple[str, str]], body: SafeString, **options: object) -> SafeString:
    return render_to_string("components/_table.html", {"heads": list(heads), "body": body, **options})


def _stripped(words: str) -> SafeString:
    """Of a block that was rendered with escaping."""
    return mark_safe(words.strip())  # noqa: S308  # rendered with escaping


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
def submit(words: str, back: str = "", name: str = "", *args: object, also: str = "btn--main") -> SafeString:
    """The end of a form: its button, and a way back with the name of its address and what belongs to that."""
    button = format_html('<button type="submit" class="{}">{}</button>', f"btn {also}".strip(), words)
    return format_html('<p class="form__foot">{} {}</p>', button, go(back, name, *args, also="btn") if back else "")


@register.simple_tag
def fields(*found: BaseForm | BoundField | Iterable[BoundField]) -> SafeString:
    """Fields with their labels, help and errors; of a whole form all that are seen."""
    listed = (one for each in found for one in _fields(each))
    return format_html_join("", "{}", ((render_to_string("components/_field.html", {"field": one}),) for one in listed))


def _fields(found: BaseForm | BoundField | Iterable[BoundField]) -> Iterable[BoundField]:
    if isinstance(found, BoundField):
        return [found]
    return found.visible_fields() if isinstance(found, BaseForm) else found


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
def pages(context: Context, page: Page[Any], *, then: str = "") -> dict[str, Any]:
    """Ways to the pages before and after this one, which keep what was looked for; `then` follows the address."""
    return {"page": page, "request": context["request"], "then": then}


def _hidden(values: dict[str, object]) -> SafeString:
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', values.items())
