"""What s2s uses of MLX."""

class Dtype: ...

class array:
    def __init__(self, values: object) -> None: ...
    def astype(self, dtype: Dtype) -> array: ...

float16: Dtype
float32: Dtype
