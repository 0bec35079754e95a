"""The answer half of an action: from the parts that dispatch sends to what the client reads."""
