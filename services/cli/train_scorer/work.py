"""What the commands about scoring artifacts do; whatever goes wrong is one line."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from services.cli.train_scorer import training
from services.cli.train_scorer.apart import judge_apart, judge_transfer, read_alone
from services.cli.train_scorer.card import Account, report
from services.cli.train_scorer.curves import Anchor
from services.cli.train_scorer.distilling import open_encoder, piece_vectors
from services.cli.train_scorer.projection import project
from services.cli.train_scorer.reporting import figures, write_report
from services.cli.train_scorer.searching import search
from services.cli.train_scorer.tables import (
    TableError,
    read_folders,
    read_tables,
    stems_of,
)
from services.cli.train_scorer.training import Material, Recipe
from services.cli.train_scorer.writing import embedder_members, place_of
from services.runtime.launch import StartError
from services.runtime.sources import ConfigError
from services.scorer.adapters.bundle.loading import load
from services.scorer.build import shipped
from services.scorer.model.fault import BundleError
from services.scorer.policy.heads import predict

__all__ = [
    "distil",
    "evaluate",
    "figures",
    "inspect",
    "recipe",
    "report",
    "train",
    "write",
]

Progress = Callable[[int, int], None]
_TIMED = 2_000
_TIMED_SLOW = 50
_ANCHORS = 2


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """Turn faults of files and tables into a line for the operator.

    Raises:
        StartError: something in the block cannot be done.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise StartError(f"{error.name} is not installed; it is needed to distil") from None
    except (TableError, BundleError, ValueError, OSError) as error:
        raise StartError(str(error)) from None


def distil(
    model: Path,
    tokenizer: Path,
    texts: Sequence[Path],
    held_out: Sequence[Path],
    out: Path,
    progress: Progress,
) -> None:
    """Write the static embedder of an encoder; texts of held-out questions shape nothing.

    Raises:
        StartError: a file cannot be used, or the encoder's runtime is not installed.
    """
    with one_line():
        tables, held = read_tables(texts), read_tables(held_out)
        encoder, source = open_encoder(model), tokenizer.read_text(encoding="utf-8")
        pruned, vectors = piece_vectors(encoder, source, progress)
        prompts = [prompt for table in tables for prompt in table.prompts]
        stems = stems_of([q for table in (*tables, *held) for q in table.questions])
        refused = set(stems[len(prompts) :])
        kept = [text for text, stem in zip(prompts, stems, strict=False) if stem not in refused]
        packed = project(vectors, Tokenizer.from_str(pruned), kept)
        out.mkdir(parents=True, exist_ok=True)
        for name, content in embedder_members(pruned, packed).items():
            (out / name).write_bytes(content)


def recipe(
    outcomes: Sequence[Path],
    held_out: Sequence[Path],
    embedder: Path,
    anchors: Sequence[str],
    *,
    version: str = "unnamed",
    as_of: str = "",
    remark: str = "",
    notice: Path | None = None,
    seed: int = 0,
    is_internal: bool = False,
    against: Path | None = None,
    encoder: Path | None = None,
    apart: Sequence[Path] = (),
    twins: Sequence[str] = (),
    is_searching: bool = False,
) -> Recipe:
    """Return the recipe that a command line describes.

    Raises:
        ConfigError: the anchors are not two skills that grow, or there is nothing to set an
            earlier bundle against.
    """
    if against is not None and not held_out:
        raise ConfigError("--against: needs a --held-out table, which neither learnt from")
    return Recipe(
        outcomes=tuple(outcomes),
        held_out=tuple(held_out),
        embedder=embedder,
        notice=notice,
        version=version,
        as_of=as_of,
        remark=remark,
        anchors=_anchors(anchors),
        seed=seed,
        is_internal=is_internal,
        against=against,
        encoder=encoder,
        apart=tuple(apart),
        twins=_twins(twins),
        is_searching=is_searching,
    )


def train(asked: Recipe, out: Path, progress: Progress) -> str:
    """Write the bundle of a recipe and return its card.

    Raises:
        StartError: a table or file cannot be used, or the folder cannot be written.
    """
    with one_line():
        place_of(out, asked.version)
        material = training.read_material(asked, progress)
        place = training.train(material, asked, training.judge(material, asked), out)
        return (place / training.CARD).read_text(encoding="utf-8")


def evaluate(asked: Recipe, progress: Progress) -> Account:
    """Return what a card would tell about a recipe; nothing is written.

    Raises:
        StartError: a table or file cannot be used.
    """
    with one_line():
        material = training.read_material(asked, progress)
        told = training.account(material, asked, training.judge(material, asked))
        told = _with_apart(told, material, asked)
        return _with_trials(told, material, asked, progress) if asked.is_searching else told


def _with_apart(told: Account, material: Material, asked: Recipe) -> Account:
    """Return an account that tells of the tables that are judged by themselves, too."""
    embedder, seed = material.embedder.embedder, asked.seed
    alone = [read_alone(table, embedder) for table in read_folders(asked.apart)]
    transfers = (
        judge_transfer(material.corpus, table, each, asked.twins, embedder.vocabulary, seed)
        for each in alone
        for table in material.learnt
    )
    return replace(
        told,
        across=(*told.across, *(figures for figures in transfers if figures is not None)),
        apart=tuple(judge_apart(each, embedder.vocabulary, seed) for each in alone),
    )


def _with_trials(told: Account, material: Material, asked: Recipe, progress: Progress) -> Account:
    names = [table.name for table in material.learnt]
    vocabulary = material.embedder.embedder.vocabulary
    found = search(material.corpus, material.rows, names, vocabulary, asked.seed, progress)
    return replace(told, searched=found)


def write(account: Account, folder: Path) -> None:
    """Write the report of an account to a folder.

    Raises:
        StartError: the folder cannot be written.
    """
    with one_line():
        write_report(account, folder)


def inspect(folder: Path | None, version: str, encoder: Path | None = None) -> dict[str, object]:
    """Return what a bundle is and what a prediction with it costs.

    Raises:
        StartError: the bundle is refused.
    """
    began = time.perf_counter()
    with one_line():
        loaded = load(shipped() if folder is None else folder, version, encoder)
    artifact, load_s = loaded.artifact, time.perf_counter() - began
    facts: dict[str, object] = {
        "version": artifact.version,
        "digest": artifact.digest,
        "embedder": artifact.embedder.name,
        "clusters": artifact.clusters.count,
        "measured": list(artifact.measured),
        "has_risk": artifact.has_risk,
        "is_internal": artifact.is_internal,
        "load_seconds": round(load_s, 3),
    }
    for size in (256, 1_024):
        taken_ms = []
        for turn in range(_TIMED_SLOW if loaded.embedder.is_slow else _TIMED):
            text = _sample(size, turn)
            began = time.perf_counter()
            predict(artifact, loaded.embedder.embed(text))
            taken_ms.append(1_000 * (time.perf_counter() - began))
        p50, p99 = np.quantile(taken_ms, [0.5, 0.99])
        facts[f"prediction_ms_p50_{size}_bytes"] = round(float(p50), 3)
        facts[f"prediction_ms_p99_{size}_bytes"] = round(float(p99), 3)
    return facts


def _sample(size: int, turn: int) -> str:
    words = f"Case {turn}: compute the total of {turn * 7} invoices and explain each step, please. "
    return (words * (size // len(words) + 1))[:size]


def _twins(pairs: Sequence[str]) -> Mapping[str, str]:
    found = {name: model for name, _, model in (pair.rpartition("=") for pair in pairs)}
    if "" in (*found, *found.values()):
        raise ConfigError("--twin: give NAME=MODEL, its name in a table judged apart first")
    return found


def _anchors(pairs: Sequence[str]) -> tuple[Anchor, Anchor] | None:
    if not pairs:
        return None
    try:
        found = [Anchor(name, float(skill)) for name, _, skill in (p.partition("=") for p in pairs)]
    except ValueError:
        found = []
    if len(found) != _ANCHORS or not found[0].skill < found[1].skill:
        raise ConfigError("--anchor: give MODEL=SKILL twice, the weaker first")
    return found[0], found[1]
