"""What the operator decides: from a World, which was read, to a Decision, which is acted on. All pure."""
