"""What s2s uses of ExecuTorch."""
