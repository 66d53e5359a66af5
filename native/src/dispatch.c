#include "dispatch.h"

#include <string.h>

#include "code_predictor.h"
#include "codec_transformer.h"
#include "codec_upsampler.h"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

typedef struct { const char *name; int (*executes)(void); } Level;

static int always(void)
{
    return 1;
}

/* --- what the processor has ------------------------------------------------------------------- */

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>

typedef struct { uint32_t a, b, c, d; } Registers;

static Registers cpuid(uint32_t leaf, uint32_t subleaf)
{
    Registers found = { 0, 0, 0, 0 };
    if (__get_cpuid_max(leaf & 0x80000000u, NULL) >= leaf)
        __cpuid_count(leaf, subleaf, found.a, found.b, found.c, found.d);
    return found;
}

/* Which registers the system saves when it switches threads: without it their use is an illegal
 * instruction whatever the processor has. */
static uint64_t saved_registers(void)
{
    uint32_t low, high;
    if (!(cpuid(1, 0).c & bit_OSXSAVE)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static int has(uint32_t bits, uint32_t wanted)
{
    return (bits & wanted) == wanted;
}

/* x86-64-v3 */
static int has_avx2(void)
{
    enum { YMM = 0x6, LZCNT = 1 << 5 };
    const uint32_t v2 = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT;
    const uint32_t v3 = bit_FMA | bit_MOVBE | bit_AVX | bit_F16C;
    return (saved_registers() & YMM) == YMM && has(cpuid(1, 0).c, v2 | v3)
           && has(cpuid(7, 0).b, bit_AVX2 | bit_BMI | bit_BMI2)
           && has(cpuid(0x80000001u, 0).c, LZCNT);
}

static int has_avx2_vnni(void)
{
    enum { AVX_VNNI = 1 << 4 };
    return has_avx2() && cpuid(7, 0).a >= 1 && has(cpuid(7, 1).a, AVX_VNNI);
}

/* x86-64-v4, and its dot products of bytes */
static int has_avx512_vnni(void)
{
    enum { ZMM = 0xe6, AVX512_VNNI = 1 << 11 };
    const uint32_t v4 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
    return has_avx2() && (saved_registers() & ZMM) == ZMM && has(cpuid(7, 0).b, v4)
           && has(cpuid(7, 0).c, AVX512_VNNI);
}

static const Level known[] = {
    { "baseline", always },
    { "avx2", has_avx2 },
    { "avx2_vnni", has_avx2_vnni },
    { "avx512_vnni", has_avx512_vnni },
    { "native", always },
};
#define ALL_LEVELS "baseline avx2 avx2_vnni avx512_vnni"

#elif defined(__aarch64__)

#if defined(__APPLE__)
#include <sys/sysctl.h>

static int has_feature(const char *name)
{
    int has = 0;
    size_t size = sizeof has;
    return !sysctlbyname(name, &has, &size, NULL, 0) && has;
}

static int has_dotprod(void)
{
    return has_feature("hw.optional.arm.FEAT_DotProd");
}

static int has_i8mm(void)
{
    return has_dotprod() && has_feature("hw.optional.arm.FEAT_I8MM");
}

#elif defined(__linux__)
#include <sys/auxv.h>

static int has_dotprod(void)
{
    enum { ASIMDDP = 1 << 20 };
    return (getauxval(AT_HWCAP) & ASIMDDP) != 0;
}

static int has_i8mm(void)
{
    enum { I8MM = 1 << 13 };
    return has_dotprod() && (getauxval(AT_HWCAP2) & I8MM) != 0;
}

#else /* nobody says */

static int has_dotprod(void)
{
    return 0;
}

static int has_i8mm(void)
{
    return 0;
}

#endif

static const Level known[] = {
    { "neon", always },
    { "dotprod", has_dotprod },
    { "i8mm", has_i8mm },
    { "native", always },
};
#define ALL_LEVELS "neon dotprod i8mm"

#else

static const Level known[] = { { "native", always } };
#define ALL_LEVELS "native"

#endif

/* --- what this library has -------------------------------------------------------------------- */

#if defined(S2S_ALL_LEVELS)
static const char here[] = ALL_LEVELS;
#else
static const char here[] = TEXT(S2S_LEVEL); /* native: for the processor it was compiled on */
#endif

enum { LEVELS = sizeof known / sizeof *known };

static int is_here(const char *level)
{
    size_t length = strlen(level);
    for (const char *at = here; (at = strstr(at, level)); at += length)
        if ((at == here || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return 1;
    return 0;
}

int s2s_kernel_interface(void)
{
    return S2S_INTERFACE;
}

const char *s2s_kernel_levels(void)
{
    return here;
}

const char *s2s_kernel_best_level(void)
{
    for (int at = LEVELS - 1; at >= 0; at--)
        if (is_here(known[at].name) && known[at].executes()) return known[at].name;
    return NULL;
}

int s2s_kernel_executes(const char *level)
{
    for (int at = 0; at < LEVELS; at++)
        if (!strcmp(known[at].name, level) && is_here(level)) return known[at].executes();
    return -1;
}

size_t s2s_kernel_size_of(const char *structure)
{
    static const struct { const char *name; size_t size; } sizes[] = {
        { "Shape", sizeof(Shape) },
        { "Layer", sizeof(Layer) },
        { "Sampling", sizeof(Sampling) },
        { "Predictor", sizeof(Predictor) },
        { "PackedWeights", sizeof(PackedWeights) },
        { "Snake", sizeof(Snake) },
        { "CodecTransformerLayer", sizeof(CodecTransformerLayer) },
        { "Upsample", sizeof(Upsample) },
        { "CodecTransformerShape", sizeof(CodecTransformerShape) },
        { "ResidualUnit", sizeof(ResidualUnit) },
        { "Block", sizeof(Block) },
        { "CodecUpsamplerShape", sizeof(CodecUpsamplerShape) },
    };
    for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++)
        if (!strcmp(sizes[at].name, structure)) return sizes[at].size;
    return 0;
}
