"""Where a cluster can live; each target reads, plans, applies and inspects."""
