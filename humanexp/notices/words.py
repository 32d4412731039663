"""Sentences about what waits at the installation itself, as data. `readyz` and `doctor` look at the same things."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import ngettext_lazy

from humanexp.recruiting.alert_words import Words

#: Pages take no study's name here. `%(fault)s` is what /readyz says.
HERE: Mapping[str, Words] = {
    "runner": Words(
        text="The job runner %(fault)s.",
        tone="bad",
        resolution="Start it on the server: python manage.py run_jobs. Its log says what ended it.",
        page="jobs:jobs",
        button="Jobs",
        notice="The job runner is silent.",
    ),
    "disk": Words(
        text="The disk is nearly full: %(free)s MB are free.",
        tone="bad",
        resolution="Make room under MEDIA_ROOT, or move it to a larger disk. On a full disk no answer can be stored.",
        page="notices:waiting",
    ),
    "storage": Words(
        text="The mounted files are not those of this database: %(fault)s.",
        tone="bad",
        resolution="Mount the right folder as MEDIA_ROOT, or restore it from the backup.",
        page="notices:waiting",
        notice="The mounted files are not those of this database.",
    ),
    "keys": Words(
        text="The keys differ from those that this database was filled under: %(fault)s.",
        tone="bad",
        resolution="Restore the keys from the backup before anyone takes part. Run doctor for details.",
        page="notices:waiting",
        notice="The keys differ from those that this database was filled under.",
    ),
    "migrations": Words(
        text="The database is older than the program: %(fault)s.",
        tone="bad",
        resolution="Run python manage.py migrate.",
        page="notices:waiting",
        notice="The database is older than the program.",
    ),
    "certificate-ends": Words(
        text="The certificate of this site ends on %(day)s.",
        resolution="Renew it; then check that the renewal runs by itself.",
        page="notices:waiting",
    ),
    "certificate": Words(
        text="The certificate of this site could not be checked: %(fault)s.",
        tone="bad",
        resolution="Open the public address in a browser, and renew or repair the certificate.",
        page="notices:waiting",
        notice="The certificate of this site could not be checked.",
    ),
    "backup": Words(
        text="The last verified backup is from %(day)s UTC.",
        tone="bad",
        resolution="Look at the log of the backup, and run it again.",
        page="notices:waiting",
    ),
    "no-backup": Words(
        text="People have taken part, and no backup was ever verified.",
        tone="bad",
        resolution="Set up a backup every night: docs/operate/backup.md says how.",
        page="notices:waiting",
    ),
    "failed-job": Words(
        text=ngettext_lazy("%(count)d job has failed.", "%(count)d jobs have failed.", "count"),
        tone="bad",
        resolution="The page of the job says why. Remove the cause and resume it.",
        page="jobs:jobs",
        button="Jobs",
    ),
    "alive": Words(
        text="The address of ALIVE_URL was not called successfully: %(fault)s",
        resolution="Check the address, and whether this server can reach it.",
        page="notices:settings",
        button="Notices",
        notice="The address that is called while all is well could not be called.",
    ),
    "fault": Words(
        text="%(question)s: %(fault)s",
        tone="bad",
        resolution="Run python manage.py doctor on the server.",
        page="notices:waiting",
        notice="A check of the installation failed.",
    ),
}
