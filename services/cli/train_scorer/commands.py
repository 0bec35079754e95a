"""Commands about scoring artifacts: distil an embedder, train, evaluate, inspect."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from tokenizers import Tokenizer

from services.cli.train_scorer import training
from services.cli.train_scorer.card import report
from services.cli.train_scorer.curves import Anchor
from services.cli.train_scorer.distilling import open_encoder, piece_vectors
from services.cli.train_scorer.projection import project
from services.cli.train_scorer.tables import TableError, read_tables, stems_of
from services.cli.train_scorer.writing import embedder_members
from services.scorer.adapters.bundle.loading import load
from services.scorer.model.fault import BundleError
from services.scorer.policy.heads import predict

app = typer.Typer(help="Train, judge and look at scoring artifacts.", add_completion=False)

Files = Annotated[list[Path], typer.Option(help="Outcome table; parts of one are read as one.")]
HeldOut = Annotated[list[Path] | None, typer.Option(help="Table that is only judged on.")]
Embedder = Annotated[Path, typer.Option(help="Folder with an embedder, such as a bundle's.")]
Anchors = Annotated[list[str] | None, typer.Option(help="MODEL=SKILL, twice, the weaker first.")]
Internal = Annotated[bool, typer.Option("--internal", help="Accept tables without a licence.")]

EXIT_FAILED = 1
EXIT_USAGE = 2
_TIMED = 2_000
_ANCHORS = 2


@app.command()
def distil(
    model: Annotated[Path, typer.Option(help="Sentence encoder, ONNX.")],
    tokenizer: Annotated[Path, typer.Option(help="Its tokenizer.json.")],
    texts: Files,
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    held_out: HeldOut = None,
) -> None:
    """Make a static embedder of an encoder; ``texts`` shape its projection."""
    try:
        tables, held = read_tables(texts), read_tables(held_out or [])
        pruned, vectors = piece_vectors(
            open_encoder(model), tokenizer.read_text(encoding="utf-8"), _progress("pieces")
        )
    except ModuleNotFoundError as error:
        raise _failure(f"{error.name} is not installed; it is needed to distil") from None
    except (TableError, OSError) as error:
        raise _failure(str(error)) from None
    prompts = [prompt for table in tables for prompt in table.prompts]
    questions = [q for table in (*tables, *held) for q in table.questions]
    stems = stems_of(questions)
    refused = set(stems[len(prompts) :])
    kept = [text for text, stem in zip(prompts, stems, strict=False) if stem not in refused]
    packed = project(vectors, Tokenizer.from_str(pruned), kept)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in embedder_members(pruned, packed).items():
        (out / name).write_bytes(content)


@app.command()
def train(
    outcomes: Files,
    embedder: Embedder,
    version: Annotated[str, typer.Option(help="Name of the bundle.")],
    as_of: Annotated[str, typer.Option(help="Date on the card.")],
    out: Annotated[Path, typer.Option(help="Folder of bundles.")],
    held_out: HeldOut = None,
    anchor: Anchors = None,
    notice: Annotated[Path | None, typer.Option(help="Notices to enclose.")] = None,
    remark: Annotated[str, typer.Option(help="Sentence for the card.")] = "",
    seed: int = 0,
    *,
    internal: Internal = False,
) -> None:
    """Judge a recipe on rows that it does not learn from, then write its bundle and card."""
    recipe = training.Recipe(
        outcomes=tuple(outcomes),
        held_out=tuple(held_out or ()),
        embedder=embedder,
        notice=notice,
        version=version,
        as_of=as_of,
        remark=remark,
        anchors=_anchors(anchor),
        seed=seed,
        is_internal=internal,
    )
    try:
        material = training.read_material(recipe, _progress("texts"))
        judged = training.judge(material, recipe)
        place = training.train(material, recipe, judged, out)
    except (TableError, ValueError, OSError) as error:
        raise _failure(str(error)) from None
    print((place / training.CARD).read_text(encoding="utf-8"))


@app.command()
def evaluate(
    outcomes: Files,
    embedder: Embedder,
    held_out: HeldOut = None,
    anchor: Anchors = None,
    seed: int = 0,
    *,
    internal: Internal = False,
) -> None:
    """Print the held-out figures of a recipe and write nothing."""
    recipe = training.Recipe(
        outcomes=tuple(outcomes),
        held_out=tuple(held_out or ()),
        embedder=embedder,
        notice=None,
        version="unnamed",
        as_of="",
        remark="",
        anchors=_anchors(anchor),
        seed=seed,
        is_internal=internal,
    )
    try:
        material = training.read_material(recipe, _progress("texts"))
        account = training.account(material, recipe, training.judge(material, recipe))
    except (TableError, ValueError, OSError) as error:
        raise _failure(str(error)) from None
    print("\n".join(report(account)))


@app.command()
def inspect(
    folder: Annotated[Path, typer.Argument(help="Folder of bundles.")],
    version: Annotated[str, typer.Option(help="Empty: the latest.")] = "",
) -> None:
    """Load a bundle as serving does, and print what it is and what a decision costs."""
    began = time.perf_counter()
    try:
        loaded = load(folder, version)
    except BundleError as error:
        raise _failure(str(error)) from None
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
        for turn in range(_TIMED):
            text = _sample(size, turn)
            began = time.perf_counter()
            predict(artifact, loaded.embedder.embed(text))
            taken_ms.append(1_000 * (time.perf_counter() - began))
        p50, p99 = np.quantile(taken_ms, [0.5, 0.99])
        facts[f"decision_{size}_bytes_ms"] = {"p50": round(p50, 3), "p99": round(p99, 3)}
    print(json.dumps(facts, indent=2))


def _sample(size: int, turn: int) -> str:
    words = f"Case {turn}: compute the total of {turn * 7} invoices and explain each step, please. "
    return (words * (size // len(words) + 1))[:size]


def _anchors(pairs: list[str] | None) -> tuple[Anchor, Anchor] | None:
    if not pairs:
        return None
    try:
        found = [Anchor(name, float(skill)) for name, _, skill in (p.partition("=") for p in pairs)]
    except ValueError:
        found = []
    if len(found) != _ANCHORS or not found[0].skill < found[1].skill:
        raise _failure("--anchor: give MODEL=SKILL twice, the weaker first", EXIT_USAGE)
    return found[0], found[1]


def _failure(message: str, code: int = EXIT_FAILED) -> typer.Exit:
    sys.stderr.write(f"error: {message}\n")
    return typer.Exit(code)


def _progress(what: str) -> Callable[[int, int], None]:
    """Return a reporter that writes a line for every tenth of the work."""

    def tell(done: int, total: int) -> None:
        if done * 10 // total > (done - 1) * 10 // total:
            sys.stderr.write(f"{what}: {done} of {total}\n")

    return tell
