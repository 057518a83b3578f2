"""The API `slurm.nebius.ai`: its kinds as models, and the definitions made of them."""
