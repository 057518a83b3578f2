"""From a Cluster to what a target needs; pure."""
