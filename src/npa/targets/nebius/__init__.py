"""Clusters on Nebius, through the pinned Terraform recipe."""
