"""The cluster on this machine."""
