"""What a spec means: the Cluster, with every default decided."""
