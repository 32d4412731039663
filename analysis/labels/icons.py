"""Icons of labels: drawings in SVG from strangers, cleaned of everything that is no drawing."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from analysis.errors import InvalidInput

_SVG = "http://www.w3.org/2000/svg"
_LARGEST = 64_000
#: All that an icon is drawn with; no text in foreign fonts, no scripts, links, images, styles or animations.
_ELEMENTS = frozenset(
    ("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon")
    + ("defs", "linearGradient", "radialGradient", "stop", "clipPath", "title")
)
_ATTRIBUTES = frozenset(
    ("id", "viewBox", "width", "height", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "fx", "fy", "d")
    + ("points", "transform", "opacity", "fill", "fill-opacity", "fill-rule", "clip-path", "clip-rule")
    + ("stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-dasharray")
    + ("stroke-opacity", "offset", "stop-color", "stop-opacity", "gradientUnits", "gradientTransform")
    + ("spreadMethod", "preserveAspectRatio")
)
#: A value may point within the drawing, nowhere else.
_POINTER = re.compile(r"url\(\s*(?!#)", re.IGNORECASE)


def cleaned_icon(text: str, name: str) -> str:
    """The drawing alone, or a refusal.

    Parameters
    ----------
    text : str
        SVG.
    name : str
        Name of the file, for sentences.

    Returns
    -------
    str
        SVG of shapes, gradients and clips; what else it held is left out.

    Raises
    ------
    InvalidInput
        If it is too large, no SVG, has no ``viewBox``, declares entities, or draws nothing.
    """
    if len(text.encode()) > _LARGEST:
        raise InvalidInput(f"The icon {name} is larger than {_LARGEST // 1000} kB: simplify it.")
    try:
        root = fromstring(text, forbid_dtd=True)
    except DefusedXmlException as error:
        raise InvalidInput(f"The icon {name} declares a document type or entities: save it as plain SVG.") from error
    except ElementTree.ParseError as error:
        raise InvalidInput(f"The icon {name} is no SVG ({error}).") from error
    if root.tag != f"{{{_SVG}}}svg":
        raise InvalidInput(f"The icon {name} is no SVG: its root is {_local(root.tag)!r}.")
    if not root.get("viewBox"):
        raise InvalidInput(f"The icon {name} has no viewBox, without which it cannot be shown at another size.")
    _clean(root)
    if not any(_local(one.tag) not in ("svg", "g", "defs", "title") for one in root.iter()):
        raise InvalidInput(f"The icon {name} draws nothing with shapes: turn text and pictures into paths.")
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def _clean(element: ElementTree.Element) -> None:
    for attribute, value in list(element.attrib.items()):
        if attribute not in _ATTRIBUTES or _POINTER.search(value):
            del element.attrib[attribute]
    for child in list(element):
        if not str(child.tag).startswith(f"{{{_SVG}}}") or _local(child.tag) not in _ELEMENTS:
            element.remove(child)
        else:
            _clean(child)
