"""The public Python surface."""
