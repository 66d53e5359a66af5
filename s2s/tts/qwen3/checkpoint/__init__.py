"""What is in a checkpoint: shapes, names, tensors, formats, and how they are found."""
