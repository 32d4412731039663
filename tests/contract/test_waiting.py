"""Tests of pages wait for what they assert: a page is read by `expect`, which looks again until its time is up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(file for folder in ("browser", "journeys") for file in (ROOT / "tests" / folder).rglob("*.py"))

#: What reads a page once, and what waits instead.
EXPECT = {
    **dict.fromkeys(("text_content", "inner_text", "inner_html"), "to_have_text or to_contain_text"),
    **dict.fromkeys(("all_inner_texts", "all_text_contents"), "to_have_text with a list"),
    **dict.fromkeys(("is_visible", "is_hidden"), "to_be_visible or to_be_hidden"),
    **dict.fromkeys(("is_enabled", "is_disabled"), "to_be_enabled or to_be_disabled"),
    **dict.fromkeys(("is_checked", "is_editable"), "to_be_checked or to_be_editable"),
    **dict.fromkeys(("count", "all", "query_selector", "query_selector_all"), "to_have_count"),
    "get_attribute": "to_have_attribute",
    "input_value": "to_have_value",
    "content": "to_contain_text",
    "title": "to_have_title",
    "url": "to_have_url",
    **dict.fromkeys(
        ("evaluate", "evaluate_all", "eval_on_selector", "eval_on_selector_all"),
        "to_be_focused, to_have_js_property, to_have_css or to_have_count",
    ),
}
#: Scripts that no expectation can say, and why.
ALLOWED = {
    r"localStorage|sessionStorage": "what a browser keeps of a person is on no page",
    r"window\.__same": "a mark that the test has left itself: the page was not loaded again",
    r"window\.top": "which window this is",
    r"scrollWidth|scrollTop|getBoundingClientRect|getComputedStyle|offsetParent|innerWidth": "a measure of the layout",
}
#: Called `url` there, and no page.
SERVERS = {"live_server", "market", "marketplace", "panel", "reply", "board"}


def direct_reads(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of what reads a page within an assertion, or for one in the line before it."""
    tree = ast.parse(source)
    constants = {
        target.id: ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        rows = {name for node in ast.walk(function) for name in _assigned(node) if ".objects" in ast.unparse(node)}
        for body in _bodies(function):
            for before, statement in zip([None, *body], body, strict=False):
                if isinstance(statement, ast.Assert):
                    used = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
                    is_for_it = before is not None and bool(used & set(_assigned(before)))
                    for node in (statement.test, *([before] if is_for_it else [])):
                        yield from ((statement.lineno, name) for name in _reads(node, constants, rows))


def _bodies(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                yield body


def _assigned(statement: ast.AST) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _reads(node: ast.AST, constants: dict[str, str], rows: set[str]) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in EXPECT:
            place, name, asked = ast.unparse(part.func.value), part.func.attr, ast.unparse(part)
            asked += "".join(constants.get(one.id, "") for one in ast.walk(part) if isinstance(one, ast.Name))
            is_of_rows = ".objects" in place or place.partition(".")[0] in rows or ".trials" in place
            is_of_text = name in ("count", "all") and bool(part.args)
            is_a_name = name == "title" and not re.search(r"(page|window|value)$", place)
            if not (is_of_rows or is_of_text or is_a_name or any(re.search(one, asked) for one in ALLOWED)):
                yield name
        elif isinstance(part, ast.Compare):
            for side in (part.left, *part.comparators):
                yield from _address(side)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr.endswith("swith"):
            yield from _address(part.func.value)


def _address(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and node.attr == "url" and ast.unparse(node.value) not in SERVERS:
        yield "url"


def test_no_assertion_reads_a_page_without_waiting() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line} reads `{name}` once: use `expect(…)` with {EXPECT[name]}, which waits"
        for file in PAGES
        for line, name in direct_reads(file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


#: Planted, and what is found in it.
REFUSED = {
    "assert page.inner_text('h1') == 'Done'": "inner_text",
    "assert 'Done' in page.locator('main').text_content()": "text_content",
    "assert not page.is_visible('[data-consent]'), 'nothing is asked'": "is_visible",
    "assert page.locator('tr').count() == 3": "count",
    "assert page.url == f'{live_server.url}/login/'": "url",
    "assert page.url.endswith('/login/')": "url",
    "assert opened.value.title() == 'Done'": "title",
    "assert page.evaluate('document.activeElement.name') == 'sight'": "evaluate",
    "said = page.inner_text('h1')\n    assert said == 'Done'": "inner_text",
    "for _ in range(2):\n        assert [one.inner_text() for one in page.locator('tr').all()] == []": "inner_text",
}
#: Of rows, of text, of what no page shows.
FINE = (
    "assert Session.objects.count() == 1",
    "answers = Response.objects.filter(session=session)\n    assert answers.count() == session.total",
    "assert {trial.role for trial in session.trials.all()} == {'main'}",
    "assert levels.count('H1') == 1 and right.title() == 'Dog'",
    "assert page.evaluate('Object.keys(sessionStorage)') == []",
    "assert page.evaluate(_SCRIPT) == []",
    "assert requests.get(live_server.url).status_code == 200",
    "assert page.goto(address).status == 200, page.url",
)


def test_a_planted_direct_read_is_refused() -> None:
    for planted, name in REFUSED.items():
        found = list(direct_reads(f"def test_it(page, live_server):\n    {planted}\n"))
        assert name in [one for _line, one in found], planted
    for fine in FINE:
        source = f"_SCRIPT = 'Object.entries(localStorage)'\n\n\ndef test_it(page):\n    {fine}\n"
        assert list(direct_reads(source)) == [], fine


def test_every_allowed_script_is_used_and_has_a_reason() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in PAGES)
    assert [one for one, reason in ALLOWED.items() if not (reason and re.search(one, text))] == []


def test_whatever_drives_a_browser_is_marked_so() -> None:
    for file in sorted((ROOT / "tests/browser").glob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        marks = [ast.unparse(node) for node in tree.body if "pytestmark" in _assigned(node)]
        assert any("pytest.mark.browser" in mark for mark in marks), f"{file.name} has no pytestmark with `browser`"
