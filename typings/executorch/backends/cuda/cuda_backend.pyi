"""CUDA."""

class CudaBackend:
    @classmethod
    def generate_method_name_compile_spec(cls, method_name: str) -> object: ...
