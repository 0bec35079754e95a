"""Many slow streams at once: whole, alive, and in bounded memory."""
