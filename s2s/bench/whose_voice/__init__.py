"""Who is answered and who interrupts: measured on mixtures of voices, music and noises."""
