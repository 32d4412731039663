"""Where pictures come from: a folder, an archive, a storage; and which of their files are pictures of what."""

from __future__ import annotations

from humanexp.stimuli.sources.archive import ArchiveSource
from humanexp.stimuli.sources.base import FoundFiles, LabelledFile, PictureSource
from humanexp.stimuli.sources.folder import FolderSource
from humanexp.stimuli.sources.layouts import find_files
from humanexp.stimuli.sources.storage import StorageSource, is_storage_configured

__all__ = [
    "ArchiveSource",
    "FolderSource",
    "FoundFiles",
    "LabelledFile",
    "PictureSource",
    "StorageSource",
    "find_files",
    "is_storage_configured",
]
