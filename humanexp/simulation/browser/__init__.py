"""Chromium as a participant: the real pages, from the entry to the submitted form. playwright is imported on use."""
