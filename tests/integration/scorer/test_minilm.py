"""The sentence encoder behind the embedder's port: recipe, faults, and bundles that name it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest
from tokenizers import Tokenizer

from services.scorer.adapters import minilm
from services.scorer.adapters.bundle.loading import encode_centroids, load
from services.scorer.model.fault import BundleError, EmbedderError
from services.scorer.policy.embedding import Spread
from services.scorer.policy.surface import COUNT
from tests.fakes import scorer_bundle as tiny
from tests.fakes.encoder import FakeSession

WORDS = 300


def tokenizer() -> Tokenizer:
    document = orjson.loads(tiny.tokenizer_json())
    vocabulary = document["model"]["vocab"]
    for mark in ("[CLS]", "[SEP]"):
        vocabulary[mark] = len(vocabulary)
    return Tokenizer.from_str(orjson.dumps(document).decode())


def embedder(session: FakeSession, max_bytes: int = 8_192) -> minilm.MiniLmEmbedder:
    spread = Spread(np.zeros(COUNT), np.ones(COUNT))
    return minilm.MiniLmEmbedder(session, tokenizer(), spread, max_bytes)


@pytest.mark.spec("SCO-6", "SCO-8")
def test_a_text_is_the_mean_of_its_states_at_unit_length_beside_its_surface() -> None:
    session = FakeSession()
    made = embedder(session)
    vector = made.embed("prove the zebra")
    ends = [tokenizer().token_to_id(mark) for mark in ("[CLS]", "[SEP]")]
    assert session.asked == [[ends[0], 1, 2, 0, ends[1]]]
    assert vector.joint.shape == (made.dimensions,) == (minilm.WIDTH + COUNT,)
    assert np.linalg.norm(vector.joint[: minilm.WIDTH]) == pytest.approx(1.0)
    assert vector.pieces.ids.tolist() == [1, 2]
    assert vector.unknown_share == pytest.approx(1 / 3)
    assert made.is_slow
    assert made.vocabulary == tokenizer().get_vocab_size()


def test_the_last_pieces_of_a_long_text_are_read() -> None:
    session = FakeSession()
    embedder(session).embed("prove " * WORDS + "theorem")
    assert len(session.asked[0]) == minilm.MAX_TOKENS
    assert session.asked[0][-2] == 3
    assert embedder(session).embed("").joint.shape == (minilm.WIDTH + COUNT,)


@pytest.mark.parametrize(
    "session", [FakeSession(fault=RuntimeError("the text itself")), FakeSession(width=7)]
)
def test_a_failing_encoder_is_told_without_the_text(session: FakeSession) -> None:
    with pytest.raises(EmbedderError) as caught:
        embedder(session).embed("prove it")
    assert "text itself" not in str(caught.value)


def members() -> dict[str, bytes]:
    """Return the files of a bundle that was trained with an encoder nobody has."""
    files = tiny.members()
    width = minilm.WIDTH + COUNT
    axis = np.eye(width)[:1]
    metadata = orjson.loads(files["metadata.yaml"])
    metadata["embedder"] |= {
        "model": minilm.NAME,
        "embed_dim": width,
        "encoder": "0" * 64,
        "probe": {"text": "x", "vector": axis[0].tolist()},
    }
    files["metadata.yaml"] = orjson.dumps(metadata)
    return files | {"centroids.bin": encode_centroids(np.repeat(axis, 3, axis=0))}


@pytest.mark.spec("SCO-9", "SCO-10")
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "name its file in services.scorer.encoder"),
        (b"placeholder", "a file of at least 1 MiB is needed"),
    ],
)
def test_a_bundle_is_refused_without_the_encoder_that_it_was_trained_with(
    content: bytes | None, fault: str, tmp_path: Path
) -> None:
    tiny.write(tmp_path, members())
    encoder = None if content is None else tmp_path / "encoder.onnx"
    if encoder is not None:
        encoder.write_bytes(content or b"")
    with pytest.raises(BundleError, match=fault):
        load(tmp_path, encoder=encoder)


def test_a_tokenizer_without_marks_is_refused() -> None:
    pruned = Tokenizer.from_str(tiny.tokenizer_json())
    with pytest.raises(ValueError, match=r"pieces \[CLS\] and \[SEP\]"):
        minilm.MiniLmEmbedder(FakeSession(), pruned, Spread(np.zeros(COUNT), np.ones(COUNT)), 9)
