"""Runs handover apart: ``python -m services.handover``."""

from __future__ import annotations

import sys

from services.handover.build import build, peer_message_bytes
from services.handover.settings import HandoverSettings
from services.runtime import parts

if __name__ == "__main__":
    sys.exit(parts.main("handover", HandoverSettings, build, peer_sizes=peer_message_bytes))
