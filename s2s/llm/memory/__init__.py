"""What the assistant was asked to remember: read, told to the model, kept and forgotten"""
