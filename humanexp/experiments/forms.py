from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

#: What the form starts with: a study that works, with the settings that people change most.
TEMPLATE = """\
title = "What do people see?"
stimuli = "NAME OF A STIMULUS SET"
population = "people"        # or "scripted"
protocol = "vcr"             # or geirhos2018-batch1, geirhos2018-batch2
rules = "vcr"                # or imagenet-d (for validation), none
seed = 1
max_sessions_per_worker = 1

[design]
sessions = 40
main_trials = 40             # corrupted pictures a session
practice_trials = 10
# qualification_trials = 16
# corruption_order = "blocked"
# overlap = 0.25             # share of the corrupted pictures that everybody sees, for error consistency

# [design.discrimination]
# form = "same-different"    # or abx: three pictures, whose corruption has the third?
# trials = 20
# sentinels = 4

# Or, instead of main_trials and practice_trials above: is it really one, and could it be used as one?
# [design.validation]
# shown = "all"              # or clean, corrupted
"""


class StudyFileForm(forms.Form):
    text = forms.CharField(
        label=_("Study file"),
        strip=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "code"}),
        help_text=_("TOML, as create_study reads it. Nothing is written before everything in it is checked."),
    )

    @classmethod
    def for_stimuli(cls, name: str) -> StudyFileForm:
        """A form that starts with a study on this set."""
        return cls(initial={"text": TEMPLATE.replace("NAME OF A STIMULUS SET", name)})
