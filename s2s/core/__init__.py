"""What every room needs: audio, time, channels, messages, and who an answer belongs to."""
