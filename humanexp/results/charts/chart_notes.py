"""What charts show and what must not be read from them: definitions and caveats, one click away from each."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.claims.curves import BANDS
from analysis.claims.models import LEVEL_RANKS_NOTE

CURVES = (
    _(
        "Curve: monotone penalised B-spline with 20 segments, binomial likelihood, smoothness chosen by AIC, over the "
        "answers of sessions that count. Clean trials hold its left end."
    ),
    *BANDS,
    _(
        "Dots: people's answers in 40 bins of visual change, two or four of them together where they hold few answers; "
        "the area of a dot is proportional to its answers."
    ),
    _("R̂: area under the curve on [0, 1]. Grey: hardly any answers, the curve is a guess."),
)
CONSISTENCY = _(
    "Consistency of people: agreement of an answer with a random other person's answer to the clean original, because "
    "no one sees an original twice. Of models: the same answer as to the clean original."
)
CONSISTENCY_CAVEAT = _(
    "Models are compared with themselves, people with others: a positive MRSI of consistency at low visual change is "
    "partly by construction."
)
CURVE_CAVEATS = (
    _("Two curves that touch within their bands are not shown to be alike: see the test of similarity."),
    _("Visual change is measured on luminance: changes of hue alone score near 0."),
)
INDICES = (
    _("HMRI: the share of the area under people's curve that the model's curve reaches; 1 = nowhere below people."),
    _("MRSI: the share of the area under the model's curve that lies above people's; 0 = nowhere above."),
    _("Intervals: the same resamples of originals for people and models where both saw the same pictures."),
    _(
        "Matches: the areas of model and people differ by less than the margin, and the means over every window of "
        "0.15 by less than theirs, shown by 90 % intervals. Differs: shown at level 0.05 over all models, corruptions "
        "and windows together. Undecided: neither."
    ),
)
INDEX_CAVEATS = (
    _(
        "MRSI is positive, and HMRI below 1, by noise alone. Whether a model matches people or differs from them is "
        "what the verdict says."
    ),
)
LEADERBOARD = (
    *INDICES[:2],
    INDICES[3],
    _("Means over the corruptions on which a model is compared with people; each corruption counts once."),
    _(
        "Rank: the places that the data leave open to a model by its mean accuracy, from the differences of all pairs "
        "of models together (Mogstad et al. 2024). Models that share a place are not ordered."
    ),
)
LEADERBOARD_CAVEATS = (
    _("A mean over corruptions hides where a model fails: its lowest corruption is shown next to it."),
    _("No rank rests on HMRI or MRSI: noise alone moves them from their edge."),
)
TWIN = _(
    "A simulated twin is a model that answers by people's own curve, on the same pictures: what it reaches is the "
    "ceiling at this size."
)
FRAGILITY = (
    _(
        "Sessions, pictures or categories are left out and every verdict is computed again, with the same random "
        "numbers for whoever remains; a change that they alone make does not count."
    ),
    _(
        "With at most 100 of a kind each is left out by itself, with at most 16 also every pair, if time allows. "
        "Larger sets are sought step by step, so that a smaller one may exist: at most so many."
    ),
)
FRAGILITY_CAVEATS = (
    _("That a verdict hangs on few answers does not make it wrong; that none was found does not make it right."),
    _("A person gives far fewer answers than a model: undecided of people does not say that they are alike."),
)
SIMILARITY = (
    _(
        "Equivalent: the difference of mean accuracies lies within the margin over everything measured, and within "
        "±0.10 over every window of 0.15 of visual change (two one-sided tests each). Margins shrink by the share of "
        "answers that may not have come from looking; below 80 % from looking, nothing is called equivalent."
    ),
    _("Different: a window, or the mean, differs at level 0.05, corrected over all windows and pairs together."),
    _(
        "Undecided: neither. Undecided is not similar. The table says with how many answers two corruptions without "
        "any difference would be shown to be equivalent, and a difference of 0.05 in area to be different."
    ),
)
SIMILARITY_CAVEATS = (
    _("On the range of visual change that both corruptions measured."),
    _("The papers' rule, overlap of 83 % bands, stands beside the verdict and does not enter it."),
)
DISCRIMINATION = (
    _("Same/different: two pictures of equal visual change; half of the pairs are of two corruptions."),
    _("ABX: A and B of two corruptions, then X of one of them; either is right in half of the trials."),
    _(
        "d′: sensitivity under the named observer model, freed of bias; criteria differ from person to person. "
        "Different: d′ above 0, Holm's correction over all pairs, level 0.05."
    ),
    _(
        "Equivalent: the one-sided 95 % bound of d′ lies below the margin, with as many careless answers as plain "
        "pairs of the same sessions leave possible. Answers of one person are a cluster."
    ),
)
DISCRIMINATION_CAVEATS = (
    _("Undecided is not indistinguishable. Without plain pairs no pair is called equivalent."),
    _("d′ depends on what observers do with the pictures: the same answers stand for another d′ under another model."),
)
COVERAGE = (_("People's answers that enter the curves, in 40 bins of visual change; darker = more."),)
COVERAGE_CAVEATS = (
    _("White bins hold no answer: there the curve is a guess of the spline. Bins below 20 answers are thin."),
    _("The top bins of weak corruptions hold only pictures that they change much."),
)
CONFUSION = (
    _("Rows: what the picture showed. Columns: what was answered. Cells: per cent of the row's answers."),
    _("The last column holds answers that did not come in time."),
)
CONFUSION_CAVEATS = (
    _("At high visual change everyone has a favourite guess; that does not show knowledge of the category."),
)
TIMES = (_("Median time from the response grid to the answer, with the middle half of the answers, by visual change."),)
TIMES_CAVEATS = (_("Misses have no time and are left out; many misses make the rest look fast."),)
SENSITIVITY = (_("The same numbers under other choices of sessions and trials; the first line is as reported."),)
SENSITIVITY_CAVEATS = (_("A choice that is made after looking at this table is no planned analysis: say so."),)
PARTICIPANTS = (
    _("Thin lines: the curve of each participant with at least 40 answers. Thick line: all people with their band."),
)
PARTICIPANT_CAVEATS = (
    _("A single curve rests on few answers: its wiggles are mostly chance. The band is of the mean, not of people."),
)
DIFFICULTY = (
    _("Across: how often people are right, from answers that did not place them; up: the model on the same pictures."),
    _(
        "An answer is placed by other people's answers to other originals of its corruption and tenth of visual "
        "change: placed by itself, luck would put an observer like people off the diagonal."
    ),
)
DIFFICULTY_CAVEATS = (
    _("Pictures that are equally hard for people may be hard for different reasons; this chart combines corruptions."),
)
LEVELS = (
    _("Accuracy at levels: mean over the five published levels of strength. R̂: area over the whole visual change."),
    _("Ranks differ where a benchmark of fixed levels orders models otherwise than the whole range does."),
    LEVEL_RANKS_NOTE,
)
VALIDATION = (
    _("Agreement: share of the qualified answers that equal the majority. Qualified: the session counts."),
    _("One-coin EM estimates each person's reliability and the pictures' truth together."),
)
