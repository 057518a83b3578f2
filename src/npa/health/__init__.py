"""How well a cluster is: observations and reports."""
