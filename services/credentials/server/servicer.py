"""The gRPC face: decode, call, encode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf import duration_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.credentials.codec import credential as credential_codec
from services.credentials.codec import eligibility as eligibility_codec
from services.credentials.codec import fields
from services.credentials.codec import operator as operator_codec
from services.credentials.codec import report as report_codec
from services.credentials.codec import selection as selection_codec
from services.credentials.model import Redemption, ReportOutcome
from services.credentials.policy.selection import verdicts
from services.credentials.server import watching
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any, TypeAlias

    import grpc

    from services.credentials.model import Credential, Material, Selected
    from services.credentials.server.eye import Explanation
    from services.credentials.server.options import Options
    from services.credentials.server.service import Service
    from services.domain.fields import Fields
    from services.runtime.clock import Clock

    # The interceptor owns the context; no method of ours reads its typed parts.
    Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class CredentialsServicer(rpc.CredentialsServiceServicer):
    """Serves CredentialsService."""

    def __init__(self, service: Service, options: Options, clock: Clock) -> None:
        self._service = service
        self._options = options
        self._clock = clock

    async def GetEligibility(  # noqa: N802 - name fixed by the proto
        self, request: pb.GetEligibilityRequest, context: Context
    ) -> pb.GetEligibilityResponse:
        """Say what can serve an installation."""
        installation_id = fields.required(request.installation_id, "installation_id")
        presented = eligibility_codec.decode_presented(request.presented)
        states = self._service.recognised(installation_id, presented)
        snapshot = self._service.eligibility.ask(installation_id)
        is_unchanged = request.known_version == snapshot.version
        return pb.GetEligibilityResponse(
            is_unchanged=is_unchanged,
            snapshot=None if is_unchanged else eligibility_codec.encode_snapshot(snapshot),
            presented=[eligibility_codec.encode_presented(one) for one in states],
        )

    async def SelectCredential(  # noqa: N802 - name fixed by the proto
        self, request: pb.SelectCredentialRequest, context: Context
    ) -> pb.SelectCredentialResponse:
        """Choose a credential and answer a grant without a secret."""
        selected, elapsed_s = await self._service.select(selection_codec.decode_select(request))
        return pb.SelectCredentialResponse(
            grant=selection_codec.encode_grant(selected.grant),
            binding_index=selected.index,
            record=selection_codec.encode_record(selected.decision, elapsed_s),
        )

    async def AcquireSecret(  # noqa: N802 - name fixed by the proto
        self, request: pb.AcquireSecretRequest, context: Context
    ) -> pb.AcquireSecretResponse:
        """Answer the key material of a grant, or of a selection made now."""
        asked = selection_codec.decode_acquire(request)
        if isinstance(asked, Redemption):
            selected, material = await self._service.acquirer.redeem(asked)
            return _acquired(selected, material, None)
        self._service.eligibility.keep(asked.installation_id)
        selected, elapsed_s, material = await self._service.acquirer.select(asked)
        record = selection_codec.encode_record(selected.decision, elapsed_s)
        return _acquired(selected, material, record)

    async def ReportAttempt(  # noqa: N802 - name fixed by the proto
        self, request: pb.ReportAttemptRequest, context: Context
    ) -> pb.ReportAttemptResponse:
        """Apply reports in order."""
        results = []
        for report in report_codec.decode_reports(request):
            if report is None:
                results.append(report_codec.encode_result(ReportOutcome.INVALID))
                continue
            try:
                outcome, transitions = await self._service.reports.apply(report)
            except RouterError as error:
                if error.reason is not Reason.STORE_UNAVAILABLE:
                    raise
                outcome, transitions = ReportOutcome.NOT_STORED, ()
            results.append(report_codec.encode_result(outcome, transitions))
        return pb.ReportAttemptResponse(results=results)

    async def ResetQuota(  # noqa: N802 - name fixed by the proto
        self, request: pb.ResetQuotaRequest, context: Context
    ) -> pb.ResetQuotaResponse:
        """Clear marks of a credential."""
        credential, transitions = await self._service.operator.reset(
            fields.required(request.credential_id, "credential_id", 128),
            request.model_id,
            fields.required(request.actor, "actor", operator_codec.MAX_ACTOR_CHARACTERS),
        )
        return pb.ResetQuotaResponse(
            credential=self._shown(credential),
            transitions=[report_codec.encode_transition(one) for one in transitions],
        )

    async def ExplainSelection(  # noqa: N802 - name fixed by the proto
        self, request: pb.ExplainSelectionRequest, context: Context
    ) -> pb.ExplainSelectionResponse:
        """Explain a selection, past or possible."""
        if request.WhichOneof("subject") == "idempotency_key":
            found = self._service.selector.explain_past(request.idempotency_key)
        else:
            fields.present(request, "selection", "subject")
            query = selection_codec.decode_select(request.selection)
            found = self._service.selector.explain(query)
        return _encode_explanation(found)

    async def ListCredentials(  # noqa: N802 - name fixed by the proto
        self, request: pb.ListCredentialsRequest, context: Context
    ) -> pb.ListCredentialsResponse:
        """List credentials without secrets."""
        page, has_more = self._service.operator.page(operator_codec.decode_list(request))
        shown = operator_codec.fitting(self._shown(one) for one in page)
        has_more = has_more or len(shown) < len(page)
        return pb.ListCredentialsResponse(
            credentials=shown,
            next_page_token=operator_codec.page_token(page[len(shown) - 1]) if has_more else "",
            state_version=self._service.vault.pool.revision,
        )

    async def CreateCredential(  # noqa: N802 - name fixed by the proto
        self, request: pb.CreateCredentialRequest, context: Context
    ) -> pb.CreateCredentialResponse:
        """Store a credential."""
        creation = operator_codec.decode_create(request, self._options.families)
        return pb.CreateCredentialResponse(
            credential=self._shown(await self._service.operator.create(creation))
        )

    async def UpdateCredential(  # noqa: N802 - name fixed by the proto
        self, request: pb.UpdateCredentialRequest, context: Context
    ) -> pb.UpdateCredentialResponse:
        """Change a credential."""
        update = operator_codec.decode_update(request)
        return pb.UpdateCredentialResponse(
            credential=self._shown(await self._service.operator.update(update))
        )

    async def DeleteCredential(  # noqa: N802 - name fixed by the proto
        self, request: pb.DeleteCredentialRequest, context: Context
    ) -> pb.DeleteCredentialResponse:
        """Remove a credential."""
        open_count = await self._service.operator.delete(
            fields.required(request.credential_id, "credential_id", 128),
            request.expected_state_version,
            fields.required(request.actor, "actor", operator_codec.MAX_ACTOR_CHARACTERS),
        )
        return pb.DeleteCredentialResponse(open_grant_count=open_count)

    async def ReencryptCredentials(  # noqa: N802 - name fixed by the proto
        self, request: pb.ReencryptCredentialsRequest, context: Context
    ) -> pb.ReencryptCredentialsResponse:
        """Seal every secret anew under the first key."""
        done = await self._service.reseal(
            fields.required(request.actor, "actor", operator_codec.MAX_ACTOR_CHARACTERS)
        )
        return pb.ReencryptCredentialsResponse(
            changed_count=done.changed_count,
            kept_count=done.kept_count,
            unreadable_count=done.unreadable_count,
        )

    async def WatchCredentials(  # noqa: N802 - name fixed by the proto
        self, request: pb.WatchCredentialsRequest, context: Context
    ) -> AsyncIterator[pb.WatchCredentialsResponse]:
        """Stream changes, after a snapshot where one is asked for."""
        async for message in watching.watch(
            self._service, request, self._shown, self._options.sign_of_life_s
        ):
            yield message

    def _shown(self, credential: Credential) -> pb.Credential:
        return credential_codec.encode_credential(
            credential, self._service.grants.count(credential.id), self._clock.now_unix_s()
        )


def _acquired(
    selected: Selected, material: Material, record: Fields | None
) -> pb.AcquireSecretResponse:
    return pb.AcquireSecretResponse(
        grant=selection_codec.encode_grant(selected.grant),
        auth=selection_codec.encode_auth(material),
        endpoint=selection_codec.encode_endpoint(material),
        cache_until_time=fields.optional_timestamp(material.cache_until_unix_s),
        record=record,
    )


def _encode_explanation(found: Explanation) -> pb.ExplainSelectionResponse:
    judged = () if found.decision is None else verdicts(found.decision)
    answer = pb.ExplainSelectionResponse(
        record=selection_codec.encode_record(found.decision, found.elapsed_s, judged),
        binding_index=found.index,
    )
    if found.denial is not None:
        answer.denial_reason = found.denial.reason.value
        if found.denial.retry_after_s is not None:
            delay = duration_pb2.Duration(seconds=round(found.denial.retry_after_s))
            answer.retry_delay.CopyFrom(delay)
    return answer
