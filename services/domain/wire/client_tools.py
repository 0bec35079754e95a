"""Tools of a coding client that mean something only to its own vendor's models."""

from __future__ import annotations

ORCHESTRATION_TOOLS = frozenset(
    [
        "Agent",
        "SendMessage",
        "Task",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TodoRead",
        "TodoWrite",
        "Workflow",
    ]
)
"""Tools that start, steer and list pieces of work."""

CLIENT_ONLY_TOOLS = ORCHESTRATION_TOOLS | frozenset(
    [
        "CronCreate",
        "CronDelete",
        "CronList",
        "DesignSync",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "ReportFindings",
        "ScheduleWakeup",
        "Skill",
        "ToolSearch",
    ]
)
"""Tools that are offered to the client's own vendor only, unless settings name others."""

_FEWEST = 3
"""So many of them declared together tell the client; one may be anybody's."""


def removable(declared: frozenset[str], listed: frozenset[str]) -> frozenset[str]:
    """Return which of the ``listed`` tools to leave out of a request that declares ``declared``."""
    found = declared & listed
    return found if len(found) >= min(_FEWEST, len(listed)) else frozenset()
