"""Messages to and from the credentials service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import action_pb2, eligibility_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.dispatch.codec import common
from services.dispatch.codec import enums as tables
from services.dispatch.model.access import (
    Access,
    Auth,
    CredentialDenied,
    Ended,
    HeadersSeen,
    StillAlive,
)
from services.dispatch.policy.mask import masked_body
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.dispatch.model.access import Report, SecretQuery
    from services.domain.fields import Fields


def query_message(query: SecretQuery) -> pb.AcquireSecretRequest:
    """Return the question for key material: of a grant, else of a selection to make now."""
    action = action_pb2.ActionContext.FromString(query.action.sealed)
    if query.grant is not None:
        return pb.AcquireSecretRequest(
            action=action,
            grant_id=query.grant.grant_id,
            grant=common.grant_fields(query.grant),
            rejected_version=query.rejected_version,
        )
    record = None
    if query.eligibility is not None:
        record = eligibility_pb2.EligibilityRecord.FromString(query.eligibility.sealed)
    selection = {
        "idempotency_key": query.idempotency_key,
        "binding": common.binding_fields(query.binding),
        "purpose": tables.PURPOSE.number(query.purpose),
        "eligibility": record,
        "tried": query.tried,
        "required_credential_id": query.required_credential_id,
    }
    return pb.AcquireSecretRequest(action=action, selection=selection)


def access_of(message: pb.AcquireSecretResponse) -> Access:
    """Return what an answer lets an attempt do.

    Raises:
        CredentialDenied: the form of authentication is not known, and nothing may be sent under it;
            or the answer lacks its grant.
    """
    if not message.grant.grant_id:
        raise CredentialDenied(
            FailureClass.CREDENTIALS_UNREACHABLE, "credentials answered without a grant"
        )
    auth = message.auth
    scheme = tables.AUTH_SCHEME.get(auth.scheme)
    if scheme is None:
        raise CredentialDenied(
            FailureClass.CREDENTIALS_DISABLED, "the credential's form of authentication is unknown"
        )
    return Access(
        grant=common.told_grant(message.grant),
        auth=Auth(
            scheme=scheme,
            secret=auth.value_secret,
            account_id=auth.account_id,
            header_name=auth.header_name,
            headers=tuple((row.name, row.value_secret) for row in auth.headers),
        ),
        base_url=message.endpoint.base_url,
        proxy_url=message.endpoint.proxy_url_secret,
        is_tenant_given=message.endpoint.is_tenant_given,
    )


def report_request(reports: Iterable[Report]) -> pb.ReportAttemptRequest:
    """Return a batch of reports, in order."""
    return pb.ReportAttemptRequest(reports=[_report(report) for report in reports])


def unstored(reports: Sequence[Report], answer: pb.ReportAttemptResponse) -> list[Report]:
    """Return the reports of a batch that are to be sent again."""
    pairs = zip(reports, answer.results, strict=False)  # an answer without results took them all
    return [report for report, row in pairs if row.outcome == pb.REPORT_OUTCOME_NOT_STORED]


def _report(report: Report) -> Fields:
    grant = report.grant
    name, phase = _phase(report.event)
    return {
        "grant_id": grant.grant_id,
        "action_id": report.action_id,
        "attempt_number": report.attempt_number,
        "sequence_number": report.sequence_number,
        "credential_id": grant.credential_id,
        "credential_version": grant.credential_version,
        "presented_hash": grant.presented_hash,
        "binding": common.binding_fields(grant.binding),
        "send_time": common.timestamp(report.send_unix_s),
        name: phase,
    }


def _phase(event: HeadersSeen | StillAlive | Ended) -> tuple[str, Fields]:
    match event:
        case HeadersSeen(status, headers, receive_unix_s):
            return "headers", {
                "http_status": status,
                "headers": common.header_fields(headers),
                "receive_time": common.timestamp(receive_unix_s),
            }
        case StillAlive(last_byte_unix_s):
            return "alive", {"last_byte_time": common.timestamp(last_byte_unix_s)}
        case Ended():
            return "ended", {
                "kind": tables.END_KIND.number(event.kind),
                "http_status": event.http_status,
                "headers": common.header_fields(event.headers),
                "error_body": masked_body(event.error_body),
                "is_model_not_found": event.is_model_not_found,
                "is_challenge_page": event.is_challenge_page,
                "end_time": common.timestamp(event.end_unix_s),
            }
