from collections.abc import Mapping

class _Replica:
    _shutting_down: bool

class _Actor:
    _replica_impl: _Replica

class Worker:
    actor_id: object
    actors: Mapping[object, _Actor]

global_worker: Worker
