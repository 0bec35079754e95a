"""What operators ask of a router: the operations of the admin API, whoever carries the order in."""
