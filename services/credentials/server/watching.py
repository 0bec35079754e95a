"""What one watcher is sent: a snapshot where it asks for one, then changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.codec.eligibility import encode_snapshot
from services.credentials.codec.report import encode_transition
from services.credentials.model import Credential, Snapshot, Transition
from services.credentials.server.feed import Removed
from services.domain.errors import InvalidRequestError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from services.credentials.server.feed import Change
    from services.credentials.server.service import Service

    Show = Callable[[Credential], pb.Credential]


async def watch(
    service: Service, request: pb.WatchCredentialsRequest, show: Show, sign_of_life_s: float
) -> AsyncIterator[pb.WatchCredentialsResponse]:
    """Yield what a watcher asked for, until it leaves.

    Raises:
        InvalidRequestError: it asks for nothing.
        RouterError: RESUME_TOKEN_EXPIRED.
    """
    if not (request.wants_eligibility or request.wants_credentials):
        raise InvalidRequestError.of(
            "wants_eligibility", "set wants_eligibility or wants_credentials"
        )
    feed = service.feed
    number = feed.position(request.resume_token) if request.resume_token else feed.last
    if request.wants_snapshot and not request.resume_token:
        for message in _snapshot(service, request, show):
            message.resume_token = feed.token(number)
            yield message
    else:
        # Says at once that the watch stands, and from where it can be resumed.
        yield pb.WatchCredentialsResponse(resume_token=feed.token(number))
    async for event in feed.after(number, sign_of_life_s):
        token = feed.token(event.number)
        if event.change is None:
            yield pb.WatchCredentialsResponse(resume_token=token)
        elif _is_wanted(request, event.installation_id, event.change):
            message = _encode(event.change, show)
            message.resume_token = token
            message.installation_id = event.installation_id
            yield message


def _snapshot(
    service: Service, request: pb.WatchCredentialsRequest, show: Show
) -> Iterator[pb.WatchCredentialsResponse]:
    wanted, snapshots, credentials = request.installation_id, [], []
    if request.wants_eligibility:
        book = service.eligibility
        snapshots = [book.ask(wanted)] if wanted else book.asked()
    if request.wants_credentials:
        credentials = [
            one
            for one in service.vault.pool.by_id.values()
            if not wanted or one.spec.installation_id == wanted
        ]
    for snapshot in snapshots:
        yield pb.WatchCredentialsResponse(
            eligibility=encode_snapshot(snapshot), installation_id=snapshot.installation_id
        )
    for one in credentials:
        yield pb.WatchCredentialsResponse(
            credential=show(one), installation_id=one.spec.installation_id
        )
    yield pb.WatchCredentialsResponse(
        snapshot_end=pb.SnapshotEnd(
            credential_count=len(credentials), eligibility_count=len(snapshots)
        )
    )


def _is_wanted(request: pb.WatchCredentialsRequest, installation_id: str, change: Change) -> bool:
    if request.installation_id and installation_id != request.installation_id:
        return False
    if isinstance(change, Snapshot):
        return request.wants_eligibility
    return request.wants_credentials


def _encode(change: Change, show: Show) -> pb.WatchCredentialsResponse:
    match change:
        case Snapshot():
            return pb.WatchCredentialsResponse(eligibility=encode_snapshot(change))
        case Credential():
            return pb.WatchCredentialsResponse(credential=show(change))
        case Removed():
            return pb.WatchCredentialsResponse(deleted_credential_id=change.credential_id)
        case Transition():
            return pb.WatchCredentialsResponse(transition=encode_transition(change))
