"""The way from outcome tables to a bundle: refuse, fold, judge, fit, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from services.cli.train_scorer.across import across, left_out
from services.cli.train_scorer.card import Account, card
from services.cli.train_scorer.comparing import Change, change_on
from services.cli.train_scorer.corpus import Corpus, gather
from services.cli.train_scorer.curves import Anchor, fit_curve
from services.cli.train_scorer.fitting import CLUSTERS, fit_heads
from services.cli.train_scorer.judging import (
    PAIR,
    PairFigures,
    PickFigures,
    RiskFigures,
    judge_pair,
    judge_pick,
    judge_risk,
    measured_columns,
    out_of_fold,
    qualities,
    whole_rows,
    without_questions,
)
from services.cli.train_scorer.projection import MAX_BYTES
from services.cli.train_scorer.spending import CostFigures, judge_spending
from services.cli.train_scorer.tables import FOLDS, Table, TableError, read_tables
from services.cli.train_scorer.texts import overlaps, text_figures
from services.cli.train_scorer.writing import (
    EmbedderFiles,
    Fitted,
    members_of,
    read_embedder,
    write_bundle,
)
from services.scorer.adapters.bundle.loading import load
from services.scorer.model.artifact import Floats, Indices

CARD = "MODEL_CARD.md"
NOTICE = "NOTICE"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is trained from what. Equal recipes and files give equal bytes."""

    outcomes: tuple[Path, ...]
    held_out: tuple[Path, ...]
    embedder: Path
    notice: Path | None
    version: str
    as_of: str
    remark: str
    """Sentence for the card."""
    anchors: tuple[Anchor, Anchor] | None
    seed: int = 0
    is_internal: bool = False
    against: Path | None = None
    """Folder of an earlier bundle that the recipe is set against on held-out tables."""
    encoder: Path | None = None
    """Sentence encoder to embed with; None: the tables of the embedder's folder."""
    apart: tuple[Path, ...] = ()
    """Tables that are judged by themselves, in a report only; a folder's files are one table."""
    twins: Mapping[str, str] = field(default_factory=dict)
    """Measured model of the learnt tables by the name that a table judged apart has for it."""
    is_searching: bool = False
    """Whether settings are tried on inner folds, in a report only."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Held-out figures of a recipe, and out-of-fold qualities of its training rows."""

    pairs: tuple[PairFigures, ...]
    picks: tuple[PickFigures, ...]
    across: tuple[PairFigures, ...]
    """Pair tables judged by heads that saw none of a prompt's group, or only another table."""
    risk: RiskFigures
    changes: tuple[Change, ...]
    spending: tuple[CostFigures, ...]
    quality: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Everything read and embedded."""

    learnt: tuple[Table, ...]
    held_out: tuple[Table, ...]
    corpus: Corpus
    embedder: EmbedderFiles

    @property
    def rows(self) -> Indices:
        """The rows to learn from: none whose question stands in a held-out table."""
        names = {table.name for table in self.learnt}
        rows = np.array([i for i, t in enumerate(self.corpus.tables) if t in names], dtype=np.int64)
        return without_questions(self.corpus, rows, self.held_rows)

    @property
    def held_rows(self) -> Indices:
        """The rows of the held-out tables."""
        names = {table.name for table in self.held_out}
        return np.array([i for i, t in enumerate(self.corpus.tables) if t in names], dtype=np.int64)


def read_material(recipe: Recipe, progress: Callable[[int, int], None]) -> Material:
    """Return the tables of a recipe, embedded.

    Raises:
        TableError: a table cannot be used, or states no licence and the run is not internal; or
            there are too few prompts, or none measured an anchor.
        OSError: the embedder cannot be read.
    """
    learnt, held_out = read_tables(recipe.outcomes), read_tables(recipe.held_out)
    for table in learnt:
        if not table.licence and not recipe.is_internal:
            fix = "state it in a `Licence:` line of the README beside it, or train --internal"
            raise TableError(f"{table.name}: has no licence; {fix}")
    embedder = read_embedder(recipe.embedder, MAX_BYTES, recipe.encoder)
    corpus = gather((*learnt, *held_out), embedder.embedder, progress)
    material = Material(learnt, held_out, corpus, embedder)
    _refuse_too_little(material, recipe)
    return material


def _refuse_too_little(material: Material, recipe: Recipe) -> None:
    corpus, rows = material.corpus, material.rows
    for fold in range(FOLDS):
        is_held = corpus.folds[rows] == fold
        left = without_questions(corpus, rows[~is_held], rows[is_held])
        count, columns = len(left), measured_columns(corpus, left)
        if count < CLUSTERS:
            raise TableError(f"{count} prompts are left beside fold {fold}; {CLUSTERS} are needed")
        for m in set(range(len(corpus.models))).difference(columns):
            fix = "measure more, or leave its column out"
            raise TableError(f"{corpus.models[m]}: has no outcome beside fold {fold}; {fix}")
    measured = {model for table in material.learnt for model in table.models}
    for anchor in recipe.anchors or ():
        if anchor.model not in measured:
            known = ", ".join(sorted(measured))
            raise TableError(f"--anchor {anchor.model}: no table measured it; they have {known}")


def judge(material: Material, recipe: Recipe) -> Judged:
    """Return held-out figures: folds of the training tables, whole held-out tables, across sets."""
    corpus, seed = material.corpus, recipe.seed
    vocabulary = material.embedder.embedder.vocabulary
    rows = material.rows
    quality = out_of_fold(corpus, rows, corpus.folds, vocabulary, seed)
    held = material.held_rows
    if held.size:
        quality[held] = qualities(corpus, held, fit_heads(corpus, rows, vocabulary, seed))
    pairs, picks, spending = [], [], []
    for table in (*material.learnt, *material.held_out):
        inside = _judged_rows(corpus, table, rows, held)
        if not inside.size:
            continue
        if len(table.models) == PAIR:
            pairs.append(judge_pair(corpus, inside, quality, seed))
        else:
            picks.append(judge_pick(corpus, inside, quality, seed))
        spent = judge_spending(corpus, inside, quality)
        if spent is not None:
            spending.append(spent)
    return Judged(
        pairs=tuple(pairs),
        picks=tuple(picks),
        across=(
            *left_out(corpus, material.learnt, vocabulary, seed),
            *across(corpus, material.learnt, vocabulary, seed),
        ),
        risk=judge_risk(corpus, rows, quality, recipe.anchors),
        changes=_changes(material, recipe, quality),
        spending=tuple(spending),
        quality=quality,
    )


def _changes(material: Material, recipe: Recipe, quality: Floats) -> tuple[Change, ...]:
    if recipe.against is None:
        return ()
    earlier = load(recipe.against.parent, recipe.against.name)
    corpus, held = material.corpus, material.held_rows
    rows_of = (np.intersect1d(corpus.rows_of(t.name), held) for t in material.held_out)
    found = [change_on(corpus, rows, quality, earlier, recipe.seed) for rows in rows_of]
    changes = tuple(change for change in found if change is not None)
    if not changes:
        raise TableError("--against: no held-out table measured two models of that bundle")
    return changes


def train(material: Material, recipe: Recipe, judged: Judged, folder: Path) -> Path:
    """Write the bundle of a recipe and return its folder.

    Raises:
        ValueError: a member is too large, the version is taken, or the anchors are reversed.
        BundleError: what was fitted cannot serve.
        OSError: the folder cannot be written.
    """
    fitted = fit(material, recipe, judged)
    licences = sorted({table.licence or "none" for table in material.learnt})
    training: dict[str, object] = {
        "release": all(table.licence for table in material.learnt),
        "licences": licences,
        "as_of": recipe.as_of,
        "seed": recipe.seed,
        "rows": len(material.rows),
        "sources": {table.name: table.digest for table in material.learnt},
    }
    members = members_of(fitted, material.embedder, MAX_BYTES, training)
    members[CARD] = card(_account(material, recipe, judged, fitted)).encode()
    if recipe.notice is not None:
        members[NOTICE] = recipe.notice.read_bytes()
    return write_bundle(folder, recipe.version, members, recipe.encoder)


def fit(material: Material, recipe: Recipe, judged: Judged) -> Fitted:
    """Return heads and curve of all training rows; the curve reads out-of-fold qualities."""
    corpus, rows = material.corpus, material.rows
    heads = fit_heads(corpus, rows, material.embedder.embedder.vocabulary, recipe.seed)
    curve = None
    if recipe.anchors is not None:
        scores = corpus.scores[rows]
        curve = fit_curve(judged.quality[rows], scores, corpus.models, *recipe.anchors)
    return Fitted(corpus.models, heads, curve)


def account(material: Material, recipe: Recipe, judged: Judged) -> Account:
    """Return everything that a card tells, without writing a bundle."""
    return _account(material, recipe, judged, fit(material, recipe, judged))


def _account(material: Material, recipe: Recipe, judged: Judged, fitted: Fitted) -> Account:
    corpus = material.corpus
    names = [table.name for table in (*material.learnt, *material.held_out)]
    return Account(
        version=recipe.version,
        as_of=recipe.as_of,
        remark=recipe.remark,
        learnt=material.learnt,
        held_out=material.held_out,
        learnt_rows=len(material.rows),
        pairs=judged.pairs,
        picks=judged.picks,
        across=judged.across,
        risk=judged.risk,
        changes=judged.changes,
        spending=judged.spending,
        texts=text_figures(
            corpus, names, fitted.heads.clusters.centroids, fitted.heads.far_similarity
        ),
        overlaps=overlaps(corpus, names),
        models=fitted.models,
        heads=fitted.heads,
        curve=fitted.curve,
        anchors=recipe.anchors,
    )


def _judged_rows(corpus: Corpus, table: Table, learnt: Indices, held: Indices) -> Indices:
    inside = set(corpus.rows_of(table.name).tolist())
    rows = np.array([i for i in (*learnt, *held) if int(i) in inside], dtype=np.int64)
    return whole_rows(corpus, rows)
