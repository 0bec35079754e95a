"""Messages and values, both ways: ``requests`` decodes, ``responses`` encodes."""
