"""Puts dispatch together; the same for the embedded shape and apart."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.dispatch.adapters.http import HttpUpstream
from services.dispatch.adapters.reports import ReportQueue
from services.dispatch.adapters.secrets import CredentialsClient
from services.dispatch.ports import Endpoint
from services.dispatch.server import Dispatch
from services.dispatch.server.circuits import Circuits
from services.dispatch.server.memos import Memos
from services.dispatch.server.target import Stage
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.runtime.host import Bundle
from services.runtime.providers import BASE_URLS, providers_of
from services.runtime.valkey import shared_url

if TYPE_CHECKING:
    from services.dispatch.adapters.memos import ValkeyMemos
    from services.dispatch.settings import DispatchSettings
    from services.domain.catalog import Catalog
    from services.runtime.channel import ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.providers import Provider
    from services.runtime.reloading import Edition, TakeOver
    from services.runtime.settings import CommonSettings

FULL_NAME = "pointsman.dispatch.v1.DispatchService"
MESSAGE_SLACK_BYTES = 1024 * 1024
"""Room for everything in a request beside its body."""

CODEX_BASE_URL = "https://chatgpt.com/backend-api/codex"
"""The only place that a Codex plan's token is sent to."""

_VENDORS = {
    "anthropic": WireFamily.ANTHROPIC,
    "openai": WireFamily.OPENAI_CHAT,
    "google": WireFamily.GEMINI,
}


def build(
    settings: DispatchSettings,
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
    shared_at = shared_url(common, "dispatch")
    sharing = _sharing(shared_at) if shared_at else None
    memos = Memos(clock, sharing)
    channel = channel_to("credentials")
    reports = ReportQueue(channel)
    upstream = HttpUpstream(settings.tenant_networks)
    stage = Stage(
        catalog=catalog,
        endpoints=_endpoints(common, settings),
        credentials=CredentialsClient(channel, reports, clock),
        upstream=upstream,
        clock=clock,
        codec_of=codec_for,
        limits=settings.limits(),
        memos=memos,
        circuits=Circuits(clock),
        rules=settings.rules(),
        is_responses_broad=settings.openai_responses_broad,
        fast_models=frozenset(settings.fast_models),
    )
    jitter = random.Random()  # noqa: S311 - spreads retries, guards nothing
    servicer = Dispatch(stage, settings.budget(), jitter=lambda: jitter.uniform(-1.0, 1.0))

    def adopt(edition: Edition[CommonSettings]) -> TakeOver:
        return servicer.adopt(edition.catalog, _endpoints(edition.settings, settings))

    async def start() -> None:
        await asyncio.to_thread(upstream.prepare)
        reports.start()
        if sharing is not None:
            sharing.start(memos.hear)

    async def aclose() -> None:
        if sharing is not None:
            await sharing.aclose()
        await upstream.aclose()
        await reports.aclose()

    return Bundle(
        full_name=FULL_NAME,
        attach=lambda server: rpc.add_DispatchServiceServicer_to_server(servicer, server),
        start=start,
        aclose=aclose,
        allowed_callers={
            f"/{FULL_NAME}/Dispatch": frozenset({"gateway", "handover"}),
            f"/{FULL_NAME}/CountTokens": frozenset({"gateway", "handover"}),
        },
        secret_methods=frozenset({f"/{FULL_NAME}/Dispatch"}),
        max_message_bytes=settings.max_body_bytes + MESSAGE_SLACK_BYTES,
        info=lambda: {"catalog_version": servicer.catalog_version},
        adopt=adopt,
    )


def _sharing(url: str) -> ValkeyMemos:
    from services.dispatch.adapters.memos import ValkeyMemos  # one process needs no client

    return ValkeyMemos(url)


def _endpoints(common: CommonSettings, settings: DispatchSettings) -> dict[str, Endpoint]:
    return {name: _endpoint(provider, settings) for name, provider in providers_of(common).items()}


def _endpoint(provider: Provider, settings: DispatchSettings) -> Endpoint:
    is_openai = provider.name == "openai"
    is_original = provider.base_url == BASE_URLS.get(provider.name)
    return Endpoint(
        name=provider.name,
        family=provider.family,
        base_url=provider.base_url,
        is_vendor=_VENDORS.get(provider.name) is provider.family,
        header_timeout_s=(
            settings.openai_response_header_timeout_seconds
            if is_openai
            else settings.response_header_timeout_seconds
        ),
        is_dual=provider.is_dual,
        is_original=is_original,
        codex_base_url=CODEX_BASE_URL if is_openai and is_original else "",
    )
