"""What a person orders rather than says: to hear or not, to talk, to wake, to stop."""
