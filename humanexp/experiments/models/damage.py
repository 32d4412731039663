from __future__ import annotations

from django.db import models

from humanexp.experiments.models.sessions import Session, Trial
from humanexp.stimuli.models import Stimulus


class DamagedPicture(models.Model):
    """A picture that a participant was not shown, because its file was missing or not the one that was made."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="damaged_pictures")
    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="+")
    stimulus = models.ForeignKey(Stimulus, on_delete=models.CASCADE, related_name="+")
    #: no file, or none that can be read; otherwise its bytes are others
    is_missing = models.BooleanField()
    found_at = models.DateTimeField()
    #: since when the file is what was made again; until then the trial takes no answer
    mended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
