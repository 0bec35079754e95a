"""The contract keeps its own rules, its promise to older programs and step with the code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2 as pb

from protos import generate
from services.domain import vocab
from services.domain.errors import TRAITS, Reason
from tests.contract.proto_changes import OURS, breaking_changes, by_name

PROTOS = generate.HERE
BUF = PROTOS.parent / "tests" / "clients" / "node_modules" / ".bin" / "buf"
UNSIGNED = frozenset(
    {
        pb.FieldDescriptorProto.TYPE_UINT32,
        pb.FieldDescriptorProto.TYPE_UINT64,
        pb.FieldDescriptorProto.TYPE_FIXED32,
        pb.FieldDescriptorProto.TYPE_FIXED64,
    }
)
FLOATS = frozenset({pb.FieldDescriptorProto.TYPE_FLOAT, pb.FieldDescriptorProto.TYPE_DOUBLE})
TEXTS = frozenset({pb.FieldDescriptorProto.TYPE_STRING, pb.FieldDescriptorProto.TYPE_BYTES})
MONEY = re.compile(r"usd|price|(?<!output_)cost(?!_ratio|_factor)|money|amount|budget_micro")
KEY_MATERIAL = re.compile(
    r"secret|password|api_key|(^|_)(access|refresh|bearer|auth|id)_token|authorization|cookie"
)
NO_KEY_MATERIAL = frozenset({"secret_suffix", "secret_cache_key", "secret_purpose", "secrets"})
"""Fields that speak of secrets and hold none, and the message that holds them."""


@dataclass(frozen=True, slots=True)
class Element:
    """A commented thing: where it stands, its comment, its descriptor."""

    path: str
    comment: str


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> pb.FileDescriptorSet:
    path = tmp_path_factory.mktemp("contract") / "contract.binpb"
    generate.write_descriptors(path, has_comments=True)
    return pb.FileDescriptorSet.FromString(path.read_bytes())


def ours(contract: pb.FileDescriptorSet) -> list[pb.FileDescriptorProto]:
    return [file for file in contract.file if file.name.startswith(OURS)]


def messages(contract: pb.FileDescriptorSet) -> Iterator[tuple[str, pb.DescriptorProto]]:
    def below(parent: str, found: pb.DescriptorProto) -> Iterator[tuple[str, pb.DescriptorProto]]:
        path = f"{parent}.{found.name}"
        yield path, found
        for nested in found.nested_type:
            if not nested.options.map_entry:
                yield from below(path, nested)

    for file in ours(contract):
        for message in file.message_type:
            yield from below(file.package, message)


def fields(contract: pb.FileDescriptorSet) -> Iterator[tuple[str, pb.FieldDescriptorProto]]:
    for path, message in messages(contract):
        for field in message.field:
            yield f"{path}.{field.name}", field


def enums(contract: pb.FileDescriptorSet) -> Iterator[tuple[str, pb.EnumDescriptorProto]]:
    for file in ours(contract):
        for enum in file.enum_type:
            yield f"{file.package}.{enum.name}", enum
    for path, message in messages(contract):
        for enum in message.enum_type:
            yield f"{path}.{enum.name}", enum


def comments(file: pb.FileDescriptorProto) -> dict[tuple[int, ...], str]:
    return {
        tuple(location.path): location.leading_comments.strip()
        for location in file.source_code_info.location
    }


def elements(file: pb.FileDescriptorProto) -> Iterator[Element]:
    """Yield services, methods, messages, fields, oneofs, enums and values with their comments."""
    found = comments(file)

    def at(path: tuple[int, ...], name: str) -> Element:
        return Element(f"{file.name}: {name}", found.get(path, ""))

    def in_message(path: tuple[int, ...], message: pb.DescriptorProto) -> Iterator[Element]:
        yield at(path, message.name)
        for n, field in enumerate(message.field):
            yield at((*path, 2, n), f"{message.name}.{field.name}")
        for n, nested in enumerate(message.nested_type):
            if not nested.options.map_entry:
                yield from in_message((*path, 3, n), nested)
        for n, enum in enumerate(message.enum_type):
            yield from in_enum((*path, 4, n), enum)

    def in_enum(path: tuple[int, ...], enum: pb.EnumDescriptorProto) -> Iterator[Element]:
        yield at(path, enum.name)
        for n, value in enumerate(enum.value):
            yield at((*path, 2, n), value.name)

    for n, message in enumerate(file.message_type):
        yield from in_message((4, n), message)
    for n, enum in enumerate(file.enum_type):
        yield from in_enum((5, n), enum)
    for n, service in enumerate(file.service):
        yield at((6, n), service.name)
        for m, method in enumerate(service.method):
            yield at((6, n, 2, m), f"{service.name}.{method.name}")


def test_the_stubs_are_those_of_the_contract() -> None:
    checked = subprocess.run(
        [sys.executable, PROTOS / "generate.py", "--check"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


def test_nothing_breaks_programs_built_on_the_baseline(contract: pb.FileDescriptorSet) -> None:
    baseline = pb.FileDescriptorSet.FromString(generate.BASELINE.read_bytes())
    assert breaking_changes(baseline, contract) == []


def test_every_file_lies_where_its_package_says(contract: pb.FileDescriptorSet) -> None:
    for file in ours(contract):
        assert Path(file.name).parent == Path(*file.package.split("."))
        assert re.fullmatch(r"pointsman\.[a-z]+\.v1", file.package)
        assert file.syntax == "proto3"


def test_everything_is_commented(contract: pb.FileDescriptorSet) -> None:
    silent = [e.path for file in ours(contract) for e in elements(file) if not e.comment]
    assert silent == []


def test_every_method_states_its_deadline(contract: pb.FileDescriptorSet) -> None:
    for file in ours(contract):
        names = {f"{service.name}.{m.name}" for service in file.service for m in service.method}
        methods = [e for e in elements(file) if e.path.partition(": ")[2] in names]
        assert [e.path for e in methods if "eadline" not in e.comment] == []


def test_every_enum_starts_with_unspecified_and_carries_its_name(
    contract: pb.FileDescriptorSet,
) -> None:
    for path, enum in enums(contract):
        prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.name).upper()
        assert (enum.value[0].number, enum.value[0].name) == (0, f"{prefix}_UNSPECIFIED"), path
        assert all(value.name.startswith(f"{prefix}_") for value in enum.value), path


def test_every_method_owns_its_request_and_response(contract: pb.FileDescriptorSet) -> None:
    used: list[str] = []
    for file in ours(contract):
        for service in file.service:
            assert service.name.endswith("Service")
            for method in service.method:
                package = f".{file.package}"
                assert method.input_type == f"{package}.{method.name}Request"
                assert method.output_type == f"{package}.{method.name}Response"
                assert not method.client_streaming
                used += [method.input_type, method.output_type]
    assert len(used) == len(set(used))


def test_numbers_are_signed_and_money_is_no_float(contract: pb.FileDescriptorSet) -> None:
    for path, field in fields(contract):
        assert field.type not in UNSIGNED, path
        if field.type in FLOATS:
            assert not MONEY.search(field.name), path


def test_only_fields_named_so_hold_secrets_and_they_are_redacted(
    contract: pb.FileDescriptorSet,
) -> None:
    for path, field in fields(contract):
        if field.name.endswith("_secret"):
            assert field.type in TEXTS, path
            assert field.options.debug_redact, path
        elif field.type in TEXTS and field.name not in NO_KEY_MATERIAL:
            assert not KEY_MATERIAL.search(field.name), path


def names_of(contract: pb.FileDescriptorSet, name: str) -> set[str]:
    ((_, enum),) = [(path, enum) for path, enum in enums(contract) if enum.name == name]
    prefix = enum.value[0].name.removesuffix("UNSPECIFIED")
    return {value.name.removeprefix(prefix) for value in enum.value[1:]}


def test_the_reasons_are_those_of_the_code(contract: pb.FileDescriptorSet) -> None:
    assert names_of(contract, "ErrorReason") == {reason.value for reason in Reason}


def test_the_codes_of_the_reasons_are_those_of_the_code(contract: pb.FileDescriptorSet) -> None:
    file = by_name(contract.file)["pointsman/common/v1/error.proto"]
    for element in elements(file):
        name = element.path.partition(": ")[2].removeprefix("ERROR_REASON_")
        if name in {"ErrorReason", "UNSPECIFIED"}:
            continue
        stated = re.match(r"([A-Z_]+).*?, (\d{3}|never rendered)", element.comment, re.DOTALL)
        assert stated is not None, element.path
        trait = TRAITS[Reason(name)]
        assert stated[1] == trait.code.value, name
        assert stated[2] in {str(trait.http_status), "never rendered"}, name


@pytest.mark.parametrize(
    "closed_set",
    [
        vocab.WireFamily,
        vocab.TurnType,
        vocab.CredentialKind,
        vocab.CredentialOwner,
        vocab.FailureClass,
    ],
)
def test_closed_sets_are_those_of_the_code(
    contract: pb.FileDescriptorSet,
    closed_set: type[vocab.WireFamily | vocab.TurnType | vocab.FailureClass],
) -> None:
    assert names_of(contract, closed_set.__name__) == {item.name for item in closed_set}


def test_the_tiers_are_those_of_the_code(contract: pb.FileDescriptorSet) -> None:
    known = {tier.name for tier in vocab.ModelTier if tier is not vocab.ModelTier.UNKNOWN}
    assert names_of(contract, "ModelTier") - {"UNKNOWN"} == known


def buf(*arguments: str) -> None:
    found = shutil.which("buf") or (str(BUF) if BUF.exists() and shutil.which("node") else None)
    if found is None:
        pytest.skip("buf is not installed: run `make clients`")
    ran = subprocess.run([found, *arguments], cwd=PROTOS, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_buf_finds_nothing_to_lint() -> None:
    buf("lint")


def test_buf_finds_no_breaking_change() -> None:
    buf("breaking", "--against", str(generate.BASELINE))
