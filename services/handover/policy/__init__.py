"""What to summarise, by whom, and how the conversation looks afterwards; pure."""
