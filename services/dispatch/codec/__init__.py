"""Proto to values and back. Total: each message decodes, or its bad field is named."""
