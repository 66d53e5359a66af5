"""What the speaker network makes of two people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block, read_wav
from s2s.models.resources import Resources
from s2s.models.torch_file import TorchFileError
from s2s.turns.speaker.embedder import LOOK_SAMPLES, SpeakerEmbedder
from tests.support.torch_checkpoint import checkpoint, mapping

DATA = Path(__file__).resolve().parents[2] / "data"
HZ = 16_000


@pytest.fixture(scope="module")
def embedder(resources: Resources) -> SpeakerEmbedder:
    return SpeakerEmbedder(resources.store.path("speaker-campplus"), "speaker-campplus")


@pytest.mark.models("speaker-campplus")
def test_vectors_have_length_one_and_are_the_same_again(embedder: SpeakerEmbedder) -> None:
    sound = np.random.default_rng(1).standard_normal(LOOK_SAMPLES + HZ + 100).astype(np.float32)
    looks = embedder.looks(sound)
    assert looks.shape == (3, 192)
    np.testing.assert_allclose(np.linalg.norm(looks, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(looks, embedder.looks(sound))
    for index, start in enumerate((0, HZ, HZ + 100)):
        alone = embedder.looks(sound[start : start + LOOK_SAMPLES])
        assert float(alone[0] @ looks[index]) == pytest.approx(1.0, abs=1e-4)
    assert embedder.looks(sound[:100]).shape == (1, 192)
    assert np.linalg.norm(embedder.embed(sound)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.models("speaker-campplus")
def test_a_voice_is_more_like_itself_than_like_another(
    embedder: SpeakerEmbedder, librivox: dict[str, tuple[Block, str]]
) -> None:
    reader = embedder.embed(librivox["librivox_0870"][0])
    goforward = read_wav(DATA / "goforward.wav", HZ)[0]
    for name in ("librivox_0890", "librivox_0920"):
        same = float(reader @ embedder.embed(librivox[name][0]))
        assert same > float(reader @ embedder.embed(goforward)) + 0.2


def test_a_checkpoint_of_another_network_is_named(tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "other.pt", mapping({}), {})
    with pytest.raises(TorchFileError, match=r"other\.pt: is no CAM\+\+ checkpoint"):
        SpeakerEmbedder(path, "other")
