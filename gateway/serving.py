"""What serves actions under one catalog: the loop with its stages, and the routes to it.

A newer catalog gets a loop and routes of its own. Requests that run keep those that they began
with, so that one action sees one catalog.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gateway.action import Actions, Stages
from gateway.commands.obeying import Commands
from gateway.compactions import Compactions
from gateway.decider import Decider, Sources
from gateway.deciding.kinds import Rules
from gateway.issuing import Issuers
from gateway.remembering import state_threads
from gateway.routes.served import Served, table
from gateway.routing import Routing
from gateway.step_labels import StepLabels
from gateway.summaries import Summaries
from gateway.thread import SessionThread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.deciding.ports import Handover, Planner, Scorer
    from gateway.explaining.explanations import Explanations
    from gateway.explaining.ports import Watchers
    from gateway.ledger.ports import Ledger
    from gateway.model import Action
    from gateway.office.desk import Office
    from gateway.ports import Answer, Dispatch
    from gateway.requests import Intake
    from gateway.rescues import RescueRules
    from gateway.routes.table import RouteTable
    from gateway.sessions.memory import Sessions
    from gateway.settings import GatewaySettings, RoutingSettings
    from gateway.thread import Thread
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Deciding:
    """What the strategy ``cluster`` needs."""

    scorer: Scorer
    planner: Planner
    handover: Handover
    rules: Rules


@dataclass(frozen=True, slots=True)
class Renewed:
    """What a newer edition changes besides the loop, not yet taken over."""

    sources: Sources
    explanations: Explanations
    take_over: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Serving:
    """All that stays when the configuration changes, but for rules."""

    settings: GatewaySettings
    intake: Intake
    ledger: Ledger
    office: Office
    dispatch: Dispatch
    deciding: Deciding | None
    sessions: Sessions
    rescues: RescueRules
    watchers: Watchers
    readiness: Callable[[], Mapping[str, bool]]
    running: set[Answer] = field(default_factory=set)
    """Answers on their way, whichever catalog they began with."""
    labels: StepLabels = field(default_factory=StepLabels)
    """What the log calls actions, whichever catalog they began with."""

    def under(self, routing: RoutingSettings) -> Serving:
        """Return the same under other settings of the same strategy."""
        deciding = self.deciding
        if deciding is not None:
            deciding = replace(deciding, rules=routing.rules)
        return replace(self, deciding=deciding, rescues=routing.rescue_rules)

    def actions(self, sources: Sources) -> Actions:
        """Return the loop under one policy and one catalog."""
        deciding, sessions = self.deciding, self.sessions
        policy, catalog, clock = sources.policy, sources.catalog, sources.clock
        decider = Decider(sources, _routing(deciding, catalog, clock), self.rescues)
        rules = deciding.rules if deciding is not None else Rules()
        handover = deciding.handover if deciding is not None else None
        stages = Stages(
            thread_of=(
                state_threads(sessions, policy, catalog, clock)
                if deciding is None
                else _threads(sessions, rules, catalog, clock, self.rescues)
            ),
            decider=decider,
            summaries=Summaries(handover, self.ledger, catalog),
            compactions=Compactions(
                handover, self.ledger, decider, catalog, rules, policy.dialects_at
            ),
            credentials=sources.credentials,
            ledger=self.ledger,
            dispatch=self.dispatch,
            watchers=self.watchers,
            commands=Commands(sessions, decider, catalog, clock, rules.strategy.value),
            issuers=Issuers(sessions, clock),
            tagged_models=catalog.tagged_models,
        )
        return Actions(
            stages,
            clock,
            providers=policy.known_providers,
            budget_s=self.settings.action_budget_seconds,
            slot_wait_s=self.settings.slot_wait_seconds,
            running=self.running,
            labels=self.labels,
        )

    def table(self, actions: Actions, catalog: Catalog, explanations: Explanations) -> RouteTable:
        """Return the routes to a loop."""
        served = Served(
            self.intake,
            actions,
            self.dispatch,
            self.office,
            catalog,
            explanations,
            self.readiness,
        )
        return table(served, self.settings)


def _threads(
    sessions: Sessions, rules: Rules, catalog: Catalog, clock: Clock, rescues: RescueRules
) -> Callable[[Action], Thread]:
    """Return what gives each action its session."""
    strategy = rules.strategy.value
    return lambda action: SessionThread(sessions, action, catalog, strategy, clock, rescues)


def _routing(deciding: Deciding | None, catalog: Catalog, clock: Clock) -> Routing | None:
    if deciding is None:
        return None
    return Routing(deciding.scorer, deciding.planner, catalog, clock, deciding.rules)
