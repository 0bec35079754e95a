"""Each kind of breaking change is found, and additions are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from google.protobuf import descriptor_pb2 as pb

from tests.contract.proto_changes import breaking_changes

Field = pb.FieldDescriptorProto


def contract() -> pb.FileDescriptorSet:
    message = pb.DescriptorProto(
        name="Plan",
        field=[
            Field(name="old", number=1, type=Field.TYPE_INT64, label=Field.LABEL_OPTIONAL),
            Field(name="kept", number=2, type=Field.TYPE_STRING, label=Field.LABEL_OPTIONAL),
        ],
        oneof_decl=[pb.OneofDescriptorProto(name="choice")],
        reserved_range=[pb.DescriptorProto.ReservedRange(start=9, end=10)],
        reserved_name=["gone"],
    )
    enum = pb.EnumDescriptorProto(
        name="Verdict",
        value=[
            pb.EnumValueDescriptorProto(name="VERDICT_UNSPECIFIED", number=0),
            pb.EnumValueDescriptorProto(name="VERDICT_STAY", number=1),
        ],
    )
    service = pb.ServiceDescriptorProto(
        name="PlannerService",
        method=[pb.MethodDescriptorProto(name="Plan", input_type=".a", output_type=".b")],
    )
    file = pb.FileDescriptorProto(
        name="pointsman/x/v1/x.proto",
        package="pointsman.x.v1",
        message_type=[message],
        enum_type=[enum],
        service=[service],
    )
    return pb.FileDescriptorSet(file=[file])


Change = Callable[[pb.FileDescriptorProto], object]


def reserve_old(file: pb.FileDescriptorProto) -> None:
    message = file.message_type[0]
    del message.field[0]
    message.reserved_range.add(start=1, end=2)
    message.reserved_name.append("old")


def reserve_stay(file: pb.FileDescriptorProto) -> None:
    enum = file.enum_type[0]
    del enum.value[1]
    enum.reserved_range.add(start=1, end=1)
    enum.reserved_name.append("VERDICT_STAY")


def after(change: Change) -> list[str]:
    new = contract()
    change(new.file[0])
    return breaking_changes(contract(), new)


@pytest.mark.parametrize(
    "change",
    [
        lambda f: None,
        lambda f: f.message_type[0].field.add(name="more", number=3, type=Field.TYPE_BOOL),
        lambda f: f.message_type.add(name="More"),
        lambda f: f.enum_type[0].value.add(name="VERDICT_SWITCH", number=2),
        lambda f: f.service[0].method.add(name="More", input_type=".c", output_type=".d"),
        lambda f: f.message_type[0].field[1].options.SetInParent(),
        reserve_old,
        reserve_stay,
    ],
)
def test_additions_and_reservations_break_nothing(change: Change) -> None:
    assert after(change) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda f: setattr(f, "name", "pointsman/y/v1/y.proto"),
        lambda f: setattr(f, "package", "pointsman.y.v1"),
        lambda f: f.message_type.pop(),
        lambda f: f.message_type[0].field.pop(0),
        lambda f: setattr(f.message_type[0].field[0], "number", 7),
        lambda f: setattr(f.message_type[0].field[0], "name", "renamed"),
        lambda f: setattr(f.message_type[0].field[0], "type", Field.TYPE_INT32),
        lambda f: setattr(f.message_type[0].field[0], "label", Field.LABEL_REPEATED),
        lambda f: setattr(f.message_type[0].field[0], "oneof_index", 0),
        lambda f: setattr(f.message_type[0].field[0], "proto3_optional", True),
        lambda f: f.message_type[0].reserved_name.pop(),
        lambda f: f.message_type[0].reserved_range.pop(),
        lambda f: f.enum_type.pop(),
        lambda f: f.enum_type[0].value.pop(),
        lambda f: setattr(f.enum_type[0].value[1], "name", "VERDICT_REMAIN"),
        lambda f: f.service.pop(),
        lambda f: f.service[0].method.pop(),
        lambda f: setattr(f.service[0].method[0], "output_type", ".c"),
        lambda f: setattr(f.service[0].method[0], "server_streaming", True),
    ],
)
def test_each_breaking_change_is_found(change: Change) -> None:
    assert len(after(change)) >= 1
