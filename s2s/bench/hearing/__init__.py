"""How well recognisers write down what is said, and what that takes."""
