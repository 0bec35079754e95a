"""Values of the planner: what it is asked (``question``) and what it answers (``decision``)."""
