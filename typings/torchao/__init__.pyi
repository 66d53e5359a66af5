"""What s2s uses of torchao."""
