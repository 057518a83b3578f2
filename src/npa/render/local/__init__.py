"""A Cluster as nodes on one machine: namespaces, mounts, processes, files."""
