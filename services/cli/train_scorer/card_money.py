"""Writes what accuracy costs: of tables that were learnt from, and of those judged apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.cli.train_scorer.apart import ApartFigures
from services.cli.train_scorer.spending import CostFigures


def spending(tables: Sequence[CostFigures]) -> Iterator[str]:
    """Yield the lines about tables that state costs, out of fold."""
    if not tables:
        return
    yield "## Accuracy for money, rows not learnt from"
    yield ""
    yield from _table(tables)
    yield ""
    yield "USD for 1,000 prompts. Single models may be mixed by chance; the mean is over all costs,"
    yield "counted in USD and in doublings."
    yield ""


def apart(tables: Sequence[ApartFigures]) -> Iterator[str]:
    """Yield the lines about tables that were judged by themselves."""
    if not tables:
        return
    yield "## Judged apart: accuracy for money"
    yield ""
    yield "The same recipe and embedder, learnt from the train rows of the table itself and judged"
    yield "on its test rows, those with a blank cell left out. **Nothing of these tables is in the"
    yield "artifact.** What they cost is guessed from the length of the prompt alone."
    yield ""
    for figures in tables:
        count = f"{figures.learnt_rows:,} rows learnt from, `{figures.digest[:16]}`"
        if figures.licence:
            yield f"- {figures.table}: {count}, {figures.licence}."
        else:
            yield f"- {figures.table}: {count}."
            yield "  It states no licence, so it is not in the repository: **its figures cannot be"
            yield "  reproduced from there.**"
    yield ""
    yield from _table([figures.spending for figures in tables])
    yield ""
    for figures in tables:
        yield from _singles(figures.spending)


def _table(tables: Sequence[CostFigures]) -> Iterator[str]:
    yield "| Table | Rows | Over single models, points by USD / doublings | USD for 98 % of best |"
    yield "| --- | --- | --- | --- |"
    for figures in tables:
        enough = "never" if figures.enough_usd is None else f"{figures.enough_usd:.2f}"
        over = f"{100 * figures.over_hull:.2f} / {100 * figures.over_hull_log:.2f}"
        yield f"| {figures.table} | {figures.rows:,} | {over} | {enough} |"


def _singles(figures: CostFigures) -> Iterator[str]:
    yield f"| {figures.table}: always | USD for 1,000 | Accuracy | Artifact for that money |"
    yield "| --- | --- | --- | --- |"
    for model, (usd, accuracy) in sorted(figures.singles.items(), key=lambda item: item[1]):
        yield f"| {model} | {usd:.2f} | {accuracy:.3f} | {figures.accuracy_at(usd):.3f} |"
    yield ""
