"""Reads outcome tables: a prompt per row, a score per model, blank where not measured."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from services.scorer.model.artifact import Floats

Row: TypeAlias = dict[str, str]
FOLDS = 5
_PROMPT = ("prompt", "question")
_GROUP = ("subject", "eval_name", "task_split", "category")
_FLAG = "contaminated"
_YES = ("1", "1.0", "true")
_SPLIT = "split"
_SCORE = "score:"
_COST = "cost_usd:"
_NESTED = {"scores": _SCORE, "costs": _COST}
_CORRECT = re.compile(r"^(.+)_correct$")
_OPTIONS = re.compile(r"\n\s*\(?A[.):]\s")
_HEADER = re.compile(r"^\s*(?:question|q|problem|input)\s*:\s*", re.IGNORECASE)
_SOLVED = re.compile(r"\banswer:\s*\(?[A-J]\)?\s*\n\s*\n(?=\s*\S)", re.IGNORECASE)
_PLAIN = re.compile(r"[^0-9a-z]+")
_ANY_SCRIPT = re.compile(r"[\W_]+")
_PART = re.compile(r"_?part\d+$")
_LICENCE = re.compile(r"Licence:\s*([A-Za-z0-9.+-]*[A-Za-z0-9])")
_STEM_CHARACTERS = 60
_TEMPLATE = 5


class TableError(Exception):
    """An outcome table that cannot be used; the message names file, line and fix."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Prompts with the outcomes of some models; a blank outcome is NaN."""

    name: str
    licence: str
    models: tuple[str, ...]
    prompts: tuple[str, ...]
    groups: tuple[str, ...]
    scores: Floats
    dropped_rows: int
    digest: str
    """SHA-256 of the files' bytes."""
    costs: Floats | None = None
    """What each answer cost, USD; NaN where that is not said. None: no file has costs."""
    splits: tuple[str, ...] = ()
    """Which part of the table each row is said to belong to; empty where that is not said."""

    @property
    def questions(self) -> tuple[str, ...]:
        """The normalised question of each prompt, whole."""
        return tuple(map(question_of, self.prompts))


def read_tables(paths: Sequence[Path]) -> tuple[Table, ...]:
    """Return the tables of some files; the parts of one table are read as one.

    A table is named by its folder and file; its licence is the ``Licence:`` line of the README
    beside it, empty where there is none.

    Raises:
        TableError: a file cannot be used.
    """
    files: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        files[f"{path.resolve().parent.name}/{_PART.sub('', path.stem)}"].append(path)
    return tuple(
        read_table(name, tuple(parts), licence_beside(parts[0])) for name, parts in files.items()
    )


def read_folders(paths: Sequence[Path]) -> tuple[Table, ...]:
    """Return one table per folder of the files, named like it.

    Raises:
        TableError: a file cannot be used, or those of a folder have different models.
    """
    folders: dict[Path, list[Path]] = defaultdict(list)
    for path in paths:
        folders[path.resolve().parent].append(path)
    return tuple(
        read_table(folder.name, tuple(parts), licence_beside(parts[0]))
        for folder, parts in folders.items()
    )


def licence_beside(path: Path) -> str:
    """Return the licence that the README beside a file states; empty when it states none."""
    try:
        text = (path.parent / "README.md").read_text(encoding="utf-8")
    except OSError:
        return ""
    match = _LICENCE.search(text)
    return "" if match is None or match[1].upper() == "NONE" else match[1]


def read_table(name: str, paths: tuple[Path, ...], licence: str) -> Table:
    """Return the rows of all files of one table; rows flagged as contaminated are dropped.

    Raises:
        TableError: a file cannot be read, has no prompt or score column, or a score is no number.
    """
    models: tuple[str, ...] = ()
    prompts: list[str] = []
    groups: list[str] = []
    splits: list[str] = []
    scores: list[list[float]] = []
    costs: list[list[float]] = []
    dropped, digest = 0, hashlib.sha256()
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise TableError(f"{path}: {error.strerror}") from None
        digest.update(content)
        names, rows = _rows(content, path)
        columns = _columns(names, path)
        if models and tuple(columns) != models:
            raise TableError(f"{path}: has other models than the files before it")
        models = tuple(columns)
        for line, row in rows:
            if row.get(_FLAG, "").strip().lower() in _YES:
                dropped += 1
                continue
            prompts.append(_first(row, _PROMPT))
            groups.append(_first(row, _GROUP))
            splits.append(row.get(_SPLIT, ""))
            scores.append([_score(row.get(columns[model], ""), path, line) for model in models])
            costs.append([_cost(row.get(f"{_COST}{model}", ""), path, line) for model in models])
    if not prompts:
        raise TableError(f"{paths[0]}: has no prompt to learn from or to judge on")
    shape = len(prompts), len(models)
    spent = np.array(costs, dtype=np.float64).reshape(shape)
    return Table(
        name,
        licence,
        models,
        tuple(prompts),
        tuple(groups),
        np.array(scores, dtype=np.float64).reshape(shape),
        dropped,
        digest.hexdigest(),
        None if np.isnan(spent).all() else spent,
        tuple(splits),
    )


def _rows(content: bytes, path: Path) -> tuple[Sequence[str], Iterable[tuple[int, Row]]]:
    """Return the columns of a file and its rows with the line that each ends on."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TableError(f"{path}: is not UTF-8") from None
    if path.suffix == ".jsonl":
        rows = [
            (n, _flat(line, path, n)) for n, line in enumerate(text.split("\n"), 1) if line.strip()
        ]
        return tuple(dict.fromkeys(name for _, row in rows for name in row)), rows
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.DictReader(io.StringIO(text, newline=""))
    return reader.fieldnames or (), _whole(reader, path)


def _whole(reader: csv.DictReader[str], path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a CSV file with their lines; each must have a field for every column."""
    count = len(reader.fieldnames or ())
    for row in reader:
        if len(row) != count or None in row.values():
            raise TableError(f"{path}, line {reader.line_num}: must have {count} fields")
        yield reader.line_num, row


def _flat(line: str, path: Path, number: int) -> Row:
    """Return a JSON line as the row of a CSV file: ``scores`` and ``costs`` become columns."""
    try:
        document: object = json.loads(line)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise TableError(f"{path}, line {number}: must be a JSON object")
    row: Row = {}
    for name, value in document.items():
        if name not in _NESTED:
            row[name] = "1" if value is True else "" if value is None else str(value)
        elif isinstance(value, dict):
            row |= {f"{_NESTED[name]}{m}": "" if v is None else str(v) for m, v in value.items()}
        else:
            raise TableError(f"{path}, line {number}: {name} must be an object of numbers by model")
    return row


def question_of(prompt: str) -> str:
    """Return the question itself, normalised: no header, no options, no example before it.

    Plain letters and digits tell questions apart, but where half of them are of another script.
    """
    unsolved = _SOLVED.split(prompt)[-1]
    last = re.split(r"\n\s*(?:question|q)\s*:\s*", f"\n{unsolved}", flags=re.IGNORECASE)[-1]
    question = _OPTIONS.split(_HEADER.sub("", last))[0].lower()
    plain, whole = (kind.sub(" ", question).strip() for kind in (_PLAIN, _ANY_SCRIPT))
    return plain if 2 * len(plain) > len(whole) else whole


def stems_of(questions: Sequence[str]) -> tuple[str, ...]:
    """Return what identifies each question across tables: its first 60 characters.

    A start that more than five different questions share is a template; those go by their whole
    text.
    """
    sharing: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        sharing[question[:_STEM_CHARACTERS]].add(question)
    return tuple(
        question if len(sharing[start]) > _TEMPLATE else start
        for question in questions
        for start in [question[:_STEM_CHARACTERS]]
    )


def fold_of(question: str) -> int:
    """Return the fold of a whole question: the same in every table and every run."""
    return hashlib.sha256(question.encode()).digest()[0] * FOLDS // 256


def _columns(names: Sequence[str], path: Path) -> dict[str, str]:
    if not any(name in names for name in _PROMPT):
        raise TableError(f"{path}: needs a column named prompt or question")
    found = {name.removeprefix(_SCORE): name for name in names if name.startswith(_SCORE)}
    for name in names:
        match = _CORRECT.match(name)
        if match:
            found[match[1]] = name
    if not found:
        raise TableError(f"{path}: needs columns named score:<model> or <model>_correct")
    return found


def _first(row: Row, names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def _score(text: str, path: Path, line: int) -> float:
    score = _number(text)
    if text.strip() and not 0.0 <= score <= 1.0:
        raise TableError(f"{path}, line {line}: a score must be a number from 0 to 1 or blank")
    return score


def _cost(text: str, path: Path, line: int) -> float:
    cost = _number(text)
    if text.strip() and not 0.0 <= cost < math.inf:
        raise TableError(f"{path}, line {line}: a cost must be USD, 0 or more, or blank")
    return cost


def _number(text: str) -> float:
    """Return a number; NaN for what is none, such as a blank."""
    try:
        return float(text)
    except ValueError:
        return math.nan
