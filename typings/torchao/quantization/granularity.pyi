"""What of a matrix shares a scale."""

class PerAxis:
    def __init__(self, axis: int) -> None: ...

class PerGroup:
    def __init__(self, group_size: int) -> None: ...
