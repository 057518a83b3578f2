"""A cluster as one HTML file, from values: pure."""
