"""What the accessibility engine axe-core finds on a page."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

_RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => [impact, id, node.target.join(" "), node.failureSummary]));
}"""


def violations(page: Any) -> list[str]:
    """One line for every element that axe complains of, however little; `page` may be a frame."""
    if not page.evaluate("'axe' in window"):
        # By the debugger, not as a script of the page: the page's content policy stays as it is.
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(_RUN)
    return [f"{impact} {rule}: {target}: {summary}" for impact, rule, target, summary in found]
