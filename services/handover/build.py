"""Puts handover together; the same for the embedded shape and apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.handover.v1 import handover_pb2_grpc as rpc

from services.handover.adapters.dispatch import DispatchModels
from services.handover.model import BindingRef, Limits, Summarizer
from services.handover.server import Handover
from services.handover.server.compactions import Compactions
from services.handover.server.summaries import Summaries
from services.handover.server.writing import Writers
from services.runtime import log
from services.runtime.host import Bundle
from services.runtime.providers import providers_of
from services.runtime.reloading import Current, Edition

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.catalog import Binding, Catalog
    from services.handover.settings import HandoverSettings
    from services.runtime.channel import ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.settings import CommonSettings

FULL_NAME = "pointsman.handover.v1.HandoverService"
MESSAGE_SLACK_BYTES = 1024 * 1024
"""Room for everything in a message beside its body."""

_log = log.get_logger("handover")


def build(
    settings: HandoverSettings,
    common: CommonSettings,
    *,
    catalog: Catalog,
    clock: Clock,
    channel_to: ChannelTo,
) -> Bundle:
    """Return the service, not yet started; does no I/O.

    Raises:
        ConfigError: a provider is configured by halves.
    """
    first, current = Edition(common, catalog), Current(catalog)
    writers = Writers(DispatchModels(channel_to("dispatch"), clock), clock)

    def summaries_on(edition: Edition[CommonSettings]) -> Summaries:
        def window_of(ref: BindingRef) -> int:
            row = _row(edition.catalog, ref.model_id, ref.provider, ref.index)
            return row.context_window_tokens if row else 0

        default = _default(settings, edition)
        limits = Limits(
            settings.timeout_seconds,
            settings.max_summary_tokens,
            settings.compaction_timeout_seconds,
            default,
        )
        return Summaries(writers, limits, clock, window_of)

    compactions = Compactions(writers, settings.compaction_timeout_seconds, clock)
    servicer = Handover(summaries_on(first), compactions, clock)

    async def start() -> None:
        if _default(settings, first) is None:
            _log.info(
                "default_summarizer_unknown", model=settings.model, provider=settings.provider
            )

    def adopt(edition: Edition[CommonSettings]) -> Callable[[], None]:
        steps = (current.adopt(edition), servicer.replaced(summaries_on(edition)))

        def take_over() -> None:
            for step in steps:
                step()

        return take_over

    return Bundle(
        full_name=FULL_NAME,
        attach=lambda server: rpc.add_HandoverServiceServicer_to_server(servicer, server),
        start=start,
        aclose=_nothing,
        allowed_callers={
            f"/{FULL_NAME}/{method}": frozenset({"gateway"}) for method in ("Summarize", "Compact")
        },
        max_message_bytes=settings.max_body_bytes + MESSAGE_SLACK_BYTES,
        info=lambda: {"catalog_version": current.version},
        adopt=adopt,
    )


def peer_message_bytes(settings: HandoverSettings) -> dict[str, int]:
    """Return the largest messages to peers: a question to a model holds a whole conversation."""
    return {"dispatch": settings.max_body_bytes + MESSAGE_SLACK_BYTES}


def _default(settings: HandoverSettings, edition: Edition[CommonSettings]) -> Summarizer | None:
    """Return who writes summaries where a call names nobody; None: not known here."""
    row = _row(edition.catalog, settings.model, settings.provider, 0)
    if row is None or settings.provider not in providers_of(edition.settings):
        return None
    ref = BindingRef(row.model_id, row.provider, row.upstream_id, row.index)
    return Summarizer(ref, row.context_window_tokens)


def _row(catalog: Catalog, model_id: str, provider: str, index: int) -> Binding | None:
    """Return the catalog's row of a binding: by provider, and by place where there are several."""
    model = catalog.models.get(model_id)
    rows = [row for row in model.bindings if row.provider == provider] if model else []
    return next((row for row in rows if row.index == index), rows[0] if rows else None)


async def _nothing() -> None:
    """End without doing anything: nothing is held between calls."""
