"""The hands: one module per program or kernel interface. They decode and never decide."""
