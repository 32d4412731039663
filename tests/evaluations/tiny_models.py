"""Vision-language models with random weights, made where they are needed: a few thousand numbers, and no download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from analysis.classifiers.weights import import_torchvision
from analysis.labels.files import default_labels
from analysis.observers.questions import WORDINGS

import_torchvision()

_TEXT: Mapping[str, Any] = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
_TOWER: Mapping[str, Any] = {
    "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32,
    "patch_size": 8,
}  # fmt: skip
#: The reply follows without a blank, or at the beginning of a line.
_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE{% else %}{{ part['text'] }}{% endif %}{% endfor %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}assistant:END{% endif %}"
)


def _tokenizer(*special: str) -> transformers.PreTrainedTokenizerFast:
    """Pairs of bytes of the questions: some labels are one token, others several."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<pad>", "<bos>", "<eos>", *special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # of these texts alone: the tokens decide what random weights answer, whatever other wordings there come to be
    texts = [WORDINGS[name] for name in ("describes", "shown", "guess")]
    tokenizer.train_from_iterator([*texts, *(f" {one}" for one in default_labels().ids[:6])], trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<bos>", eos_token="<eos>"
    )


def llava(folder: Path, *, seed: int = 0, end: str = "") -> Path:
    """CLIP's tower in front of Llama's decoder."""
    tokenizer = _tokenizer("<image>")
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**_TOWER, projection_dim=16),
        text_config=transformers.LlamaConfig(vocab_size=len(tokenizer), **_TEXT),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )  # fmt: skip
    processor = transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessor(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
        tokenizer=tokenizer, patch_size=8, vision_feature_select_strategy="default", num_additional_image_tokens=1,
        chat_template=_TEMPLATE.replace("IMAGE", "<image>").replace("END", end),
    )  # fmt: skip
    return _saved(transformers.LlavaForConditionalGeneration, config, processor, folder, seed)


def llava_next(folder: Path, *, seed: int = 0) -> Path:
    """LLaVA with a picture in several tiles."""
    tokenizer = _tokenizer("<image>")
    tiles = [[32, 64], [64, 32], [64, 64]]
    config = transformers.LlavaNextConfig(
        vision_config=transformers.CLIPVisionConfig(**_TOWER, projection_dim=16),
        text_config=transformers.LlamaConfig(vocab_size=len(tokenizer), **_TEXT),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1, image_grid_pinpoints=tiles,
    )  # fmt: skip
    processor = transformers.LlavaNextProcessor(
        image_processor=transformers.LlavaNextImageProcessor(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}, image_grid_pinpoints=tiles
        ),
        tokenizer=tokenizer, patch_size=8, vision_feature_select_strategy="default", num_additional_image_tokens=1,
        chat_template=_TEMPLATE.replace("IMAGE", "<image>").replace("END", ""),
    )  # fmt: skip
    return _saved(transformers.LlavaNextForConditionalGeneration, config, processor, folder, seed)


def qwen2_vl(folder: Path, *, seed: int = 0) -> Path:
    """Tokens of a picture have places in two dimensions; the reply begins on a line of its own."""
    marks = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    tokenizer = _tokenizer(*marks)
    start, finish, image, video = (tokenizer.convert_tokens_to_ids(one) for one in marks)
    config = transformers.Qwen2VLConfig(
        vision_config={"depth": 2, "embed_dim": 16, "num_heads": 2, "hidden_size": 32, "patch_size": 8},
        text_config={
            **_TEXT, "vocab_size": len(tokenizer),
            "rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0},
        },
        vision_start_token_id=start, vision_end_token_id=finish, image_token_id=image, video_token_id=video,
    )  # fmt: skip
    processor = transformers.Qwen2VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(patch_size=8, min_pixels=32 * 32, max_pixels=48 * 48),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(patch_size=8),
        chat_template=_TEMPLATE.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>").replace("END", "\n"),
    )
    return _saved(transformers.Qwen2VLForConditionalGeneration, config, processor, folder, seed)


def idefics3(folder: Path, *, seed: int = 0) -> Path:
    """A picture is cut into tiles; SmolVLM is of this kind."""
    tiles = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    tokenizer = _tokenizer("<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *tiles)
    config = transformers.Idefics3Config(
        vision_config=_TOWER,
        text_config={"model_type": "llama", **_TEXT, "vocab_size": len(tokenizer)},
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"), scale_factor=2, pad_token_id=0,
    )  # fmt: skip
    processor = transformers.Idefics3Processor(
        image_processor=transformers.Idefics3ImageProcessor(
            size={"longest_edge": 64}, max_image_size={"longest_edge": 32}
        ),
        tokenizer=tokenizer, image_seq_len=4, chat_template=_TEMPLATE.replace("IMAGE", "<image>").replace("END", ""),
    )  # fmt: skip
    return _saved(transformers.Idefics3ForConditionalGeneration, config, processor, folder, seed)


def gemma3(folder: Path, *, seed: int = 0) -> Path:
    """Half of the layers keep only the newest tokens, and tokens of a picture see each other both ways."""
    marks = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(*marks.values())._tokenizer,
        pad_token="<pad>", bos_token="<bos>", eos_token="<eos>", extra_special_tokens=marks,
    )  # fmt: skip
    start, finish, image = (tokenizer.convert_tokens_to_ids(one) for one in marks.values())
    config = transformers.Gemma3Config(
        text_config={
            **_TEXT, "vocab_size": len(tokenizer), "head_dim": 8, "sliding_window": 16,
            "layer_types": ["sliding_attention", "full_attention"],
        },
        vision_config=_TOWER,
        mm_tokens_per_image=4, boi_token_index=start, eoi_token_index=finish, image_token_index=image,
    )  # fmt: skip
    processor = transformers.Gemma3Processor(
        image_processor=transformers.Gemma3ImageProcessor(size={"height": 32, "width": 32}),
        tokenizer=tokenizer, image_seq_length=4,
        chat_template=_TEMPLATE.replace("IMAGE", "<start_of_image>").replace("END", "\n"),
    )  # fmt: skip
    return _saved(transformers.Gemma3ForConditionalGeneration, config, processor, folder, seed)


def _saved(kind: Callable[[Any], Any], config: Any, processor: Any, folder: Path, seed: int) -> Path:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(config)
        # As trained weights would, they tell labels and pictures apart; fresh ones are almost alike.
        with torch.no_grad():
            for weights in model.parameters():
                if weights.ndim > 1:
                    weights.mul_(6.0)
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
