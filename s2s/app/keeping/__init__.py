"""What the program keeps on this machine: told, and erased"""
