"""Makes, judges and shows scoring artifacts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable

scorer = typer.Typer(help="Train, judge and look at scoring artifacts.")

Files = Annotated[list[Path], typer.Option(help="Outcome table; parts of one are read as one.")]
HeldOut = Annotated[list[Path] | None, typer.Option(help="Table that is only judged on.")]
Embedder = Annotated[Path, typer.Option(help="Folder with an embedder, such as a bundle's.")]
Anchors = Annotated[list[str] | None, typer.Option(help="MODEL=SKILL, twice, the weaker first.")]
Against = Annotated[
    Path | None, typer.Option(help="Earlier bundle's folder, to be set against on held-out rows.")
]
Encoder = Annotated[
    Path | None, typer.Option(help="Sentence encoder, ONNX, to embed with instead of tables.")
]
Apart = Annotated[
    list[Path] | None,
    typer.Option(help="Table judged by itself, by its column split; a folder's files are one."),
]
Twins = Annotated[
    list[str] | None, typer.Option(help="NAME=MODEL: a measured model's name in a table apart.")
]
Search = Annotated[
    bool, typer.Option("--search", help="Try settings on inner folds; tell what was tried.")
]
Internal = Annotated[bool, typer.Option("--internal", help="Accept tables without a licence.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@scorer.command()
def distil(
    model: Annotated[Path, typer.Option(help="Sentence encoder, ONNX.")],
    tokenizer: Annotated[Path, typer.Option(help="Its tokenizer.json.")],
    texts: Files,
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    held_out: HeldOut = None,
) -> None:
    """Make a static embedder of a sentence encoder; the texts shape its projection."""
    from services.cli.train_scorer import work

    work.distil(model, tokenizer, texts, held_out or [], out, _progress("pieces"))


@scorer.command()
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
    against: Against = None,
    encoder: Encoder = None,
    seed: int = 0,
    *,
    internal: Internal = False,
) -> None:
    """Judge a recipe on rows that it does not learn from, then write its bundle and card."""
    from services.cli.train_scorer import work

    recipe = work.recipe(
        outcomes,
        held_out or [],
        embedder,
        anchor or [],
        version=version,
        as_of=as_of,
        remark=remark,
        notice=notice,
        seed=seed,
        is_internal=internal,
        against=against,
        encoder=encoder,
    )
    print(work.train(recipe, out, _progress("texts")))


@scorer.command()
def evaluate(
    outcomes: Files,
    embedder: Embedder,
    held_out: HeldOut = None,
    anchor: Anchors = None,
    against: Against = None,
    encoder: Encoder = None,
    apart: Apart = None,
    twin: Twins = None,
    out: Annotated[Path | None, typer.Option(help="Folder for report, figures and plots.")] = None,
    seed: int = 0,
    *,
    search: Search = False,
    internal: Internal = False,
    json: AsJson = False,
) -> None:
    """Print the held-out figures of a recipe; fails where it is worse than an earlier bundle."""
    from services.cli.train_scorer import work

    recipe = work.recipe(
        outcomes,
        held_out or [],
        embedder,
        anchor or [],
        seed=seed,
        is_internal=internal,
        against=against,
        encoder=encoder,
        apart=apart or [],
        twins=twin or [],
        is_searching=search,
    )
    account = work.evaluate(recipe, _progress("texts"))
    if out is not None:
        work.write(account, out)
    if json:
        output.as_json_text(work.figures(account))
    else:
        print("\n".join(work.report(account)))
    if any(change.is_worse for change in account.changes):
        raise typer.Exit(1)


@scorer.command()
def inspect(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of bundles; none: what ships with the product.")
    ] = None,
    version: Annotated[str, typer.Option(help="Empty: the latest.")] = "",
    encoder: Encoder = None,
    *,
    json: AsJson = False,
) -> None:
    """Load a bundle as serving does, and print what it is and what a decision costs."""
    from services.cli.train_scorer import work

    output.facts(work.inspect(folder, version, encoder), as_json=json)


def _progress(what: str) -> Callable[[int, int], None]:
    """Return a reporter that writes a line for every tenth of the work."""

    def tell(done: int, total: int) -> None:
        if done * 10 // total > (done - 1) * 10 // total:
            sys.stderr.write(f"{what}: {done} of {total}\n")

    return tell
