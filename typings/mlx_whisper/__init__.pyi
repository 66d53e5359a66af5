"""What s2s uses of mlx-whisper, which has no complete types."""
