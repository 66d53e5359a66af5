"""A record held again: the same person, in simulated time, with the models that were, or others."""
