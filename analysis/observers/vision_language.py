"""Adapter ``vlm:FOLDER``: a vision-language model of the transformers library, with its weights on this machine.

FOLDER is as ``save_pretrained`` writes model and processor. Every label is scored as its reply, or it writes one.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray
from analysis.classifiers.networks import Precision, arithmetic, check_device, check_precision
from analysis.classifiers.weights import INSTALL, import_torchvision
from analysis.errors import ClassifierUnavailable, ObserverUnavailable
from analysis.observers.questions import ForcedChoice, Question
from analysis.observers.scoring import LabelScores, replies

SCHEME = "vlm"
#: Files of a folder that decide what the model answers.
_DECISIVE = frozenset({".json", ".safetensors", ".jinja", ".model", ".txt"})
_LIBRARIES = ("torch", "torchvision", "transformers", "tokenizers")
#: By how much sums of log-probabilities may differ between two ways to compute them.
_ROUNDING: Mapping[str, float] = {"float32": 1e-3, "tf32": 0.05, "float16": 0.2, "bfloat16": 0.5}
#: What a model's own code raises where it cannot continue for several labels from one reading of the question.
_UNSHARED = (RuntimeError, ValueError, TypeError, AttributeError, LookupError)
_SIZE_PX = 224
#: Several pictures take at least this share of as many times the tokens of one.
_MOST_SHARED = 0.9


#: Whatever the folder's own settings of generation say.
_LIKELIEST: Mapping[str, Any] = {"do_sample": False, "temperature": None, "top_k": None, "top_p": None, "num_beams": 1}


@dataclass(frozen=True, slots=True)
class Written:
    """A reply: its text without special tokens, tokens of question and reply, and "stop" or "length"."""

    text: str
    tokens_in: int
    tokens_out: int
    finish_reason: str


@dataclass(frozen=True)
class VisionLanguageModel:
    """A local model that says how likely it finds each label as its reply, or writes one.

    Attributes
    ----------
    folder : Path
    device : str
        "cpu", "cuda" or "cuda:1".
    precision : {"float32", "tf32", "float16", "bfloat16"}
        Numbers that it computes with on CUDA; on a processor always float32.

    Raises
    ------
    ObserverUnavailable
        If the folder is none, lacks safetensors, or a library or device is not here. Weights are read at first use.
    """

    folder: Path
    device: str = "cpu"
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        if not (self.folder / "config.json").is_file() or not any(self.folder.glob("*.safetensors")):
            raise ObserverUnavailable(
                f"{SCHEME}:{self.folder} is no folder with config.json and weights as .safetensors. Save model and "
                "processor there with save_pretrained."
            )
        try:
            check_precision(self.precision, self.device)
            check_device(self.device)
            import_torchvision()
            self._transformers()
        except ClassifierUnavailable as error:
            raise ObserverUnavailable(str(error)) from error

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @cached_property
    def digest(self) -> str:
        """SHA-256 of weights, tokenizer and chat template, of how labels are scored, and of the libraries."""
        found = hashlib.sha256(json.dumps([self.versions, self.preprocessing, self.precision]).encode())
        found.update(self.device.partition(":")[0].encode())
        for path in sorted(self.folder.iterdir()):
            if path.suffix in _DECISIVE and path.is_file():
                with path.open("rb") as content:
                    found.update(f"\n{path.name} {hashlib.file_digest(content, 'sha256').hexdigest()}".encode())
        return found.hexdigest()

    @property
    def preprocessing(self) -> str:
        return "by the model's own processor; labels scored by the sum of their tokens' log-probabilities"

    @cached_property
    def versions(self) -> dict[str, str]:
        """Of the libraries that have a part in the scores."""
        return {name: metadata.version(name) for name in _LIBRARIES}

    def scores(self, picture: NDArray[np.uint8], question: Question) -> LabelScores:
        """Score the labels of one question about one RGB picture, shape (h, w, 3), or several, shape (n, h, w, 3).

        Picture and question are read once, and all labels continue from there in one batch; where a model's code does
        not get the same from that as from reading the whole for each label, the whole is read for each.

        Raises
        ------
        ObserverUnavailable
            If the model cannot be loaded, has no chat template, or does not fit into memory.
        """
        opening = self._opening(question, _count(picture))
        continuations = self._continuations(opening, replies(question))
        asked = self._inputs(picture, opening)
        # of several pictures the two ways were not compared
        score = self._shared if picture.ndim == 3 and self._shares else self._one_by_one
        found = score(asked, continuations)
        return LabelScores(
            tuple(found.tolist()), int(asked["input_ids"].shape[1]), tuple(len(tokens) for tokens in continuations)
        )

    def written(
        self, picture: NDArray[np.uint8], question: Question, *, temperature: float, most_tokens: int, seed: int
    ) -> Written:
        """Write a reply to one question about one RGB picture, shape (h, w, 3), or several, shape (n, h, w, 3).

        Parameters
        ----------
        temperature : float
            0: the likeliest token each time; above: tokens drawn from all, without any cut of unlikely ones.
        most_tokens : int
            After so many the reply is cut.
        seed : int
            Of the draws.

        Raises
        ------
        ObserverUnavailable
            If the model cannot be loaded, has no chat template, or does not fit into memory.
        """
        import torch

        asked = self._inputs(picture, self._opening(question, _count(picture)))
        drawn = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature > 0 else {}
        torch.manual_seed(seed)
        with torch.inference_mode(), self._arithmetic():
            whole = self._network.generate(**asked, max_new_tokens=most_tokens, **(drawn or _LIKELIEST))
        tokens = whole[0, asked["input_ids"].shape[1] :].tolist()
        text = self._processor.tokenizer.decode(tokens, skip_special_tokens=True)
        is_cut = len(tokens) >= most_tokens and tokens[-1] not in self._ends
        return Written(text, int(asked["input_ids"].shape[1]), len(tokens), "length" if is_cut else "stop")

    @cached_property
    def _ends(self) -> frozenset[int]:
        """Tokens that end a reply."""
        end = self._network.generation_config.eos_token_id
        return frozenset(end if isinstance(end, list) else [end])

    @cached_property
    def _shares(self) -> bool:
        """Whether labels that continue from one reading of a question get the scores of reading all for each."""
        question = ForcedChoice()
        grey = np.full((_SIZE_PX, _SIZE_PX, 3), 128, dtype=np.uint8)
        opening = self._opening(question)
        asked, continuations = self._inputs(grey, opening), self._continuations(opening, question.labels)
        whole = self._one_by_one(asked, continuations)
        if not np.isfinite(whole).all():
            raise ObserverUnavailable(
                f"{SCHEME}:{self.folder} finds no label likely or unlikely: it puts out values that are no numbers. "
                "Check its weights."
            )
        try:
            shared = self._shared(asked, continuations)
        except _UNSHARED:
            return False
        return bool(np.abs(shared - whole).max() <= _ROUNDING[self.precision])

    def _shared(self, asked: Mapping[str, Any], continuations: Sequence[Sequence[int]]) -> FloatArray:
        """Read picture and question once; a batch of labels then continues from what was kept of them."""
        import torch

        longest = max(map(len, continuations))
        padded = torch.zeros((len(continuations), longest), dtype=torch.long)
        for row, tokens in enumerate(continuations):
            padded[row, : len(tokens)] = torch.tensor(tokens)
        with torch.inference_mode(), self._arithmetic():
            read = self._network(**asked, use_cache=True, logits_to_keep=1)
            logits = read.logits[:, -1:].expand(len(continuations), -1, -1)
            if longest > 1:
                cache = read.past_key_values
                cache.batch_repeat_interleave(len(continuations))
                # Padding is to the right of a label's tokens, which do not see it: no mask has to hide it.
                further = self._network(input_ids=padded[:, :-1].to(self.device), past_key_values=cache, use_cache=True)
                logits = torch.cat([logits, further.logits], dim=1)
        return _sums(logits, continuations)

    def _one_by_one(self, asked: Mapping[str, Any], continuations: Sequence[Sequence[int]]) -> FloatArray:
        """Read picture, question and label as a whole, for one label after the other."""
        import torch

        found = []
        for tokens in continuations:
            own = torch.tensor([tokens], dtype=torch.long, device=self.device)
            whole = {
                name: torch.cat([value, _appended(name, value, own)], dim=1)
                if value.shape == asked["input_ids"].shape
                else value
                for name, value in asked.items()
            }
            with torch.inference_mode(), self._arithmetic():
                logits = self._network(**whole, use_cache=False).logits[:, -len(tokens) - 1 : -1]
            found.append(_sums(logits, [tokens]))
        return np.concatenate(found)

    def check_pictures(self, question: Question, count: int) -> None:
        """Refuse several pictures in one question where the processor does not read each of them.

        Raises
        ------
        ObserverUnavailable
        """
        grey = np.full((count, _SIZE_PX, _SIZE_PX, 3), 128, dtype=np.uint8)
        try:
            several, one = (
                self._processed(shown, self._opening(question, _count(shown)))["input_ids"].shape[1]
                for shown in (grey, grey[0])
            )
            empty = len(self._processor.tokenizer(self._opening(question, 0), add_special_tokens=False)["input_ids"])
            is_read = several - empty >= count * (one - empty) * _MOST_SHARED > 0
        except _UNSHARED:
            is_read = False
        if not is_read:
            raise ObserverUnavailable(
                f"{SCHEME}:{self.folder} does not take {count} pictures in one question: its processor reads one. Ask "
                "a model that takes several, or through a server (openai:URL#MODEL)."
            )

    def _opening(self, question: Question, pictures: int = 1) -> str:
        """The conversation up to where the model's reply begins."""
        content = [*({"type": "image"} for _ in range(pictures)), {"type": "text", "text": question.text}]
        said = self._processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        if said.rstrip().endswith("<think>"):
            raise ObserverUnavailable(
                f"{SCHEME}:{self.folder} thinks before it answers, so that its labels cannot be scored. Ask it through "
                "a server (openai:URL#MODEL)."
            )
        return str(said)

    def _continuations(self, opening: str, said: Sequence[str]) -> list[list[int]]:
        """Tokens of each reply as they follow the opening, after a blank where the opening ends in none."""
        tokenizer = self._processor.tokenizer
        before = tokenizer(opening, add_special_tokens=False)["input_ids"]
        blank = "" if opening[-1:].isspace() else " "
        found = []
        for one in said:
            tokens = tokenizer(f"{opening}{blank}{one}", add_special_tokens=False)["input_ids"]
            if tokens[: len(before)] != before or len(tokens) == len(before):
                raise ObserverUnavailable(
                    f"{SCHEME}:{self.folder}: its tokenizer joins the reply {one!r} to the question, so that the reply "
                    "cannot be scored."
                )
            found.append(tokens[len(before) :])
        return found

    def _inputs(self, picture: NDArray[np.uint8], opening: str) -> dict[str, Any]:
        made = self._processed(picture, opening)
        return {
            name: value.to(self.device, self._network.dtype if value.is_floating_point() else None)
            for name, value in made.items()
        }

    def _processed(self, picture: NDArray[np.uint8], opening: str) -> Mapping[str, Any]:
        from PIL import Image

        shown = [Image.fromarray(one) for one in (picture[None] if picture.ndim == 3 else picture)]
        # several pictures of one text are a list of their own: a flat one would be of several texts
        images = shown if len(shown) == 1 else [shown]
        return self._processor(text=[opening], images=images, return_tensors="pt")  # type: ignore[no-any-return]

    def _arithmetic(self) -> Any:
        return arithmetic(self.device, "tf32" if self.precision == "tf32" else "float32")

    @cached_property
    def _network(self) -> Any:
        import torch

        transformers = self._transformers()
        damaged = importlib.import_module("safetensors").SafetensorError
        width = self.precision if self.precision in ("float16", "bfloat16") else "float32"
        try:
            network, told = transformers.AutoModelForImageTextToText.from_pretrained(
                self.folder, local_files_only=True, trust_remote_code=False, use_safetensors=True,
                output_loading_info=True, dtype=getattr(torch, width),
            )  # fmt: skip
            wrong = sorted({*told["missing_keys"], *(str(key) for key in told["mismatched_keys"])})
            if not wrong and not network.config.is_encoder_decoder:
                return network.eval().requires_grad_(False).to(self.device)
        except torch.OutOfMemoryError as error:
            raise ObserverUnavailable(
                f"{SCHEME}:{self.folder} does not fit into the memory of {self.device}."
            ) from error
        except (OSError, RuntimeError, ValueError, KeyError, AttributeError, damaged) as error:
            raise ObserverUnavailable(self._unreadable(error)) from error
        raise ObserverUnavailable(
            f"{SCHEME}:{self.folder} lacks weights ({', '.join(wrong[:3])}): its answers would be random."
            if wrong
            else f"{SCHEME}:{self.folder} has an encoder of its own for text; only decoders can be asked here."
        )

    @cached_property
    def _processor(self) -> Any:
        try:
            made = self._transformers().AutoProcessor.from_pretrained(
                self.folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, RuntimeError, ValueError, KeyError, AttributeError, ImportError) as error:
            raise ObserverUnavailable(self._unreadable(error)) from error
        if not getattr(made, "chat_template", None) or not hasattr(made, "tokenizer"):
            raise ObserverUnavailable(
                f"{SCHEME}:{self.folder} has no processor with a chat template, so that nobody knows how to put a "
                "question to it. Save the processor of an instruction-tuned model next to the weights."
            )
        return made

    def _unreadable(self, error: Exception) -> str:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        return f"{SCHEME}:{self.folder} cannot be read as a vision-language model: {reason}"

    def _transformers(self) -> Any:
        try:
            transformers = importlib.import_module("transformers")
        except ImportError as error:
            raise ClassifierUnavailable(f"transformers is not installed: {INSTALL}") from error
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        return transformers


def _count(picture: NDArray[np.uint8]) -> int:
    return 1 if picture.ndim == 3 else len(picture)


def _appended(name: str, value: Any, tokens: Any) -> Any:
    """What an input a token says of the reply's tokens: that they are seen, and text."""
    if name == "input_ids":
        return tokens
    return value.new_full(tokens.shape, 1 if name == "attention_mask" else 0)


def _sums(logits: Any, continuations: Sequence[Sequence[int]]) -> FloatArray:
    """Sums of the log-probabilities of each continuation's tokens; logits have a row each, shape (n, longest, v)."""
    import torch

    logs = torch.log_softmax(logits.float(), dim=-1)
    sums = [
        logs[row, torch.arange(len(tokens)), torch.tensor(tokens)].double().sum().item()
        for row, tokens in enumerate(continuations)
    ]
    return np.array(sums, dtype=np.float64)
