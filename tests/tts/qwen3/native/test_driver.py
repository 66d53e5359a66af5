"""The kernel without Python, level by level: what numpy finds in double precision, the same bits at
every level that fuses products, and nothing that a compiler's checks object to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tts.qwen3.native import driver_cases as of
from tests.tts.qwen3.native.driver_builds import (
    LEVELS,
    NATIVE,
    SANITIZED,
    Build,
    Made,
    arm,
    require,
    run,
    run_raw,
)
from tests.tts.qwen3.native.driver_cases import Cases, Decoder
from tests.tts.qwen3.native.driver_codec_cases import CodecTransformer, CodecUpsampler

NATIVE_LEVEL = Build("native")
AVX2 = Build("avx2")
WIDTHS = st.sampled_from([16, 32, 48, 64, 80])


@dataclass(frozen=True)
class Shapes:
    """Of one case of each kind."""

    product: tuple[int, int, int, int]
    """Rows, blocks of 32 or of 256 columns, type, vectors."""
    attention: tuple[int, int, int]
    decoder: Decoder
    positions: int
    codec: CodecTransformer
    upsampler: CodecUpsampler

    def write(self, path: Path, seed: int) -> Path:
        """A file of these cases."""
        cases = Cases(seed)
        rows, blocks, kind, count = self.product
        columns = blocks * (of.SUPER if kind in (of.Q4_K, of.Q5_K, of.Q6_K) else of.BLOCK)
        of.add_product(cases, (rows, columns), kind, 8, count)
        if kind == of.Q4_K:
            of.add_product(cases, (rows, columns), kind, 4, count)
        of.add_attention(cases, *self.attention)
        of.add_transformer(cases, self.decoder, self.positions)
        self.codec.add(cases)
        self.upsampler.add(cases)
        add_hostile(cases, rows, blocks * of.BLOCK)
        return cases.write(path)


SHAPES = st.builds(
    Shapes,
    product=st.tuples(
        st.integers(1, 70), st.integers(1, 5), st.sampled_from(of.TYPES), st.integers(1, 8)
    ),
    attention=st.tuples(st.integers(0, 70), st.integers(1, 40), WIDTHS),
    decoder=st.builds(
        Decoder,
        hidden=st.sampled_from([32, 64, 96]),
        intermediate=st.sampled_from([32, 64, 160]),
        layers=st.integers(1, 2),
        heads=st.sampled_from([2, 4]),
        kv_heads=st.sampled_from([1, 2]),
        head_dim=st.sampled_from([64, 128]),
    ),
    positions=st.integers(2, 70),
    codec=st.builds(
        CodecTransformer,
        frames=st.integers(1, 12), layers=st.integers(1, 2), heads=st.integers(1, 3),
        head_dim=WIDTHS, window=st.integers(1, 9), upsamples=st.integers(1, 2), into=WIDTHS,
        hidden=WIDTHS, inner=WIDTHS, latent=WIDTHS, factor=st.integers(1, 3),
    ),
    upsampler=st.builds(
        CodecUpsampler,
        frames=st.integers(1, 5), steps=st.integers(1, 5), batched=st.integers(1, 2),
        latent=WIDTHS, widths=st.tuples(WIDTHS, WIDTHS, WIDTHS),
        strides=st.tuples(st.integers(1, 6), st.integers(1, 5)),
    ),
)  # fmt: skip


def add_hostile(cases: Cases, rows: int, columns: int) -> None:
    """Products whose values are at the ends of what a float can be: only bits are compared."""
    for value in (np.nan, np.inf, -np.inf, 3e38, 1e-45, 0.0):
        raw, x = cases.normal(rows, columns), cases.normal(3, columns)
        x[1, ::7] = value
        raw[0, ::5] = value if np.isfinite(value) else 1.0
        numbers = np.array([rows, columns, of.F32, 8, 3])
        cases.add("product", {"shape": numbers, "raw": raw, "x": x})


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of cases of every kind and type."""
    cases = Cases(1)
    for kind in of.TYPES:
        of.add_product(cases, (37, 512), kind, 8, 5)
    of.add_product(cases, (37, 512), of.Q4_K, 4, 8)
    for shape in ((1, 5, 16), (0, 1, 64), (40, 3, 128)):
        of.add_attention(cases, *shape)
    of.add_transformer(cases, Decoder(), 45)
    of.add_transformer(cases, Decoder(layers=1, hidden=32, heads=1, kv_heads=1), 3)
    of.add_frame(cases, Decoder(), 9, 40)
    CodecTransformer().add(cases)
    CodecUpsampler().add(cases)
    add_hostile(cases, 20, 64)
    return cases.write(tmp_path_factory.mktemp("cases") / "fixed")


def fused(results: dict[str, str], expected: dict[str, str]) -> None:
    """The bits are those of AVX2."""
    assert results.keys() == expected.keys()
    other = [name for name, bits in expected.items() if results[name] != bits]
    assert not other


def avx2(made: Made) -> Path:
    info = Path("/proc/cpuinfo")
    if not (info.is_file() and "avx2" in info.read_text()):
        pytest.skip("no AVX2 here")
    return made(AVX2)


def test_it_finds_what_numpy_finds(made: Made, fixed: Path) -> None:
    """A whole frame's codes, products, attention, forward passes and the codec."""
    results = run(NATIVE_LEVEL, made(NATIVE_LEVEL), fixed)
    kinds = {name.split()[1].split("/")[0] for name in results}
    assert kinds == {
        "product", "attention", "transformer", "frame", "codec_transformer", "codec_upsampler"
    }  # fmt: skip


def test_what_is_not_wanted_is_told(made: Made, tmp_path: Path) -> None:
    cases = Cases()
    of.add_product(cases, (3, 32), of.F32, 8, 1)
    cases.parts[-2] = cases.parts[-2][:-4] + b"\0\0\0\0"  # the last value that is wanted
    with pytest.raises(AssertionError, match=r"product/0/product .* FAILED"):
        run(NATIVE_LEVEL, made(NATIVE_LEVEL), cases.write(tmp_path / "wrong"))


@settings(max_examples=8)
@given(shapes=SHAPES, seed=st.integers(0, 2**32 - 1))
def test_shapes_of_all_kinds(
    made: Made, tmp_path_factory: pytest.TempPathFactory, shapes: Shapes, seed: int
) -> None:
    cases = shapes.write(tmp_path_factory.mktemp("shapes") / "random", seed)
    run(NATIVE_LEVEL, made(NATIVE_LEVEL), cases, threads=1 + seed % 5)


@pytest.mark.emulation
@pytest.mark.parametrize("name", LEVELS)
def test_every_level_has_the_bits_of_avx2(name: str, made: Made, fixed: Path) -> None:
    """All but x86-64 without fused products, which has what is wanted."""
    level = LEVELS[name]
    results = run(level, made(level), fixed)
    if level.level != "baseline":
        fused(results, run(AVX2, avx2(made), fixed))


@pytest.mark.emulation
@pytest.mark.parametrize("name", LEVELS)
@settings(max_examples=12)
@given(shapes=SHAPES, seed=st.integers(0, 2**32 - 1))
def test_shapes_of_all_kinds_on_every_level(
    name: str,
    made: Made,
    tmp_path_factory: pytest.TempPathFactory,
    shapes: Shapes,
    seed: int,
) -> None:
    level = LEVELS[name]
    cases = shapes.write(tmp_path_factory.mktemp("shapes") / "random", seed)
    results = run(level, made(level), cases, threads=1 + seed % 5)
    if level.level != "baseline":
        fused(results, run(AVX2, avx2(made), cases))


@pytest.mark.emulation
def test_a_processor_without_dot_products_refuses_them(made: Made, fixed: Path) -> None:
    """So the emulator tells levels apart."""
    program = made(arm("dotprod", "max"))
    with pytest.raises(AssertionError, match=r"[Ii]llegal instruction"):
        run_raw(["qemu-aarch64", "-cpu", "cortex-a53", str(program)], fixed, 1, {})


@pytest.mark.sanitizers
@pytest.mark.parametrize("name", SANITIZED)
def test_a_compilers_checks_find_nothing(name: str, made: Made, fixed: Path) -> None:
    way = SANITIZED[name]
    for threads in (1, 2, 7):
        run(way, made(way), fixed, threads)


@pytest.mark.sanitizers
@pytest.mark.parametrize("name", SANITIZED)
@settings(max_examples=30)
@given(shapes=SHAPES, seed=st.integers(0, 2**32 - 1))
def test_a_compilers_checks_find_nothing_in_shapes_of_all_kinds(
    name: str,
    made: Made,
    tmp_path_factory: pytest.TempPathFactory,
    shapes: Shapes,
    seed: int,
) -> None:
    way = SANITIZED[name]
    cases = shapes.write(tmp_path_factory.mktemp("shapes") / "random", seed)
    run(way, made(way), cases, threads=1 + seed % 5)


def under_checks(folder: Path, library: str, checks: str, tests: Sequence[str]) -> str:
    """What pytest says of tests of the kernel that is compiled with a compiler's checks, whose
    library is loaded into Python before anything else; nothing when they pass."""
    require(Build("native"))
    compiler, compiled = folder / "cc", folder / "compiled"
    compiler.write_text(
        f"#!/bin/sh\necho >> {compiled}\nunset LD_PRELOAD\n"
        f'exec gcc -fsanitize={checks} -fno-sanitize-recover=all -g "$@"\n'
    )
    compiler.chmod(0o755)
    found = subprocess.run(
        ["gcc", f"-print-file-name={library}"], capture_output=True, text=True, check=True
    )
    environment = {
        **os.environ,
        "CC": str(compiler),
        "S2S_BUILD_KERNEL": "1",
        "LD_PRELOAD": found.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it has
    }
    # what is counted over thousands of frames runs nothing new, and for minutes
    wanted = ["-k", "not distribution_of_the_loop", "--timeout", "1000"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *wanted, *tests],
        capture_output=True, text=True, env=environment, cwd=NATIVE.parent, check=False,
    )  # fmt: skip
    assert compiled.exists(), "the kernel was not compiled with the checks"
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.sanitizers
@pytest.mark.timeout(1200)
def test_a_compilers_checks_find_nothing_in_the_tests_of_python(tmp_path: Path) -> None:
    here = "tests/tts/qwen3/native"
    names = ("transformer", "frame", "extremes", "codec_upsampler", "codec_transformer", "language")
    tests = [f"{here}/test_{name}.py" for name in names]
    found = under_checks(tmp_path, "libasan.so", "address,undefined", tests)
    assert not found, found[-6000:]
