from __future__ import annotations

import ast
from pathlib import Path

import pytest

from humanexp.addresses import is_loopback

ROOT = Path(__file__).parents[2]
HERE = [
    *("127.0.0.1", "127.0.0.2", "127.255.255.254", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"),
    *("[::ffff:127.0.0.1]", "::ffff:7f00:1", "localhost", "localhost.", "LOCALHOST", "market.localhost"),
]
ELSEWHERE = [
    *("", ".", "0.0.0.0", "::", "[::]", "10.0.0.1", "192.168.0.1", "169.254.0.1", "::ffff:10.0.0.1", "fe80::1"),  # noqa: S104
    *("lab.org", "localhost.lab.org", "localhost.localdomain", "localhosts", "mylocalhost", "localhost-2"),
    *("127.lab.org", "127.0.0.1.lab.org", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.1:8000"),
    *("::1.lab.org", "1::", "::127.0.0.1", "..localhost.."),
]


@pytest.mark.parametrize("host", HERE)
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_other_machines(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.verify
def test_nobody_decides_it_a_second_time() -> None:
    """Addresses that stand in the source are listened on, called, or a setting's default: none is compared with."""
    named = {"localhost", "127.0.0.1", "::1", "[::1]", "127."}
    compared = []
    for path in sorted((ROOT / "humanexp").rglob("*.py")):
        if path.name == "addresses.py" and path.parent.name == "humanexp":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_test = isinstance(node, ast.Compare)
            is_test |= isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("startswith", "endswith")
            told = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            if (is_test and told & named) or (isinstance(node, ast.Attribute) and node.attr == "is_loopback"):
                compared.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert compared == []
