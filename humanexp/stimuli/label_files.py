"""Labels as files that people send and take: a TOML file alone, or a zip archive of one with its icons."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import BinaryIO

from analysis.errors import InvalidInput
from analysis.labels.files import labels_to_toml, parse_labels, product_icons
from analysis.labels.space import LabelSpace

#: Bytes of all files of an archive, unpacked.
MOST_UNPACKED = 2_000_000
#: What systems add to archives of their own accord.
_OF_SYSTEMS = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


def labels_of_file(name: str, file: BinaryIO) -> LabelSpace:
    """Labels of a TOML file or of an archive.

    Raises
    ------
    InvalidInput
        Naming the file, the field and the remedy.
    """
    if PurePosixPath(name).suffix.lower() == ".toml":
        return parse_labels(_text(file.read(MOST_UNPACKED), name), _product_icon)
    if not zipfile.is_zipfile(file):
        raise InvalidInput(f"{name} is neither a TOML file nor a zip archive: send labels.toml, or a zip of it.")
    try:
        with zipfile.ZipFile(file) as archive:
            return _labels_of_archive(_unpacked(archive))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidInput(f"{name} cannot be unpacked ({error}): pack it again, without a password.") from error


def packed_labels(space: LabelSpace) -> bytes:
    """An archive of the TOML file and the drawings of its own, the same bytes for the same labels."""
    files = {f"{space.name}.toml": labels_to_toml(space), **space.drawings}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _unpacked(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Every file by its path, refused before anything is read."""
    listed = [one for one in archive.infolist() if not one.is_dir() and not _is_of_system(one.filename)]
    for one in listed:
        parts = one.filename.replace("\\", "/").split("/")
        if one.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            raise InvalidInput(f"{one.filename!r} leads out of the archive: pack the TOML file with its icons alone.")
    if sum(one.file_size for one in listed) > MOST_UNPACKED:
        raise InvalidInput(f"The archive has more than {MOST_UNPACKED // 10**6} MB unpacked: simplify the icons.")
    names = [one.filename for one in listed]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise InvalidInput(f"The archive has {double!r} twice: pack it again.")
    return {one.filename: archive.read(one) for one in listed}


def _labels_of_archive(files: dict[str, bytes]) -> LabelSpace:
    documents = [name for name in files if name.lower().endswith(".toml")]
    if len(documents) != 1:
        listed = f": {', '.join(documents[:3])}" if documents else ""
        raise InvalidInput(f"The archive must have one TOML file; it has {len(documents) or 'none'}{listed}.")
    document = documents[0]
    folder = PurePosixPath(document).parent
    left = set(files) - {document}

    def icon(name: str) -> str:
        path = str(folder / name)
        if path not in files:
            if name in product_icons():
                return ""
            raise InvalidInput(f"{document} names the icon {name!r}, which is not in the archive.")
        left.discard(path)
        return _text(files[path], name)

    found = parse_labels(_text(files[document], document), icon)
    if left:
        raise InvalidInput(
            f"The archive has {min(left)!r}, which no label names: name it as an `icon`, or leave it out."
        )
    return found


def _product_icon(name: str) -> str:
    if name in product_icons():
        return ""
    raise InvalidInput(f"A label has the icon {name!r}: send a zip archive of the TOML file with its icons.")


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not written in UTF-8: save it as UTF-8.") from error


def _is_of_system(name: str) -> bool:
    return any(part in _OF_SYSTEMS or part.startswith("._") for part in name.split("/"))
