"""The kubernetes target: clusters that the operator keeps right."""
