"""Writes the tables of settings in the READMEs from the settings classes.

``python -m tests.settings_tables`` rewrites what stands between the markers; a README without them
gets a section at its end. A test holds the tables equal to the classes.
"""

from __future__ import annotations

import ast
import enum
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from services.embedded.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
BEGIN = "<!-- settings -->"
END = "<!-- /settings -->"
BELONGS = {"gateway": "gateway/README.md", "routing": "gateway/README.md"}
"""Tables of the root and the READMEs that have them; a service's table is in its own folder."""


def tables() -> Mapping[str, tuple[tuple[str, type[BaseModel]], ...]]:
    """Return the README of each part with the names and classes of its tables."""
    found: dict[str, list[tuple[str, type[BaseModel]]]] = {}
    for name, readme in BELONGS.items():
        found.setdefault(readme, []).append((name, _model(Settings.model_fields[name])))
    for name, field in _model(Settings.model_fields["services"]).model_fields.items():
        found[f"services/{name}/README.md"] = [(f"services.{name}", _model(field))]
    return {readme: tuple(parts) for readme, parts in found.items()}


def rendered(parts: tuple[tuple[str, type[BaseModel]], ...]) -> str:
    """Return the text between the markers, markers included."""
    blocks = [_table(name, model) for name, model in parts]
    return "\n\n".join([BEGIN, *blocks, END])


def with_tables(text: str, block: str) -> str:
    """Return a README with `block` in the place of the old one, or at its end."""
    before, begin, rest = text.partition(BEGIN)
    if not begin:
        return f"{text.rstrip()}\n\n## Settings\n\n{block}\n"
    return before + block + rest.partition(END)[2]


def _table(name: str, model: type[BaseModel]) -> str:
    meanings = dict(_meanings(model))
    rows = [
        f"| `{key}` | {_default(field)} | {meanings.get(key, '')} |"
        for key, field in model.model_fields.items()
    ]
    return "\n".join(
        [f"`[{name}]`", "", "| Key | Default | Meaning |", "| --- | --- | --- |", *rows]
    )


def _meanings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield each field with the text that stands below it in the source."""
    for owner in reversed(model.__mro__):
        if owner is BaseModel or not issubclass(owner, BaseModel):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            match field, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=key)),
                    ast.Expr(value=ast.Constant(value=str(meaning))),
                ):
                    yield key, " ".join(meaning.split()).replace("|", "\\|").replace("``", "`")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: object = field.get_default(call_default_factory=True)
    match value:
        case SecretStr():
            shown = json.dumps(value.get_secret_value())
        case enum.Enum():
            shown = json.dumps(value.value)
        case float() if value.is_integer():
            shown = str(int(value))
        case tuple() | list() | set() | frozenset():
            shown = json.dumps(list(value))
        case None:
            return "not set"
        case _:
            shown = json.dumps(value)
    return f"`{shown}`"


def _model(field: FieldInfo) -> type[BaseModel]:
    model = field.annotation
    assert isinstance(model, type)
    assert issubclass(model, BaseModel)
    return model


def main() -> None:
    """Rewrite the tables of every README that exists."""
    for readme, parts in tables().items():
        path = ROOT / readme
        if path.exists():
            path.write_text(with_tables(path.read_text(), rendered(parts)))


if __name__ == "__main__":
    main()
