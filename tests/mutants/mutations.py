"""Small mistakes in a module's source, one at a time: what a test that reads the result should notice."""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
#: Statements that may be missing without a NameError.
_REMOVED = (ast.AugAssign, ast.Raise, ast.Delete, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Mutant:
    """A stretch of a module, as positions in its encoded text, and what stands there instead."""

    kind: str
    line: int
    start: int
    end: int
    text: str

    def applied_to(self, source: str) -> str:
        encoded = source.encode()
        return (encoded[: self.start] + self.text.encode() + encoded[self.end :]).decode()

    def diff(self, source: str, path: str) -> str:
        lines = difflib.unified_diff(
            source.splitlines(), self.applied_to(source).splitlines(), path, f"{path} ({self.kind})", lineterm="", n=2
        )
        return "\n".join(lines)


def mutants_of(source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its text."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _considered(ast.parse(source)):
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[node.end_lineno - 1] + node.end_col_offset
        for kind, text in _mistakes(node):
            found.append(Mutant(kind, node.lineno, first, last, text))
    return sorted(found, key=lambda one: (one.start, one.end, one.text))


def _considered(node: ast.AST) -> Iterator[ast.stmt | ast.expr]:
    """What does something: annotations do not, and Python 3.11 misplaces the parts of f-strings."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        return
    if isinstance(node, ast.stmt | ast.expr):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _considered(child)


def _mistakes(node: ast.stmt | ast.expr) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(ops=ops):
            for place, operator in enumerate(ops):
                changed = copy.deepcopy(node)
                changed.ops[place] = _COMPARED[type(operator)]()
                yield "comparison", f"({ast.unparse(changed)})"
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "boolean", f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _CALCULATED:
            yield "arithmetic", f"({ast.unparse(ast.BinOp(left, _CALCULATED[type(operator)](), right))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "removed not", f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield "constant", str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", f"({value + 1!r})"
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return", "return None"
        case ast.Expr(value=ast.Call()):
            yield "removed statement", "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "removed statement", "pass"
        case ast.stmt() if isinstance(node, _REMOVED):
            yield "removed statement", "pass"
