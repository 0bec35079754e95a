"""Messages to values and back; every message decodes or raises InvalidRequestError."""
