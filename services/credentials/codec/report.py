"""Reports about attempts, and what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.codec import fields
from services.credentials.codec.fields import MAX_ID_CHARACTERS, is_told, unix_s
from services.credentials.model import Phase, Report
from services.domain.errors import InvalidRequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf import timestamp_pb2
    from pointsman.common.v1 import header_pb2

    from services.credentials.model import EndKind, Mark, ReportOutcome, Transition
    from services.domain.fields import Fields

MAX_REPORTS = 256
MAX_HEADERS = 64
MAX_BODY_BYTES = 8 * 1024
MAX_FEATURE_CHARACTERS = 64
_END_KIND_OF = fields.inverse(fields.END_KINDS)


def decode_reports(request: pb.ReportAttemptRequest) -> tuple[Report | None, ...]:
    """Return the reports in order; None stands for a malformed one, which spoils no other.

    Raises:
        InvalidRequestError: there is none, or there are too many.
    """
    if not 1 <= len(request.reports) <= MAX_REPORTS:
        raise InvalidRequestError.of("reports", f"must be 1 to {MAX_REPORTS}")
    return tuple(_decode_report(report) for report in request.reports)


def encode_result(outcome: ReportOutcome, transitions: Sequence[Transition] = ()) -> Fields:
    """Return the fields of what came of one report."""
    return {
        "outcome": fields.OUTCOMES[outcome],
        "transitions": [encode_transition(one) for one in transitions],
    }


def encode_transition(transition: Transition) -> pb.MarkTransition:
    """Return the message of a change of a mark."""
    return pb.MarkTransition(
        fingerprint=transition.fingerprint,
        mark=encode_mark(transition.mark),
        is_cleared=transition.is_cleared,
        cause=fields.CAUSES[transition.cause],
        state_version=transition.state_version,
    )


def encode_mark(mark: Mark) -> pb.CredentialMark:
    """Return the message of a mark."""
    return pb.CredentialMark(
        kind=fields.MARK_KINDS[mark.kind],
        window=mark.window,
        model_id=mark.model_id,
        feature=mark.feature,
        expire_time=fields.optional_timestamp(mark.expire_unix_s),
        observe_time=fields.timestamp(mark.observe_unix_s),
        level=max(0, mark.level),
        utilization_ratio=mark.utilization_ratio,
        family=mark.family,
    )


def _decode_report(report: pb.AttemptReport) -> Report | None:
    phase = report.WhichOneof("phase")
    is_named = all(0 < len(one) <= MAX_ID_CHARACTERS for one in (report.grant_id, report.action_id))
    if phase is None or not is_named or min(report.attempt_number, report.sequence_number) < 1:
        return None
    if phase == Phase.ENDED:
        ended = report.ended
        kind = _END_KIND_OF.get(ended.kind)
        if kind is None:
            return None
        status = ended.http_status if ended.HasField("http_status") else None
        return _report(report, Phase.ENDED, ended.end_time, status, ended.headers, kind)
    if phase == Phase.HEADERS:
        seen = report.headers
        return _report(report, Phase.HEADERS, seen.receive_time, seen.http_status, seen.headers)
    return _report(report, Phase.ALIVE, report.alive.last_byte_time)


def _report(
    report: pb.AttemptReport,
    phase: Phase,
    observe_time: timestamp_pb2.Timestamp,
    http_status: int | None = None,
    headers: Sequence[header_pb2.HeaderField] = (),
    end_kind: EndKind | None = None,
) -> Report | None:
    if not (is_told(observe_time) and is_told(report.send_time)):
        return None
    ended = report.ended  # without a word in the other phases
    return Report(
        grant_id=report.grant_id,
        action_id=report.action_id,
        attempt_number=report.attempt_number,
        sequence_number=report.sequence_number,
        phase=phase,
        credential_id=report.credential_id,
        credential_version=report.credential_version,
        presented_hash=report.presented_hash,
        model_id=report.binding.model_id,
        send_unix_s=unix_s(report.send_time) if report.HasField("send_time") else None,
        observe_unix_s=unix_s(observe_time),
        end_kind=end_kind,
        http_status=http_status,
        headers=_headers(headers) if headers else (),
        error_body=ended.error_body[:MAX_BODY_BYTES],
        is_challenge_page=ended.is_challenge_page,
        refused_feature=ended.refused_feature[:MAX_FEATURE_CHARACTERS],
        is_model_not_found=ended.is_model_not_found,
    )


def _headers(found: Sequence[header_pb2.HeaderField]) -> tuple[tuple[str, str], ...]:
    return tuple((one.name, one.value) for one in found[:MAX_HEADERS])
