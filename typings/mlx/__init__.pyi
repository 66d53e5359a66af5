"""What s2s uses of MLX."""
