"""How far a backend's numbers are from the reference, and where they part."""
