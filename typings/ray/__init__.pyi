"""What is used of Ray: its own types leave most of it unknown."""

def init(
    *,
    address: str | None = ...,
    include_dashboard: bool | None = ...,
    log_to_driver: bool = ...,
    logging_level: str = ...,
) -> object: ...
def shutdown() -> None: ...
def cluster_resources() -> dict[str, float]: ...
