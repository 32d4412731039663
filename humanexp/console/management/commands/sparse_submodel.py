from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import CommandParser

from analysis.counterfactuals.sparse_submodel import PUBLISHED_STRENGTH
from analysis.counterfactuals.walked_latents import Latents
from humanexp.console.scripted_participants import whole_number
from humanexp.core.commands import RefusableCommand
from humanexp.counterfactuals.selectors import search_by_name
from humanexp.counterfactuals.services.sparse_submodels import start_sparse
from humanexp.jobs import runner


class Command(RefusableCommand):
    help = "Find the latent dimensions that a finished search moved, for a generator that moves only these."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("search", metavar="SEARCH", help="finished search with a vqgan: generator")
        parser.add_argument("--out", metavar="FILE.npy", type=Path, required=True, help="file of the dimensions")
        parser.add_argument(
            "--strength",
            type=float,
            default=PUBLISHED_STRENGTH,
            help=f"the smaller, the sparser (default: {PUBLISHED_STRENGTH})",
        )
        parser.add_argument(
            "--latents",
            choices=get_args(Latents),
            default="encoder",
            help="that are told apart (default: before the codebook; published: quantised ones of counterfactuals)",
        )
        parser.add_argument("--seed", type=whole_number(0), default=0, help="of the split into training and test")

    def handle(self, *args: Any, **options: Any) -> None:
        out: Path = options["out"]
        job = start_sparse(
            run=search_by_name(options["search"]),
            out=out,
            strength=options["strength"],
            seed=options["seed"],
            latents=options["latents"],
        )
        runner.finish(job, what="The fit", tell=self.stderr.write)
        told = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
        self.stdout.write(
            f"{out}: {told['selected']} of {told['dimensions']} dimensions ({100 * told['share']:.2f} %), "
            f"{told['test_score']:.3f} of {told['n_test']} held-out latents told apart; {told['walked']} of "
            f"{told['pictures']} pictures, {told['as_kept']} of them to the byte as the search kept them"
        )
        generator = told["generator"]
        self.stdout.write(f"Search with --generator {generator}{',' if generator[-1] != ':' else ''}sparse={out}")
