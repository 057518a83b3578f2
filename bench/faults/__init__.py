"""Faults made on real clusters: what `status` says of each, what repairs it, and how long that takes."""
