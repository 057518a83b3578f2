"""A cluster at the provider: what it consists of, needs, costs, and what the recipe is told."""
