"""How change is said: plans, steps, and what is refused."""
