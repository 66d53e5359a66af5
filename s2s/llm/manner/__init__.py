"""What a person asks of the assistant's way of speaking: slower, faster, louder, quieter"""
