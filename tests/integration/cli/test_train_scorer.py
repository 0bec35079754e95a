"""Training from tables on disk to a bundle that serves."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from services.cli.__main__ import run
from services.cli.train_scorer import training
from services.cli.train_scorer.corpus import gather
from services.cli.train_scorer.curves import Anchor
from services.cli.train_scorer.distilling import piece_vectors
from services.cli.train_scorer.fitting import fit_heads
from services.cli.train_scorer.judging import qualities, without_questions
from services.cli.train_scorer.projection import project, pruned_tokenizer
from services.cli.train_scorer.tables import TableError, licence_beside, read_tables
from services.cli.train_scorer.training import Recipe
from services.scorer.adapters.bundle.loading import load
from services.scorer.adapters.wordpiece import read_tokenizer
from services.scorer.build import shipped
from services.scorer.policy.heads import predict
from tests.fakes import scorer_bundle as tiny

ROWS = 240
WORDS = ("prove", "theorem", "sum", "numbers", "hello", "say", "now", "two")


def silent(done: int, total: int) -> None:
    """Report nothing."""


def write_tables(folder: Path, *, licence: str = "MIT") -> tuple[Path, Path]:
    """Write a training table in two parts and a held-out table that repeats one question."""
    source = np.random.default_rng(11)
    rows = []
    for n in range(ROWS):
        words = source.choice(WORDS, size=6)
        prompt = f"{' '.join(words)} number {n}"
        hard = 0.2 if "prove" in words else 0.8
        rows.append((prompt, words[0], int(source.random() < hard), int(source.random() < 0.9), 0))
    rows[3] = (*rows[3][:4], 1)
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(f"Outcomes.\nLicence: {licence} (ours)\n")
    header = ("prompt", "subject", "weak_correct", "strong_correct", "contaminated")
    for name, part in (("t_part1", rows[:100]), ("t_part2", rows[100:]), ("held", rows[:20])):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *part])
    return folder / "t_part1.csv", folder / "t_part2.csv"


def recipe(tmp_path: Path, **changes: object) -> Recipe:
    parts = write_tables(tmp_path / "set", licence=str(changes.pop("licence", "MIT")))
    embedder = tmp_path / "embedder"
    embedder.mkdir()
    for name, content in tiny.members().items():
        (embedder / name).write_bytes(content)
    made = Recipe(
        outcomes=parts,
        held_out=(parts[0].parent / "held.csv",),
        embedder=embedder,
        notice=None,
        version="trained-1",
        as_of="2026-01-02",
        remark="A remark.",
        anchors=(Anchor("weak", 0.3), Anchor("strong", 0.8)),
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def test_parts_are_one_table_and_flagged_rows_are_dropped(tmp_path: Path) -> None:
    parts = write_tables(tmp_path / "set")
    (table,) = read_tables(parts)
    assert (table.name, table.licence, table.models) == ("set/t", "MIT", ("weak", "strong"))
    assert (len(table.prompts), table.dropped_rows) == (ROWS - 1, 1)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("subject,weak_correct\na,1\n", "needs a column named prompt"),
        ("prompt,subject\na,b\n", "needs columns named score"),
        ("prompt,score:m\na,2\n", "line 2: a score must be"),
        ("prompt,score:m\na,yes\n", "line 2: a score must be"),
        ("prompt,score:m\na,1\nb\n", "line 3: must have 2 fields"),
        ("prompt,score:m\na,1,1\n", "line 2: must have 2 fields"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=fault):
        read_tables((path,))


def test_lines_of_json_are_rows_too_and_may_say_what_an_answer_cost(tmp_path: Path) -> None:
    lines = [
        {"prompt": "a", "subject": "s", "scores": {"m": 1, "n": None}, "costs": {"m": 0.5}},
        {"prompt": "b", "scores": {"m": 0.25, "n": 0}, "contaminated": True},
        {"prompt": "c", "scores": {"m": 0.25, "n": 0}},
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (table,) = read_tables([path])
    assert (table.models, table.prompts, table.dropped_rows) == (("m", "n"), ("a", "c"), 1)
    assert table.groups == ("s", "")
    np.testing.assert_array_equal(table.scores, [[1.0, np.nan], [0.25, 0.0]])
    assert table.costs is not None
    np.testing.assert_array_equal(table.costs, [[0.5, np.nan], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("[1]", "line 1: must be a JSON object"),
        ("{", "line 1: must be a JSON object"),
        ('{"prompt": "a", "scores": 1}', "line 1: scores must be an object"),
        ('{"prompt": "a", "scores": {"m": 2}}', "line 1: a score must be a number"),
        ('{"prompt": "a", "scores": {"m": 1}, "costs": {"m": -1}}', "line 1: a cost must be USD"),
    ],
)
def test_a_line_of_json_that_cannot_be_read_is_named(line: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(line)
    with pytest.raises(TableError, match=fault):
        read_tables([path])


def test_prompts_are_read_whole_whatever_stands_in_them(tmp_path: Path) -> None:
    prompts = ("long " * 40_000, "next\u2028line, or\x0cpage", 'said\n\n"so"', "caf\u00e9\x85")
    lines = [{"prompt": prompt, "scores": {"m": 1}} for prompt in prompts]
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps(x, ensure_ascii=False) for x in lines))
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([("prompt", "score:m"), *((prompt, 1) for prompt in prompts)])
    for name in ("t.jsonl", "t.csv"):
        (table,) = read_tables([tmp_path / name])
        assert table.prompts == prompts
        assert table.scores.tolist() == [[1.0]] * len(prompts)


def test_a_blank_score_is_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("question,score:m,score:n\nwhy?,,0.5\n")
    (table,) = read_tables((path,))
    assert np.isnan(table.scores[0, 0])
    assert table.scores[0, 1] == 0.5


def test_a_table_without_a_licence_is_for_internal_use_only(tmp_path: Path) -> None:
    unlicensed = recipe(tmp_path, licence="NONE")
    assert licence_beside(unlicensed.outcomes[0]) == ""
    with pytest.raises(TableError, match="has no licence"):
        training.read_material(unlicensed, silent)
    internal = replace(unlicensed, is_internal=True)
    material = training.read_material(internal, silent)
    judged = training.judge(material, internal)
    training.train(material, internal, judged, tmp_path / "out")
    assert load(tmp_path / "out").artifact.is_internal


def test_questions_of_a_held_out_table_are_not_learnt(tmp_path: Path) -> None:
    material = training.read_material(recipe(tmp_path), silent)
    held = {material.corpus.stems[i] for i in material.held_rows}
    assert held
    assert held.isdisjoint(material.corpus.stems[i] for i in material.rows)
    everything = np.arange(len(material.corpus.prompts))
    assert without_questions(material.corpus, everything, everything).size == 0


def test_a_trained_bundle_predicts_what_training_predicted(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    material = training.read_material(made, silent)
    judged = training.judge(material, made)
    place = training.train(material, made, judged, tmp_path / "out")
    loaded = load(tmp_path / "out")
    artifact = loaded.artifact
    assert (artifact.version, artifact.measured) == ("trained-1", ("weak", "strong"))
    assert artifact.has_risk
    assert not artifact.is_internal
    heads = fit_heads(material.corpus, material.rows, len(tiny.PIECES), 0)
    wanted = qualities(material.corpus, material.rows[:20], heads)
    served = [
        predict(artifact, loaded.embedder.embed(material.corpus.prompts[i])).quality
        for i in material.rows[:20]
    ]
    assert np.stack(served) == pytest.approx(wanted, abs=1e-4)
    card = (place / training.CARD).read_text()
    assert "A remark." in card
    assert "| set/t | MIT |" in card
    cells = json.loads((place / "quality_means.json").read_text())["cell_counts"]
    assert sum(row["weak"] for row in cells.values()) == len(material.rows)


def test_training_learns_what_there_is_to_learn(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    judged = training.judge(training.read_material(made, silent), made)
    (figures,) = [pair for pair in judged.pairs if pair.table == "set/t"]
    assert figures.recovery.apgr > 0.6
    assert figures.oracle.apgr > figures.recovery.apgr
    assert judged.risk.measured.brier < judged.risk.measured.base_brier


def test_equal_recipes_give_equal_bytes(tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        made = recipe(tmp_path / name)
        material = training.read_material(made, silent)
        place = training.train(material, made, training.judge(material, made), tmp_path / name)
        written.append({path.name: path.read_bytes() for path in place.iterdir()})
    assert written[0] == written[1]


class OneHot:
    """An encoder whose states are the ids it is asked for."""

    def run(self, output_names: None, input_feed: object) -> list[np.ndarray]:
        assert isinstance(input_feed, dict)
        ids = input_feed["input_ids"]
        return [np.repeat(ids[:, :, None], 200, axis=2).astype(np.float32)]


def test_an_encoder_is_asked_for_each_piece_alone() -> None:
    document = json.loads(tiny.tokenizer_json())
    vocabulary = ("[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "a", "[", "##b")
    document["model"]["vocab"] = {piece: index for index, piece in enumerate(vocabulary)}
    pruned, pieces = pruned_tokenizer(json.dumps(document))
    assert pieces == ("[UNK]", "a", "[", "##b")
    again, vectors = piece_vectors(OneHot(), json.dumps(document), silent)
    assert again == pruned
    assert vectors[:, 0].tolist() == [0.0, *(pytest.approx((3 + i + 4) / 3) for i in (5, 6, 7))]


def test_a_projection_keeps_the_directions_in_which_texts_differ() -> None:
    tokenizer = read_tokenizer(tiny.tokenizer_json().encode())
    vectors = np.random.default_rng(1).normal(size=(len(tiny.PIECES), 160))
    texts = [" ".join(np.random.default_rng(n).choice(WORDS, size=5)) for n in range(40)]
    tables = project(vectors, tokenizer, texts)
    assert tables.vectors.shape == (len(tiny.PIECES), 128)
    assert (tables.surface_deviations > 0).all()


def test_vectors_of_equal_prompts_are_made_once(tmp_path: Path) -> None:
    asked: list[str] = []

    class Counting:
        dimensions = tiny.DIMENSIONS

        def embed(self, text: str) -> object:
            asked.append(text)
            return tiny.embedder().embed(text)

    path = tmp_path / "t.csv"
    path.write_text("prompt,score:m\nsay,1\nsay,0\nnow,1\n")
    corpus = gather(read_tables((path,)), Counting(), silent)  # type: ignore[arg-type]  # a counter
    assert asked == ["say", "now"]
    assert corpus.scores[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_the_shipped_artifact_loads_and_may_be_released() -> None:
    artifact = load(shipped()).artifact
    assert artifact.has_risk
    assert not artifact.is_internal
    assert artifact.clusters.count == 64
    assert artifact.linear is not None
    assert artifact.pieces is not None


def arguments(made: Recipe, *names: str) -> list[str]:
    found = ["scorer", *names]
    for option, paths in (("--outcomes", made.outcomes), ("--held-out", made.held_out)):
        for path in paths:
            found += [option, str(path)]
    return [*found, "--embedder", str(made.embedder)]


def test_the_commands_train_judge_and_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, out = recipe(tmp_path), str(tmp_path / "out")
    anchors = ["--anchor", "weak=0.3", "--anchor", "strong=0.8"]
    written = ["--version", "trained-1", "--as-of", "2026-01-02", "--out", out]
    assert run([*arguments(made, "train"), *anchors, *written]) == 0
    assert "# Scoring artifact trained-1" in capsys.readouterr().out
    assert run([*arguments(made, "evaluate"), *anchors]) == 0
    assert "| set/t |" in capsys.readouterr().out
    assert run([*arguments(made, "evaluate"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["pairs"][0]["table"] == "set/t"
    reports = [tmp_path / "report-1", tmp_path / "report-2"]
    for folder in reports:
        more = ["--against", f"{out}/trained-1", "--out", str(folder), *anchors]
        assert run([*arguments(made, "evaluate"), *more]) == 0
    capsys.readouterr()
    names = sorted(path.name for path in reports[0].iterdir())
    assert names == [
        "REPORT.md",
        "report.json",
        "set-held.svg",
        "set-t-groups-left-out.svg",
        "set-t.svg",
    ]
    assert all((reports[0] / n).read_bytes() == (reports[1] / n).read_bytes() for n in names)
    (change,) = json.loads((reports[0] / "report.json").read_bytes())["changes"]
    assert change["table"] == "set/held"
    assert change["difference"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert run(["scorer", "inspect", out, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["version"], facts["measured"]) == ("trained-1", ["weak", "strong"])


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--anchor", "weak=0.3"], 2, "give MODEL=SKILL twice"),
        (["--anchor", "weak=0.8", "--anchor", "strong=0.3"], 2, "the weaker first"),
        (["--anchor", "weak=x", "--anchor", "strong=0.3"], 2, "give MODEL=SKILL twice"),
        (["--anchor", "weak=0.3", "--anchor", "other=0.8"], 1, "no table measured it"),
        (["--outcomes", "/nowhere/t.csv"], 1, "No such file"),
        (["--against", "/nowhere/b"], 1, "artifact 'b', manifest.json"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_one_line(
    more: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments(recipe(tmp_path), "evaluate"), *more]) == code
    shown = capsys.readouterr().err.splitlines()
    (line,) = [line for line in shown if line.startswith("error: ")]
    assert said in line


def test_too_few_prompts_are_refused(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    with pytest.raises(TableError, match="prompts are left beside fold 0"):
        training.read_material(replace(made, outcomes=made.held_out, held_out=()), silent)


def test_a_folder_without_bundles_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scorer", "inspect", str(tmp_path)]) == 1
    assert "cannot be read" in capsys.readouterr().err
