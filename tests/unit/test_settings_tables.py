from __future__ import annotations

import pytest
from pydantic import SecretStr

from services.runtime.settings import Section
from tests.settings_tables import BEGIN, END, ROOT, rendered, tables, with_tables


class Base(Section):
    first: str = "x"
    """Where it
    begins."""


class Table(Base):
    wait_seconds: float = 15.0
    """How long | or not."""
    key: SecretStr = SecretStr("")
    names: tuple[str, ...] = ("a", "b")
    is_on: bool = True


def test_a_table_lists_defaults_as_written_in_toml_and_the_texts_of_the_fields() -> None:
    assert rendered((("part", Table),)).splitlines() == [
        BEGIN,
        "",
        "`[part]`",
        "",
        "| Key | Default | Meaning |",
        "| --- | --- | --- |",
        '| `first` | `"x"` | Where it begins. |',
        "| `wait_seconds` | `15` | How long \\| or not. |",
        '| `key` | `""` |  |',
        '| `names` | `["a", "b"]` |  |',
        "| `is_on` | `true` |  |",
        "",
        END,
    ]


def test_tables_are_replaced_in_place_or_added_at_the_end() -> None:
    block = f"{BEGIN}\nnew\n{END}"
    assert with_tables(f"a\n{BEGIN}\nold\n{END}\nb\n", block) == f"a\n{block}\nb\n"
    assert with_tables("a\n", block) == f"a\n\n## Settings\n\n{block}\n"
    assert with_tables(with_tables("a\n", block), block) == with_tables("a\n", block)


@pytest.mark.parametrize("readme", sorted(tables()))
def test_the_readmes_list_the_settings_as_they_are(readme: str) -> None:
    text = (ROOT / readme).read_text()
    assert rendered(tables()[readme]) in text, "run `make settings-tables`"
