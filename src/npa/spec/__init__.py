"""What was asked: the spec as the user wrote it."""
