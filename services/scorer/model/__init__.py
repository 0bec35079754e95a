"""Values of the scorer: artifacts, questions and decisions."""
