"""Messages of the contract beside the scorer's own values."""
