"""The Kubernetes operator: it reads a World, has a Decision made, and acts on it."""
