"""How Slurm says it: its files, names, quantities and states."""
