"""What is shown of a record: one page without anything from outside, and pictures."""
