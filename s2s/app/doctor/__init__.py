"""What the command `doctor` looks at, and what it measures."""
