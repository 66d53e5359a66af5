"""Cases for the kernel's driver without Python (native/driver): inputs, and what numpy makes of
them in double precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from s2s.core.arrays import Floats

F32, F16, Q8_0, Q4_K, Q5_K, Q6_K, BF16 = 0, 1, 8, 12, 13, 14, 30
TYPES = (F32, F16, Q8_0, Q4_K, Q5_K, Q6_K, BF16)
BLOCK, SUPER = 32, 256
DILATIONS = (1, 3, 9)
_NAME = 56
_SUPER_BYTES = {Q4_K: 144, Q5_K: 176, Q6_K: 210}
Wide = np.ndarray


@dataclass
class Cases:
    """A file of cases: named arrays."""

    seed: int = 0
    parts: list[bytes] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def normal(self, *shape: int, scale: float = 1.0) -> Floats:
        """Random numbers of a normal distribution."""
        return (scale * self.random.standard_normal(shape)).astype(np.float32)

    def add(self, kind: str, given: Mapping[str, Wide], tolerance: float | None = None) -> None:
        """The next case of a kind; ``tolerance`` of the largest value wanted."""
        at = self.counts.get(kind, 0)
        self.counts[kind] = at + 1
        arrays = dict(given)
        if tolerance is not None:
            arrays |= {"tolerance": np.array([tolerance], np.float32)}
        for name, array in arrays.items():
            values = array.astype(np.float32) if array.dtype == np.float64 else array
            values = values.astype(np.int32) if values.dtype == np.int64 else values
            raw = np.ascontiguousarray(values).tobytes()
            whole = f"{kind}/{at}/{name}".encode()
            assert len(whole) < _NAME, whole
            self.parts.append(whole.ljust(_NAME, b"\0") + len(raw).to_bytes(8, "little") + raw)

    def write(self, path: Path) -> Path:
        """All of them into a file."""
        path.write_bytes(b"".join(self.parts))
        return path


# --- quantised numbers ----------------------------------------------------------------------------


def eight_bits(values: Wide) -> Wide:
    """Rows as a matrix of 8 bits holds them: to nearest in blocks of 32, with scales in halves."""
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    most = np.abs(blocks).max(1, keepdims=True) / np.float32(127)
    scale = most.astype(np.float16).astype(np.float32)
    small = scale * 127 < most * 127 * np.float32(0.999)
    by = np.where(small, most, scale)
    inverse = np.divide(np.float32(1), by, out=np.zeros_like(by), where=by > 1e-37)
    whole = np.clip(np.rint(blocks * inverse), -127, 127)
    stored = by.astype(np.float16).astype(np.float64)
    return (whole * stored).reshape(values.shape)


def rounded(values: Wide) -> Wide:
    """Rows as they are multiplied: to nearest in 8 bits, in blocks of 32."""
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    most = np.abs(blocks).max(1, keepdims=True)
    inverse = np.divide(
        np.float32(127), most, out=np.zeros_like(most), where=most > 127 * np.float32(1e-37)
    )
    whole = np.rint(blocks * inverse).astype(np.float64)
    return (whole * (most / np.float32(127)).astype(np.float64)).reshape(values.shape)


def raw_rows(cases: Cases, kind: int, rows: int, columns: int) -> tuple[np.ndarray, Wide]:
    """Rows of a GGUF tensor of this type, uint8 [rows, bytes], and what they stand for."""
    if kind in _SUPER_BYTES:
        return _k_quants(cases, kind, rows, columns)
    values = cases.normal(rows, columns)
    if kind == F16:
        halves = values.astype(np.float16)
        return halves.view(np.uint8), halves.astype(np.float64)
    if kind == BF16:
        bits = (values.view(np.uint32) >> 16).astype(np.uint16)
        return bits.view(np.uint8), (bits.astype(np.uint32) << 16).view(np.float32).astype(float)
    if kind == Q8_0:
        signed = cases.random.integers(-128, 128, (rows, columns // BLOCK, BLOCK)).astype(np.int8)
        scales = np.abs(cases.normal(rows, columns // BLOCK, 1, scale=0.01)).astype(np.float16)
        raw = np.concatenate([scales.view(np.uint8), signed.view(np.uint8)], axis=2)
        return raw.reshape(rows, -1), (scales.astype(float) * signed).reshape(rows, columns)
    return values.view(np.uint8), values.astype(float)


def _k_quants(cases: Cases, kind: int, rows: int, columns: int) -> tuple[np.ndarray, Wide]:
    supers, size = columns // SUPER, _SUPER_BYTES[kind]
    raw = cases.random.integers(0, 256, (rows, supers, size), np.uint8)
    halves = np.abs(cases.normal(rows, supers, 2, scale=1e-3)).astype(np.float16)
    if kind == Q6_K:
        raw[..., 208:] = halves[..., :1].view(np.uint8)
        values = halves[..., :1].astype(float) * _six_bits(raw)
    else:
        raw[..., :4] = halves.view(np.uint8)
        d, dmin = halves[..., :1].astype(float), halves[..., 1:].astype(float)
        scales, minima = _scales_and_minima(raw[..., 4:16])
        low = raw[..., 16 if kind == Q4_K else 48 :].reshape(rows, supers, 4, 1, BLOCK)
        values = np.concatenate([low & 15, low >> 4], axis=3).reshape(rows, supers, 8, BLOCK)
        if kind == Q5_K:
            high = raw[..., 16:48].reshape(rows, supers, 1, BLOCK)
            values = values + ((high >> np.arange(8).reshape(8, 1) & 1) << 4)
        values = (d * scales)[..., None] * values - (dmin * minima)[..., None]
    return raw.reshape(rows, -1), values.reshape(rows, columns)


def _scales_and_minima(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Twelve bytes of 6-bit numbers: the first four of each whole, the others in two parts."""
    first, second, third = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate([first & 63, third & 15 | first >> 6 << 4], axis=-1)
    minima = np.concatenate([second & 63, third >> 4 | second >> 6 << 4], axis=-1)
    return scales.astype(float), minima.astype(float)


def _six_bits(raw: np.ndarray) -> Wide:
    low = raw[..., :128].reshape(*raw.shape[:2], 2, 2, BLOCK)
    high = raw[..., 128:192].reshape(*raw.shape[:2], 2, 1, BLOCK)
    quarters = np.concatenate([low & 15, low >> 4], axis=3).astype(int)
    quarters = quarters | (high >> 2 * np.arange(4).reshape(4, 1) & 3).astype(int) << 4
    scales = np.ascontiguousarray(raw[..., 192:208]).view(np.int8).repeat(16, axis=-1)
    return (quarters.reshape(*raw.shape[:2], SUPER) - 32) * scales.astype(float)


def matrix_of(kind: int, bits: int, values: Wide) -> Wide:
    """What a matrix of so many bits holds of rows of this type."""
    return values if bits == 4 or kind == Q8_0 else eight_bits(values)


def add_product(cases: Cases, shape: tuple[int, int], kind: int, bits: int, count: int) -> None:
    """Products of a matrix [rows, columns] with so many vectors."""
    raw, values = raw_rows(cases, kind, *shape)
    x = cases.normal(count, shape[1], scale=float(10.0 ** cases.random.integers(-3, 4)))
    wanted = rounded(x) @ matrix_of(kind, bits, values).T
    numbers = np.array([*shape, kind, bits, count])
    # scales and offsets of four bits are rounded to halves
    tolerance = 2e-3 if bits == 4 else 1e-4
    cases.add("product", {"shape": numbers, "raw": raw, "x": x, "wanted": wanted}, tolerance)


# --- attention and transformers -------------------------------------------------------------------


def softmax(scores: Wide) -> Wide:
    """Over the last axis."""
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def add_attention(cases: Cases, old: int, fresh: int, width: int) -> None:
    """One query over rows in two places."""
    query, keys = cases.normal(width), cases.normal(old + fresh, width)
    values, scale = cases.normal(old + fresh, width), 1 / np.sqrt(width)
    wanted = softmax(keys.astype(float) @ query * scale) @ values.astype(float)
    arrays = {
        "shape": np.array([old, fresh, width]), "query": query, "keys": keys, "values": values,
        "scale": np.array([scale], np.float32), "wanted": wanted,
    }  # fmt: skip
    cases.add("attention", arrays, 4e-3)  # in halves


@dataclass(frozen=True)
class Decoder:
    """A transformer of the talker's kind."""

    hidden: int = 64
    intermediate: int = 96
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64

    def weights(self, cases: Cases) -> dict[str, Wide]:
        """By the driver's names, in single precision."""
        inner, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        shapes = {
            "query": (inner, self.hidden), "key": (kv, self.hidden), "value": (kv, self.hidden),
            "out": (self.hidden, inner), "gate": (self.intermediate, self.hidden),
            "up": (self.intermediate, self.hidden), "down": (self.hidden, self.intermediate),
        }  # fmt: skip
        norms = {
            "attention_norm": self.hidden, "mlp_norm": self.hidden,
            "query_norm": self.head_dim, "key_norm": self.head_dim,
        }  # fmt: skip
        found: dict[str, Wide] = {"norm": 1 + cases.normal(self.hidden, scale=0.1)}
        for at in range(self.layers):
            for name, (rows, columns) in shapes.items():
                found[f"layer{at}.{name}"] = cases.normal(rows, columns, scale=columns**-0.5)
            for name, width in norms.items():
                found[f"layer{at}.{name}"] = 1 + cases.normal(width, scale=0.1)
        return found

    def forward(self, weights: dict[str, Wide], rows: Wide) -> Wide:
        """Outputs [positions, hidden] in double precision, but with matrices of 8 bits and rows
        that are rounded before they are multiplied."""
        x = rows.astype(float)
        for at in range(self.layers):
            of = {name.split(".")[-1]: w for name, w in weights.items() if f"layer{at}." in name}
            matrices = {name: eight_bits(w) for name, w in of.items() if w.ndim == 2}
            normed = rounded(_normed(x, of["attention_norm"]))
            heads = [
                (normed @ matrices[name].T).reshape(len(x), -1, self.head_dim)
                for name in ("query", "key", "value")
            ]
            attended = self._attended(heads, of)
            x = x + rounded(attended) @ matrices["out"].T
            normed = rounded(_normed(x, of["mlp_norm"]))
            gate, up = normed @ matrices["gate"].T, normed @ matrices["up"].T
            x = x + rounded(gate / (1 + np.exp(-gate)) * up) @ matrices["down"].T
        return _normed(x, weights["norm"])

    def _attended(self, heads: Sequence[Wide], of: dict[str, Wide]) -> Wide:
        query, key = _normed(heads[0], of["query_norm"]), _normed(heads[1], of["key_norm"])
        query, key = _rotated(query), _rotated(key)
        group, count = self.heads // self.kv_heads, len(query)
        key, value = key.repeat(group, axis=1), heads[2].repeat(group, axis=1)
        scores = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(self.head_dim)
        scores = np.where(np.tril(np.ones((count, count), bool)), scores, -np.inf)
        return np.einsum("hqk,khd->qhd", softmax(scores), value).reshape(count, -1)

    @property
    def numbers(self) -> list[int]:
        """As the driver reads them."""
        return [
            self.hidden, self.intermediate, self.layers, self.heads, self.kv_heads, self.head_dim,
        ]  # fmt: skip


def _normed(x: Wide, weight: Wide) -> Wide:
    return x / np.sqrt(np.mean(x**2, -1, keepdims=True) + 1e-6) * weight


def _rotated(heads: Wide, theta: float = 10000.0) -> Wide:
    """heads: [positions, heads, head_dim], rotated by halves."""
    half = heads.shape[-1] // 2
    angles = np.arange(len(heads))[:, None] * theta ** (-np.arange(half) / half)
    cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]
    first, second = heads[..., :half], heads[..., half:]
    return np.concatenate([first * cosines - second * sines, second * cosines + first * sines], -1)


def add_transformer(cases: Cases, decoder: Decoder, positions: int) -> None:
    """A forward pass over so many positions."""
    weights, rows = decoder.weights(cases), cases.normal(positions, decoder.hidden)
    arrays = {"shape": np.array([*decoder.numbers, F32, 8, positions]), "in": rows}
    wanted = decoder.forward(weights, rows)
    # a value on the edge of two whole numbers may go either way, a 127th apart
    cases.add("transformer", arrays | weights | {"wanted": wanted}, 3e-2)


def add_frame(cases: Cases, decoder: Decoder, groups: int, codes: int) -> None:
    """The codes of a frame, of which each is far ahead of the others."""
    hidden = decoder.hidden
    weights, first = decoder.weights(cases), cases.normal(2, hidden)
    vectors = cases.normal(groups, codes, hidden)
    heads = cases.normal(groups, codes, hidden, scale=0.1)
    rows = list(first)
    chosen: list[int] = []
    for group in range(groups):
        last = decoder.forward(weights, np.stack(rows))[-1]
        best = int(cases.random.integers(codes))
        heads[group, best] = (last / np.sqrt(np.mean(last**2))).astype(np.float32)
        chosen.append(int(np.argmax(eight_bits(heads[group]) @ rounded(last))))
        if group + 1 < groups:
            rows.append(vectors[group + 1, chosen[-1]])
    arrays = {
        "shape": np.array([*decoder.numbers, F32, 8, 0, groups, codes]), "first": first,
        "uniforms": cases.random.random(groups * 15).astype(np.float32),
        "wanted": np.array(chosen),
    }  # fmt: skip
    arrays |= {f"head{at}.raw": head for at, head in enumerate(heads)}
    arrays |= {f"vector{at}.raw": vector for at, vector in enumerate(vectors)}
    cases.add("frame", arrays | weights)
