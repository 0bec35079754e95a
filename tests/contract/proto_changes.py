"""Lists what a change of the contract would break for programs built against the older one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from google.protobuf import descriptor_pb2 as pb


class Ranged(Protocol):
    """A span of reserved numbers."""

    start: int
    end: int


class Named(Protocol):
    """Anything with a name."""

    name: str


N = TypeVar("N", bound=Named)
OURS = "pointsman/"


def breaking_changes(old: pb.FileDescriptorSet, new: pb.FileDescriptorSet) -> list[str]:
    """Return one line per broken promise: gone, renumbered, retyped, no longer reserved."""
    current = by_name(new.file)
    broken: list[str] = []
    for file in old.file:
        if not file.name.startswith(OURS):
            continue
        if file.name not in current:
            broken.append(f"{file.name}: file is gone")
        else:
            broken.extend(_in_file(file, current[file.name]))
    return broken


def by_name(items: Iterable[N]) -> Mapping[str, N]:
    """Return the items by their names."""
    return {item.name: item for item in items}


def _in_file(old: pb.FileDescriptorProto, new: pb.FileDescriptorProto) -> Iterator[str]:
    if old.package != new.package:
        yield f"{old.name}: package is {new.package}"
    yield from _in_messages(old.package, old.message_type, new.message_type)
    yield from _in_enums(old.package, old.enum_type, new.enum_type)
    services = by_name(new.service)
    for service in old.service:
        path = f"{old.package}.{service.name}"
        if service.name in services:
            yield from _in_service(path, service, services[service.name])
        else:
            yield f"{path}: service is gone"


def _in_messages(
    parent: str, old: Iterable[pb.DescriptorProto], new: Iterable[pb.DescriptorProto]
) -> Iterator[str]:
    current = by_name(new)
    for message in old:
        path = f"{parent}.{message.name}"
        if message.name not in current:
            yield f"{path}: message is gone"
            continue
        now = current[message.name]
        yield from _in_fields(path, message, now)
        yield from _in_messages(path, message.nested_type, now.nested_type)
        yield from _in_enums(path, message.enum_type, now.enum_type)
        yield from _unreserved(
            path,
            _reserved(message.reserved_range, message.reserved_name),
            _reserved(now.reserved_range, now.reserved_name),
        )


def _in_fields(path: str, old: pb.DescriptorProto, new: pb.DescriptorProto) -> Iterator[str]:
    current = {field.number: field for field in new.field}
    reserved = _reserved(new.reserved_range, new.reserved_name)
    for field in old.field:
        place = f"{path}.{field.name}"
        now = current.get(field.number)
        if now is None:
            yield from _gone(place, field.number, field.name, reserved)
        elif _shape(old, field) != _shape(new, now):
            yield f"{place}: field {field.number} changed"


def _shape(message: pb.DescriptorProto, field: pb.FieldDescriptorProto) -> tuple[object, ...]:
    oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
    return (
        field.name,
        field.type,
        field.type_name,
        field.label,
        field.json_name,
        field.proto3_optional,
        oneof,
    )


def _in_enums(
    parent: str, old: Iterable[pb.EnumDescriptorProto], new: Iterable[pb.EnumDescriptorProto]
) -> Iterator[str]:
    current = by_name(new)
    for enum in old:
        path = f"{parent}.{enum.name}"
        if enum.name not in current:
            yield f"{path}: enum is gone"
            continue
        now = current[enum.name]
        # An enum's ranges include their end, a message's do not.
        reserved = _reserved(now.reserved_range, now.reserved_name, extra=1)
        values = {value.number: value.name for value in now.value}
        for value in enum.value:
            place = f"{path}.{value.name}"
            if value.number not in values:
                yield from _gone(place, value.number, value.name, reserved)
            elif values[value.number] != value.name:
                yield f"{place}: value {value.number} is now {values[value.number]}"
        before = _reserved(enum.reserved_range, enum.reserved_name, extra=1)
        yield from _unreserved(path, before, reserved)


def _in_service(
    path: str, old: pb.ServiceDescriptorProto, new: pb.ServiceDescriptorProto
) -> Iterator[str]:
    methods = by_name(new.method)
    for method in old.method:
        now = methods.get(method.name)
        if now is None:
            yield f"{path}.{method.name}: method is gone"
        elif _signature(method) != _signature(now):
            yield f"{path}.{method.name}: signature changed"


def _signature(method: pb.MethodDescriptorProto) -> tuple[object, ...]:
    return (
        method.input_type,
        method.output_type,
        method.client_streaming,
        method.server_streaming,
    )


def _reserved(
    ranges: Sequence[Ranged], names: Iterable[str], *, extra: int = 0
) -> frozenset[int | str]:
    numbers = (n for span in ranges for n in range(span.start, span.end + extra))
    return frozenset[int | str](numbers) | frozenset(names)


def _gone(path: str, number: int, name: str, reserved: frozenset[int | str]) -> Iterator[str]:
    missing = [str(key) for key in (number, name) if key not in reserved]
    if missing:
        yield f"{path}: gone without reserving {' and '.join(missing)}"


def _unreserved(path: str, old: frozenset[int | str], new: frozenset[int | str]) -> Iterator[str]:
    for key in sorted(map(str, old - new)):
        yield f"{path}: {key} is no longer reserved"
