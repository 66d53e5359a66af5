"""Talker and code predictor as graphs for MNN's converter.

``talker``: a stack (`transformer.add_stack`) with ``hidden`` [1, H] of the last row and ``logits``
[1, codes + 1] besides, every code and the end of speech behind them. ``predictor``: a stack with
``hidden`` [1, width]. ``head-G``: ``vector`` [1, width] to ``logits`` [1, B], one graph a group.
Where the talker is wider, ``projection``: ``vector`` [1, H] to ``projected`` [1, width].

A frame pass by pass, for the converter stores a weight once for each use of it: fifteen passes in
one graph would be fifteen predictors (docs/decisions/qwen3-mnn-core.md).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.fixed.operators import FixedMatrices
from s2s.tts.qwen3.fixed.predictor_graph import head_names
from s2s.tts.qwen3.mnn.transformer import add_stack
from s2s.tts.qwen3.onnx.transformer import Job, Rows
from s2s.tts.qwen3.reference import PREDICTOR_NAME, TALKER_NAME

TALKER_GRAPH, PREDICTOR_GRAPH, PROJECTION_GRAPH = "talker", "predictor", "projection"
_NARROW = "talker.code_predictor.small_to_mtp_projection"
MNN_GRAPHS_VERSION = 1
"""Of the language model's graphs together: older conversions are then made again."""


def head_graph(group: int) -> str:
    """Name of the graph of a head."""
    return f"head-{group}"


def build_talker(job: Job) -> list[Path]:
    """Write the talker's graph."""
    spec = job.spec
    with GraphBuilder(job.folder, TALKER_GRAPH) as graph:
        matrices = FixedMatrices(graph, job)
        rows = add_stack(graph, matrices, TALKER_NAME, spec.talker)
        end = graph.ints(np.iinfo(np.int32).max)
        last = graph.op("Slice", rows, graph.ints(-1), end, graph.ints(0))
        graph.output("hidden", last, np.float32, (1, spec.talker.hidden))
        head = "talker.codec_head.weight"
        parts = Rows(head, 0, spec.codes), Rows(head, spec.ids.eos, spec.ids.eos + 1)
        graph.output("logits", matrices.times(last, *parts), np.float32, (1, spec.codes + 1))
        return [graph.save(job.marks)]


def build_predictor(job: Job) -> list[Path]:
    """Write the code predictor's graphs."""
    spec, width = job.spec, job.spec.predictor.hidden
    with GraphBuilder(job.folder, PREDICTOR_GRAPH) as graph:
        rows = add_stack(graph, FixedMatrices(graph, job), PREDICTOR_NAME, spec.predictor)
        graph.output("hidden", rows, np.float32, (1, width))
        paths = [graph.save(job.marks)]
    for group, name in enumerate(head_names(spec)):
        with GraphBuilder(job.folder, head_graph(group)) as graph:
            vector = graph.input("vector", np.float32, (1, width))
            logits = FixedMatrices(graph, job).times(vector, Rows(name, 0, spec.codes))
            graph.output("logits", logits, np.float32, (1, spec.codes))
            paths.append(graph.save(job.marks))
    if spec.projected:
        with GraphBuilder(job.folder, PROJECTION_GRAPH) as graph:
            vector = graph.input("vector", np.float32, (1, spec.talker.hidden))
            matrices = FixedMatrices(graph, job)
            narrow = matrices.times(vector, Rows(f"{_NARROW}.weight", 0, width))
            narrow = graph.op("Add", narrow, matrices.vector(f"{_NARROW}.bias"))
            graph.output("projected", narrow, np.float32, (1, width))
            paths.append(graph.save(job.marks))
    return paths
