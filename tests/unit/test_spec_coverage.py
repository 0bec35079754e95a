from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.spec_coverage import Coverage, cited_in, listed_in, read_coverage, report

# Built here, so that this file cites nothing that the product would have to list.
MARK = "pytest.mark.spec"


def test_a_list_of_behaviours_is_read() -> None:
    text = "# D\n\n- **DSP-30** sends\n- **DSP-31a, DSP-33** wait\n- **A-8 … A-10** ask\nSee B-1\n"
    assert list(listed_in(text)) == ["DSP-30", "DSP-31a", "DSP-33", "A-8", "A-9", "A-10"]


@pytest.mark.parametrize("line", ["- DSP-30 waits", "- **DSP-30**", "* **DSP-30** waits"])
def test_a_line_of_another_form_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="DSP-30"):
        list(listed_in(line + "\n"))


def test_every_place_of_a_mark_is_read() -> None:
    source = (
        f"pytestmark = {MARK}('A-1')\n"
        f"@{MARK}('A-2', 'A-3')\ndef test_x(): ...\n"
        f"class TestY:\n    @{MARK}('A-4')\n    def test_z(self): ...\n"
        f"case = pytest.param(1, marks={MARK}('A-5'))\n"
        "@pytest.mark.slow\ndef test_other(): ...\n"
    )
    assert sorted(cited_in(ast.parse(source))) == ["A-1", "A-2", "A-3", "A-4", "A-5"]


def test_both_kinds_of_difference_are_told(tmp_path: Path) -> None:
    (tmp_path / "services" / "dispatch").mkdir(parents=True)
    (tmp_path / "gateway").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "services/dispatch/SPEC.md").write_text("- **DSP-9** a\n- **DSP-10** b\n")
    (tmp_path / "gateway/SPEC.md").write_text("- **OPS-1** c\n")
    (tmp_path / "tests/test_x.py").write_text(
        f"@{MARK}('DSP-9')\ndef test_a(): ...\n@{MARK}('XLT-7')\ndef test_b(): ...\n"
    )
    coverage = read_coverage(tmp_path)
    assert coverage.untested == ("DSP-10", "OPS-1")
    assert coverage.unlisted == ("XLT-7",)
    assert not coverage.is_whole
    assert report(coverage).splitlines() == [
        "DSP-10: no test (services/dispatch/SPEC.md)",
        "OPS-1: no test (gateway/SPEC.md)",
        "XLT-7: cited, in no SPEC.md (tests/test_x.py)",
        "1 of 3 listed behaviours have tests",
    ]


def test_equal_sides_are_whole() -> None:
    same = {"DSP-1": ("x",)}
    assert Coverage(same, same).is_whole
