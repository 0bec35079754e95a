"""Bundles that load, and every way in which one is refused."""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.scorer.adapters.bundle.loading import encode_centroids, load
from services.scorer.adapters.bundle.members import MAX_MEMBER_BYTES
from services.scorer.model.fault import BundleError
from services.scorer.policy.heads import linear_quality
from tests.fakes import scorer_bundle as tiny

Files = dict[str, bytes]
Change = Callable[[Files], object]


def change_json(name: str, edit: Callable[[dict[str, object]], object]) -> Change:
    def change(files: Files) -> None:
        document = json.loads(files[name])
        edit(document)
        files[name] = json.dumps(document).encode()

    return change


def part(document: dict[str, object], *path: str) -> dict[str, object]:
    for key in path:
        inner = document[key]
        assert isinstance(inner, dict)
        document = inner
    return document


def means(edit: Callable[[dict[str, object]], object]) -> Change:
    return change_json("quality_means.json", lambda document: edit(part(document, "quality_means")))


def metadata(value: object, *path: str) -> Change:
    def edit(document: dict[str, object]) -> None:
        part(document, *path[:-1])[path[-1]] = value

    return change_json("metadata.yaml", edit)


def header(magic: bytes = b"PMC1", version: int = 1, count: int = 3, width: int = 0) -> Change:
    def change(files: Files) -> None:
        packed = struct.pack("<4sIII", magic, version, count, width or tiny.DIMENSIONS)
        files["centroids.bin"] = packed + files["centroids.bin"][16:]

    return change


def array(name: str, values: np.ndarray) -> Change:
    return lambda files: files.update({name: tiny.as_array(values)})


def registry(entries: object) -> Change:
    return change_json("model_registry.json", lambda d: d.update(deployed_models=entries))


NO_NAME = [{"model": "small", "provider": "acme", "bench_column": ""}]
KNOBS = ("training", "default_routing_knobs")
DAMAGES: dict[str, tuple[str, Change]] = {
    "wrong magic": ("centroids.bin", header(magic=b"XXXX")),
    "wrong number of the format": ("centroids.bin", header(version=2)),
    "no cluster": ("centroids.bin", header(count=0)),
    "one cluster too many": ("centroids.bin", header(count=4)),
    "no dimension": ("centroids.bin", lambda f: f.update({"centroids.bin": b"PMC1" + bytes(12)})),
    "cut short": ("centroids.bin", lambda f: f.update({"centroids.bin": f["centroids.bin"][:-1]})),
    "only half a header": ("centroids.bin", lambda f: f.update({"centroids.bin": b"PMC1"})),
    "rows that are not unit": (
        "centroids.bin",
        lambda f: f.update({"centroids.bin": f["centroids.bin"][:-4] + struct.pack("<f", 9.0)}),
    ),
    "NaN in a centroid": (
        "centroids.bin",
        lambda f: f.update(
            {"centroids.bin": f["centroids.bin"][:-4] + struct.pack("<f", float("nan"))}
        ),
    ),
    "a cluster that is no number": ("quality_means.json", means(lambda m: m.update({"12abc": {}}))),
    "a cluster beyond the last": ("quality_means.json", means(lambda m: m.update({"3": m["0"]}))),
    "an empty cluster": ("quality_means.json", means(lambda m: m.update({"1": {}}))),
    "a cluster without a row": ("quality_means.json", means(lambda m: m.pop("1"))),
    "a model without a cell": (
        "quality_means.json",
        means(lambda m: m.update({"1": {"small": 0.5}})),
    ),
    "NaN in a cell": (
        "quality_means.json",
        lambda f: f.update(
            {"quality_means.json": f["quality_means.json"].replace(b"0.9}", b"NaN}")}
        ),
    ),
    "an infinite cell": (
        "quality_means.json",
        means(lambda m: m.update({"1": {"small": 10**400, "large": 1}})),
    ),
    "too deep a JSON": (
        "quality_means.json",
        lambda f: f.update({"quality_means.json": b"[" * 200_000}),
    ),
    "no JSON": ("quality_means.json", lambda f: f.update({"quality_means.json": b"{"})),
    "no models": ("model_registry.json", registry([])),
    "an entry without a name": ("model_registry.json", registry(NO_NAME)),
    "a model without axes": (
        "model_axes.json",
        change_json("model_axes.json", lambda d: part(d, "axes").pop("large")),
    ),
    "a text as a speed": (
        "model_axes.json",
        change_json("model_axes.json", lambda d: part(d, "axes", "large").update(tps="fast")),
    ),
    "a probe per cluster too few": (
        "model_features.json",
        lambda f: f.update(
            {
                "model_features.json": tiny.as_json(
                    {n: {"psi_probe": [0.5, 0.5], "operational": {}} for n in tiny.MODELS}
                )
            }
        ),
    ),
    "another dimension than declared": (
        "metadata.yaml",
        metadata(tiny.DIMENSIONS - 1, "embedder", "embed_dim"),
    ),
    "another embedder of the same dimension": (
        "metadata.yaml",
        metadata("other", "embedder", "model"),
    ),
    "no embedder named": ("metadata.yaml", metadata({}, "embedder")),
    "a probe that comes out otherwise": (
        "metadata.yaml",
        metadata("prove the theorem", "embedder", "probe", "text"),
    ),
    "more nearest clusters than clusters": ("metadata.yaml", metadata(4, "training", "top_p")),
    "fewer clusters than the usual nearest four": (
        "metadata.yaml",
        change_json("metadata.yaml", lambda d: part(d, "training").pop("top_p")),
    ),
    "an alpha of another length": ("metadata.yaml", metadata([0.5], *KNOBS, "alpha")),
    "an alpha floor of another length": ("metadata.yaml", metadata([0.5], *KNOBS, "alpha_floor")),
    "an alpha floor below 0": ("metadata.yaml", metadata([0.5, -0.1, 0], *KNOBS, "alpha_floor")),
    "an alpha floor above 1": ("metadata.yaml", metadata([0.5, 1.1, 0], *KNOBS, "alpha_floor")),
    "alpha and speed above 1": ("metadata.yaml", metadata(0.9, *KNOBS, "speed_weight")),
    "an unknown weighting": ("metadata.yaml", metadata("best", "training", "weighting")),
    "a temperature of 0": ("metadata.yaml", metadata(0, "training", "temperature")),
    "an unknown cost": ("metadata.yaml", metadata("free", "training", "cost")),
    "a verbosity that is no switch": (
        "metadata.yaml",
        metadata("yes", *KNOBS, "per_model_verbosity"),
    ),
    "a curve that turns better into worse": ("metadata.yaml", metadata(-0.5, "curve", "scale")),
    "a flat curve": ("metadata.yaml", metadata(0, "curve", "slope")),
    "a curve that lacks a model": ("metadata.yaml", metadata({"small": 1}, "curve", "skills")),
    "a head of another shape": ("linear.npy", array("linear.npy", np.zeros((3, 2), np.float32))),
    "a head of another type": (
        "linear.npy",
        array("linear.npy", np.zeros((tiny.DIMENSIONS + 1, 2))),
    ),
    "an infinite head": (
        "linear.npy",
        array("linear.npy", np.full((tiny.DIMENSIONS + 1, 2), np.inf, np.float32)),
    ),
    "regions of another dimension": (
        "regions.bin",
        lambda f: f.update({"regions.bin": encode_centroids(np.eye(tiny.DIMENSIONS - 1)[:2])}),
    ),
    "a region without weights": (
        "linear.npy",
        lambda f: f.update({"regions.bin": encode_centroids(tiny.centroids())}),
    ),
    "regions that are not unit": (
        "regions.bin",
        lambda f: f.update({"regions.bin": encode_centroids(2 * tiny.centroids()[:2])}),
    ),
    "weights by region without regions": ("linear.npy", lambda f: f.pop("regions.bin")),
    "no array": ("vectors.npy", lambda f: f.update({"vectors.npy": b"PK"})),
    "pickled objects": (
        "vectors.npy",
        lambda f: f.update({"vectors.npy": b"\x80\x04N."}),
    ),
    "deviations of 0": ("surface.npy", array("surface.npy", np.zeros((2, 47)))),
    "deviations below 0": ("surface.npy", array("surface.npy", np.full((2, 47), -1.0))),
    "no tokenizer": ("tokenizer.json", lambda f: f.update({"tokenizer.json": b"{}"})),
    "pieces that are numbered beyond the tables": (
        "tokenizer.json",
        change_json("tokenizer.json", lambda d: part(d, "model", "vocab").update(two=99)),
    ),
    "word-piece weights without idf": ("piece_idf.npy", lambda f: f.pop("piece_idf.npy")),
}


@pytest.mark.spec("SCO-13", "SCO-14", "SCO-15", "SCO-10", "SCO-7", "SCO-18")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_bundle_is_refused_by_version_and_file(damage: str, tmp_path: Path) -> None:
    file, change = DAMAGES[damage]
    files = tiny.with_regions(tiny.members())
    change(files)
    with pytest.raises(BundleError) as caught:
        load(tiny.write(tmp_path, files))
    assert caught.value.file == file
    assert f"artifact '{tiny.VERSION}', {file}: " in str(caught.value)


@pytest.mark.spec("SCO-16")
def test_a_file_that_changed_after_it_was_listed_is_refused(tmp_path: Path) -> None:
    files = tiny.members()
    listing = tiny.manifest(files)
    files["model_axes.json"] += b" "
    with pytest.raises(BundleError, match=r"model_axes\.json: has another SHA-256"):
        load(tiny.write(tmp_path, files, listing))


def test_files_that_are_missing_or_not_listed_are_refused(tmp_path: Path) -> None:
    files = tiny.members()
    listing = tiny.manifest(files)
    tiny.write(tmp_path / "more", {**files, "stray.txt": b""}, listing)
    with pytest.raises(BundleError, match=r"stray\.txt: is not in the manifest"):
        load(tmp_path / "more")
    del files["model_axes.json"]
    with pytest.raises(BundleError, match=r"model_axes\.json: is missing"):
        load(tiny.write(tmp_path / "less", files, listing))


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    files = {**tiny.members(), "large.bin": bytes(MAX_MEMBER_BYTES + 1)}
    with pytest.raises(BundleError, match=r"large\.bin: is larger than 4194304 bytes"):
        load(tiny.write(tmp_path, files))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"format": 1}, "format must be 2"),
        ({"version": "other"}, "version must be the name of the folder"),
        ({"members": []}, "members must be an object"),
    ],
)
def test_a_manifest_of_something_else_is_refused(
    changes: dict[str, object], fault: str, tmp_path: Path
) -> None:
    files = tiny.members()
    tiny.write(tmp_path, files, tiny.manifest(files, **changes))
    with pytest.raises(BundleError, match=rf"manifest\.json: {fault}"):
        load(tmp_path)


@pytest.mark.parametrize("said", ["", "  \n", "latest", "../elsewhere", ".hidden", "absent"])
def test_latest_must_name_a_bundle(said: str, tmp_path: Path) -> None:
    tiny.write(tmp_path, tiny.members())
    (tmp_path / "latest").write_text(said)
    with pytest.raises(BundleError):
        load(tmp_path)


def test_a_folder_without_latest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot be read"):
        load(tmp_path)


@pytest.mark.spec("SCO-15")
def test_a_plain_cluster_bundle_loads_with_the_default_knobs(tmp_path: Path) -> None:
    files = tiny.members(has_risk=False)
    metadata({}, *KNOBS)(files)
    artifact = load(tiny.write(tmp_path, files)).artifact
    assert artifact.knobs.alpha == (0.53, 0.53, 0.53)
    assert (artifact.knobs.speed_weight, artifact.knobs.expected_output_tokens) == (0.0, 2_000)
    assert not artifact.has_risk
    assert (artifact.linear, artifact.pieces) == (None, None)


def test_measured_features_override_table_and_axes(tmp_path: Path) -> None:
    files = tiny.members()
    files["model_features.json"] = tiny.as_json(
        {
            name: {"psi_probe": [0.1, 0.2, quality], "operational": {"tps": 7}}
            for name, quality in zip(tiny.MODELS, (0.3, 0.4), strict=True)
        }
    )
    artifact = load(tiny.write(tmp_path, files)).artifact
    assert artifact.clusters.quality.tolist() == [[0.1, 0.1], [0.2, 0.2], [0.3, 0.4]]
    assert artifact.axes["small"].tokens_per_s == 7


def test_a_model_that_is_listed_twice_is_one(tmp_path: Path) -> None:
    files = tiny.members()
    small, large = ({"model": m, "provider": "acme", "bench_column": m} for m in tiny.MODELS)
    registry([small, {**large, "provider": "elsewhere"}, large])(files)
    assert load(tiny.write(tmp_path, files)).artifact.measured == tiny.MODELS


def test_means_are_those_that_are_stated_else_those_of_the_clusters(tmp_path: Path) -> None:
    files = tiny.members()
    plain = load(tiny.write(tmp_path / "a", files)).artifact
    assert plain.means == pytest.approx(plain.clusters.quality.mean(axis=0))
    stated = {"small": 0.25, "large": 0.75}
    change_json("quality_means.json", lambda document: document.update(model_means=stated))(files)
    assert load(tiny.write(tmp_path / "b", files)).artifact.means.tolist() == [0.25, 0.75]


def test_a_models_name_means_itself_though_it_stands_in_for_another(tmp_path: Path) -> None:
    files = tiny.members()
    entry = {"provider": "acme", "bench_column": "large"}
    registry([{"model": "small", **entry}, {"model": "large", **entry}])(files)
    assert load(tiny.write(tmp_path, files)).artifact.aliases == {"small": 0, "large": 1}


@pytest.mark.spec("SCO-16")
def test_the_digest_covers_every_file(tmp_path: Path) -> None:
    first = load(tiny.write(tmp_path / "a", tiny.members())).artifact
    again = load(tiny.write(tmp_path / "b", tiny.members())).artifact
    other = load(tiny.write(tmp_path / "c", tiny.with_heads(tiny.members()))).artifact
    assert first.digest == again.digest != other.digest
    assert first.version == tiny.VERSION


def test_a_linear_head_may_differ_by_region(tmp_path: Path) -> None:
    artifact = load(tiny.write(tmp_path, tiny.with_regions(tiny.members()))).artifact
    assert artifact.linear is not None
    found = [
        linear_quality(artifact.linear, tiny.embedder().embed(text), is_far=is_far).tolist()
        for text, is_far in (
            ("prove the theorem", False),
            ("sum of two numbers", False),
            ("sum of two numbers", True),
        )
    ]
    assert found == [pytest.approx(row) for row in ((0.1, 0.9), (0.2, 0.7), (0.4, 0.8))]


FILES = sorted(tiny.with_regions(tiny.members()))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(FILES), st.data())
def test_whatever_a_file_holds_the_bundle_loads_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    files = tiny.with_regions(tiny.members())
    content = files[name]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 8, len(content))))
    files[name] = content[:start] + data.draw(st.binary(max_size=8)) + content[end:]
    with contextlib.suppress(BundleError):
        load(tiny.write(tmp_path_factory.mktemp("bundle"), files))
