from __future__ import annotations

import pickle
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.counterfactuals import latents
from analysis.counterfactuals.autoencoder import F16_1024, F16_16384, Layout, VqAutoencoder, load_autoencoder, shapes
from analysis.counterfactuals.latents import Allowance, Tape, load_latent_generator
from analysis.counterfactuals.port import Target, select
from analysis.counterfactuals.specifications import load_generator
from analysis.errors import GeneratorUnavailable, SearchRefused
from analysis.labels.files import default_labels

#: The published f16 layout in little: five levels, attention in the last, several blocks.
SMALL = Layout(32, (1, 1, 1, 1, 2), 2, frozenset({4}), 8, 6, 12)
TINY = Layout(32, (1, 1), 1, frozenset(), 4, 4, 32)


class Trainer:
    """Stands for what a training program pickles beside its weights."""


@pytest.fixture
def save(tmp_path):
    def saved(layout: Layout, change=lambda state: state, **more):
        torch.manual_seed(5)
        network = VqAutoencoder(layout).eval()
        state = dict(network.state_dict()) | {"loss.discriminator.main.0.weight": torch.zeros(3)}
        path = tmp_path / "last.ckpt"
        torch.save({"state_dict": change(state), "epoch": 3, "callbacks": {}, **more}, path)
        return path, network

    return saved


def test_names_and_sizes_are_those_of_the_published_networks() -> None:
    names = shapes(VqAutoencoder(F16_1024))
    assert sum(int(np.prod(shape)) for shape in names.values()) == 72_141_699
    assert names["encoder.down.4.attn.1.proj_out.weight"] == (512, 512, 1, 1)
    assert names["decoder.up.4.attn.2.q.bias"] == (512,)
    assert names["encoder.down.2.block.0.nin_shortcut.weight"] == (256, 128, 1, 1)
    assert names["decoder.up.1.upsample.conv.weight"] == (128, 128, 3, 3)
    assert "encoder.down.4.downsample.conv.weight" not in names and "decoder.up.0.upsample.conv.weight" not in names
    assert F16_1024.factor == 16 and replace(F16_1024, codes=16384) == F16_16384


@pytest.mark.parametrize("layout", [SMALL, TINY])
def test_a_saved_network_comes_back_by_its_shapes(layout, save) -> None:
    path, network = save(layout, trainer=Trainer(), optimizer_states=[{"lr": np.float64(0.1)}])
    loaded, digest = load_autoencoder(path)
    assert loaded.layout == layout and len(digest) == 64
    pictures = torch.rand(2, 3, 32, 32) * 2 - 1
    latents = loaded.encode(pictures)
    assert latents.shape == (2, layout.embedding, 32 // layout.factor, 32 // layout.factor)
    torch.testing.assert_close(loaded.decode(latents), network.decode(network.encode(pictures)))
    assert loaded.decode(latents).shape == (2, 3, 32, 32)


def test_a_checkpoint_runs_no_code(tmp_path) -> None:
    marker = tmp_path / "ran"

    class Harm:
        def __reduce__(self):
            return (marker.touch, ())

    torch.save({"state_dict": {"x": Harm()}}, tmp_path / "harm.ckpt")
    with pytest.raises(GeneratorUnavailable):
        load_autoencoder(tmp_path / "harm.ckpt")
    assert not marker.exists()
    (tmp_path / "old.ckpt").write_bytes(pickle.dumps({"state_dict": Harm()}))
    with pytest.raises(GeneratorUnavailable):
        load_autoencoder(tmp_path / "old.ckpt")
    assert not marker.exists()


def test_other_layouts_are_refused_by_the_first_weight_that_differs(save, tmp_path) -> None:
    def without(name):
        return lambda state: {key: value for key, value in state.items() if key != name}

    with pytest.raises(GeneratorUnavailable, match="no such checkpoint"):
        load_autoencoder(tmp_path / "absent.ckpt")
    with pytest.raises(GeneratorUnavailable, match="quantize.embedding.weight is missing"):
        load_autoencoder(save(TINY, without("quantize.embedding.weight"))[0])
    with pytest.raises(GeneratorUnavailable, match="decoder.mid.attn_1.k.bias is missing"):
        load_autoencoder(save(TINY, without("decoder.mid.attn_1.k.bias"))[0])
    with pytest.raises(GeneratorUnavailable, match="temporal.weight has no place"):
        load_autoencoder(save(TINY, lambda state: state | {"temporal.weight": torch.zeros(2)})[0])
    with pytest.raises(GeneratorUnavailable, match="decoder.conv_in.weight has the shape"):
        load_autoencoder(save(TINY, lambda state: state | {"decoder.conv_in.weight": torch.zeros(2)})[0])
    (tmp_path / "text.ckpt").write_text("no weights")
    with pytest.raises(GeneratorUnavailable, match="no checkpoint that torch can read"):
        load_autoencoder(tmp_path / "text.ckpt")


def test_latents_are_moved_up_the_loss(save, pictures, labels, robust) -> None:
    path, network = save(TINY)
    generator = load_generator(f"vqgan:{path},px=16,step=0.5")
    state = generator.start(pictures, np.zeros(12, np.int64))
    assert state["latents"].shape == (12, 4, 8, 8)
    tensor = torch.from_numpy(pictures.transpose(0, 3, 1, 2).astype(np.float32)) / 127.5 - 1
    painted = (network.decode(network.encode(tensor)) + 1) / 2 * 255
    expected = painted.clamp(0, 255).permute(0, 2, 3, 1).detach().numpy()
    assert np.abs(generator.paint(state).pictures - expected).max() <= 0.51
    stepped = generator.step(state, default_labels().places_of(labels), Target(robust))
    moved = stepped["latents"] - state["latents"]
    np.testing.assert_allclose(np.sqrt((moved**2).mean(axis=(1, 2, 3))), 0.5, rtol=1e-3)


def test_a_step_is_the_same_with_and_without_the_record_of_the_painting(
    save, pictures, labels, robust, monkeypatch
) -> None:
    path, _network = save(TINY)
    generator, target, numbers = (
        load_generator(f"vqgan:{path},px=16"),
        Target(robust),
        default_labels().places_of(labels),
    )
    state = generator.start(pictures, np.zeros(12, np.int64))
    afresh = generator.step(state, numbers, target)["latents"]
    going = np.array([0, 3, 4, 11])
    remembered = generator.step(select(state, going), numbers[going], target, generator.paint(state).of(going))
    np.testing.assert_allclose(remembered["latents"], afresh[going], atol=1e-5)
    # Nothing may be kept: every picture is painted again, and nothing else changes.
    monkeypatch.setattr(latents, "Allowance", lambda: Allowance(0))
    painting = generator.paint(state)
    assert all(tape.latents is None for tape, _row in painting.memory)
    assert np.array_equal(generator.step(state, numbers, target, painting)["latents"], afresh)
    # One tape for all, as on a device that paints a batch at once.
    monkeypatch.undo()
    monkeypatch.setattr(latents, "share_of", lambda n, device: n)
    painting = generator.paint(state)
    assert len({id(tape) for tape, _row in painting.memory}) == 1
    for some in (going, np.arange(1, 12)):
        found = generator.step(select(state, some), numbers[some], target, painting.of(some))["latents"]
        np.testing.assert_allclose(found, afresh[some], atol=1e-4)


def test_a_record_that_nobody_used_is_let_go_of(save) -> None:
    _path, network = save(TINY)
    tape = Tape.record(torch.zeros(1, 4, 8, 8), network.decode)
    assert tape.n_bytes
    leaf = weakref.ref(tape.latents)
    del tape
    assert leaf() is None


def test_threads_change_no_picture(save, pictures, labels, robust) -> None:
    path, _network = save(TINY)
    generator, target, numbers = (
        load_generator(f"vqgan:{path},px=16"),
        Target(robust),
        default_labels().places_of(labels),
    )

    def stepped() -> tuple[np.ndarray, np.ndarray]:
        state = generator.start(pictures, np.zeros(12, np.int64))
        painting = generator.paint(state)
        return painting.pictures, generator.step(state, numbers, target, painting)["latents"]

    alone = stepped()
    torch.set_num_threads(3)
    try:
        together = stepped()
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(1)
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


def test_a_sparse_generator_moves_the_selected_dimensions_alone(save, pictures, labels, robust, tmp_path) -> None:
    path, _network = save(TINY)
    chosen = np.zeros((4, 8, 8), bool)
    chosen[1, 2:4, 5] = True
    np.save(tmp_path / "chosen.npy", chosen)
    generator = load_generator(f"vqgan:{path},px=16,sparse={tmp_path / 'chosen.npy'}")
    state = generator.start(pictures, np.zeros(12, np.int64))
    moved = generator.step(state, default_labels().places_of(labels), Target(robust))["latents"] - state["latents"]
    assert np.array_equal((moved != 0).any(axis=0), chosen)
    np.testing.assert_allclose(np.sqrt((moved[:, chosen] ** 2).mean(axis=1)), 0.1, rtol=1e-3)
    with pytest.raises(SearchRefused, match="have the shape"):
        generator.sparse(np.ones((4, 4, 4), bool))
    with pytest.raises(SearchRefused, match="No dimension"):
        generator.sparse(np.zeros((4, 8, 8), bool))


def test_pictures_of_another_size_are_resized_there_and_back(save, pictures) -> None:
    path, _network = save(TINY)
    path.with_suffix(".json").write_text('{"input_px": 32}')
    generator = load_latent_generator(path)
    state = generator.start(pictures, np.zeros(12, np.int64))
    assert state["latents"].shape == (12, 4, 16, 16)
    assert generator.paint(state).pictures.shape == pictures.shape
    with pytest.raises(GeneratorUnavailable, match="multiple of 2 px, not 33"):
        load_latent_generator(path, input_px=33)
