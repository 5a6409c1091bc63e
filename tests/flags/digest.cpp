// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Prints one line "subject input part hash" for many recipes and inputs. Built with other compilers
/// and flags, -ffast-math among them, it must print the same.
///   digest                       all lines
///   digest "subject input part"  the bytes behind one line, an element a line
///
/// Inputs are made of integers and moved as bits: this file computes with no float itself.

#include "../../examples/own_recipe/hif4.hpp"
#include "../../examples/own_recipe/if4.hpp"
#include "support/inputs.hpp"

#include <quadrille/quadrille.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace quadrille;

namespace {

// ---- output ------------------------------------------------------------------------------------

std::string_view wanted;  // the line to show in full, or empty

u64 fnv1a(std::vector<u8> const& bytes) {
  u64 hash = 0xCBF29CE484222325u;
  for (u8 const byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

void show(std::vector<u8> const& bytes, std::size_t width) {
  for (std::size_t i = 0; i < bytes.size(); i += width) {
    std::printf("%zu ", i / width);
    for (std::size_t k = width; k-- > 0;) std::printf("%02x", bytes[i + k]);
    std::printf("\n");
  }
}

// NaNs are equal: the payload of an operation's NaN result is nobody's promise.
u8 canonical(u8 bits) { return bits; }
u32 canonical(u32 bits) { return bits; }
u32 canonical(float const& x) {
  u32 bits;
  std::memcpy(&bits, &x, sizeof bits);
  return (bits & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : bits;
}
u16 canonical(fp16 x) { return (x.bits & 0x7FFF) > 0x7C00 ? u16(0x7E00) : x.bits; }
u16 canonical(bf16 x) { return (x.bits & 0x7FFF) > 0x7F80 ? u16(0x7FC0) : x.bits; }

template <class T>
void report(std::string const& subject, std::string const& input, char const* part,
            std::vector<T> const& values) {
  std::string const line = subject + " " + input + " " + part;
  if (!wanted.empty() && line != wanted) return;
  std::vector<u8> bytes;
  for (T const& value : values) {
    auto const bits = canonical(value);
    u8 raw[sizeof bits];
    std::memcpy(raw, &bits, sizeof bits);
    bytes.insert(bytes.end(), raw, raw + sizeof bits);
  }
  if (wanted.empty())
    std::printf("%s %016llx\n", line.c_str(), fnv1a(bytes));
  else
    show(bytes, sizeof(canonical(values[0])));
}

// ---- inputs, as bits of floats -----------------------------------------------------------------

using words = std::vector<u32>;

template <class T, class Word>
std::vector<T> moved(std::vector<Word> const& bits) {
  static_assert(sizeof(T) == sizeof(Word));
  std::vector<T> values(bits.size());
  std::memcpy(values.data(), bits.data(), bits.size() * sizeof(T));
  return values;
}

// The float sign * units * 2^exponent, cut off to 24 bits; 0 below the normal range.
u32 float_bits(bool negative, u64 units, int exponent) {
  u32 const sign = negative ? 0x80000000u : 0u;
  if (units == 0) return sign;
  int top = 63;
  while ((units >> top) == 0) --top;
  u64 const significand = top > 23 ? units >> (top - 23) : units << (23 - top);
  int const field = top + exponent + 127;
  if (field < 1) return sign;
  return sign | u32(field) << 23 | (u32(significand) & 0x7FFFFFu);
}

template <class Draw>
words drawn(std::size_t n, u64 seed, Draw draw) {
  inputs::splitmix64 random(seed);
  words bits(n);
  for (u32& word : bits) word = draw(random);
  return bits;
}

u32 normal(inputs::splitmix64& random) {
  bool const negative = random.coin();
  return float_bits(negative, inputs::half_normal_units(random), -32);
}

// A normal, 8 times larger with probability 1/8, 64 times with 1/64, ...
u32 heavy_tailed(inputs::splitmix64& random) {
  int exponent = -32;
  while (random.below(8) == 0 && exponent < 0) exponent += 3;
  bool const negative = random.coin();
  return float_bits(negative, inputs::half_normal_units(random), exponent);
}

// Multiples of 1/16 up to 8: ties under every power-of-two scale.
u32 sixteenths(inputs::splitmix64& random) {
  bool const negative = random.coin();
  return float_bits(negative, random.below(129), -4);
}

u32 subnormal(inputs::splitmix64& random) {
  u32 const sign = random.coin() ? 0x80000000u : 0u;
  return sign | u32(random.fraction() & 0x7FFFFFu) >> random.below(23);
}

u32 any_bits(inputs::splitmix64& random) { return u32(random.fraction()); }

// Any finite float.
u32 finite_bits(inputs::splitmix64& random) {
  u32 const bits = any_bits(random);
  return (bits & 0x7F800000u) == 0x7F800000u ? bits & 0xBFFFFFFFu : bits;
}

// Rounded to bfloat16, half up.
u32 bfloat(inputs::splitmix64& random) { return (normal(random) + 0x8000u) & 0xFFFF0000u; }

u32 with_specials(inputs::splitmix64& random) {
  u32 const specials[] = {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFFC00001u};
  u32 const bits = normal(random);
  return random.below(150) == 0 ? specials[random.below(4)] : bits;
}

// Runs of zeros of either sign between runs of normals.
words runs_of_zeros(std::size_t n, u64 seed) {
  words bits = drawn(n, seed, normal);
  inputs::splitmix64 random(seed + 1);
  for (std::size_t start = 0; start < n; start += 64) {
    if (random.coin()) continue;
    for (std::size_t i = start; i < n && i < start + 64; ++i)
      bits[i] = random.coin() ? 0x80000000u : 0u;
  }
  return bits;
}

struct named_input {
  char const* name;
  words (*make)(std::size_t n, u64 seed);
};

named_input const matrix_inputs[] = {
    {"normal", [](std::size_t n, u64 seed) { return drawn(n, seed, normal); }},
    {"bfloat", [](std::size_t n, u64 seed) { return drawn(n, seed, bfloat); }},
    {"heavy_tailed", [](std::size_t n, u64 seed) { return drawn(n, seed, heavy_tailed); }},
    {"sixteenths", [](std::size_t n, u64 seed) { return drawn(n, seed, sixteenths); }},
    {"runs_of_zeros", runs_of_zeros},
    {"subnormal", [](std::size_t n, u64 seed) { return drawn(n, seed, subnormal); }},
    {"with_specials", [](std::size_t n, u64 seed) { return drawn(n, seed, with_specials); }},
    {"finite_bits", [](std::size_t n, u64 seed) { return drawn(n, seed, finite_bits); }},
    {"any_bits", [](std::size_t n, u64 seed) { return drawn(n, seed, any_bits); }},
};

// ---- quantize, dequantize, amax, clip_mask -----------------------------------------------------

template <class R>
void digest_matrix(std::string const& subject, std::string const& input, words const& bits,
                   i64 rows, i64 cols) {
  std::vector<float> x = moved<float>(bits);
  matrix_ref<float const> const view(x.data(), rows, cols);
  quantized<R> q(rows, cols, 7);
  quantize(host_policy{2}, view, q, {.seed = 42, .stream = 3});
  report(subject, input, "codes", q.codes());
  report(subject, input, "scales", q.scales());
  if (!q.outer().empty()) report(subject, input, "outer", q.outer());

  std::vector<float> values(x.size());
  dequantize(host_policy{1}, q, matrix_ref(values.data(), rows, cols));
  report(subject, input, "values", values);
  std::vector<bf16> narrow(x.size());
  dequantize(host_policy{2}, q, matrix_ref(narrow.data(), rows, cols), {.rotated = true});
  report(subject, input, "rotated_bf16", narrow);

  report(subject, input, "amax", std::vector<float>{amax<R>(host, view, 7)});
  if constexpr (R::block::rows == 1) {
    std::vector<u8> mask;
    clip_mask(host, view, q, mask);
    report(subject, input, "mask", mask);
  }
}

template <class R>
void digest_recipe(std::string const& subject) {
  // Whole tiles; and partial ones, with partial blocks where the recipe permits.
  constexpr i64 granularity = detail::max(R::rotation::size, correction_group<typename R::scale>);
  i64 const ragged = granularity == 1 ? 83 : 3 * granularity;
  u64 seed = 1;
  for (named_input const& input : matrix_inputs) {
    digest_matrix<R>(subject, std::string(input.name) + "_32x256", input.make(32 * 256, ++seed), 32,
                     256);
    digest_matrix<R>(subject, std::string(input.name) + "_ragged",
                     input.make(std::size_t(19 * ragged), ++seed), 19, ragged);
  }
}

// ---- gemm --------------------------------------------------------------------------------------

template <class T>
struct plain {};

template <class T>
struct plain_matrix {
  std::vector<T> values;
  i64 rows;
  i64 cols;
};

template <class R>
quantized<R> operand(R, words const& bits, i64 rows, i64 cols) {
  std::vector<float> const x = moved<float>(bits);
  return quantize<R>(host, matrix_ref<float const>(x.data(), rows, cols), {.seed = 5}, 7);
}
template <class T>
plain_matrix<T> operand(plain<T>, words const& bits, i64 rows, i64 cols) {
  plain_matrix<T> result{{}, rows, cols};
  for (float const& x : moved<float>(bits)) result.values.push_back(T(x));
  return result;
}

template <class R>
auto view(quantized<R> const& q) {
  return q.ref();
}
template <class T>
auto view(plain_matrix<T> const& x) {
  return matrix_ref<T const>(x.values.data(), x.rows, x.cols);
}

template <class A, class B, class T>
void digest_product(std::string const& subject, std::string const& input, char const* part,
                    A const& a, B const& b, words const& more) {
  std::vector<T> c;
  for (float const& x : moved<float>(more)) c.push_back(T(x));
  std::vector<T> d(c.size());
  matrix_ref<T> const out(d.data(), view(a).rows, view(b).rows);
  gemm(host_policy{2}, view(a), view(b), out,
       {.alpha = 0.7f, .beta = -1.3f, .c = {c.data(), out.rows, out.cols}, .bias = c.data()});
  report(subject, input, part, d);
}

template <class A, class B>
void digest_gemm(std::string const& subject, i64 k) {
  i64 const m = 37;
  i64 const n = 41;
  u64 seed = 1000;
  for (named_input const& input : matrix_inputs) {
    seed += 3;
    auto const a = operand(A{}, input.make(std::size_t(m * k), seed), m, k);
    auto const b = operand(B{}, input.make(std::size_t(n * k), seed + 1), n, k);
    words const c = input.make(std::size_t(m * n), seed + 2);
    std::vector<float> d(c.size());
    gemm(host_policy{1}, view(a), view(b), matrix_ref(d.data(), m, n));
    report(subject, input.name, "d", d);
    digest_product<decltype(a), decltype(b), bf16>(subject, input.name, "d_bf16", a, b, c);
    digest_product<decltype(a), decltype(b), fp16>(subject, input.name, "d_fp16", a, b, c);
  }
}

// ---- bare casts --------------------------------------------------------------------------------

words every_bf16() {
  words bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = u32(i) << 16;
  return bits;
}

named_input const cast_inputs[] = {
    {"every_bf16", [](std::size_t, u64) { return every_bf16(); }},
    {"any_bits", [](std::size_t n, u64 seed) { return drawn(n, seed, any_bits); }},
    {"normal", [](std::size_t n, u64 seed) { return drawn(n, seed, normal); }},
    {"sixteenths", [](std::size_t n, u64 seed) { return drawn(n, seed, sixteenths); }},
    {"subnormal", [](std::size_t n, u64 seed) { return drawn(n, seed, subnormal); }},
};

// Each float's value as a double, then its two neighbours; subnormal floats only as other numbers.
std::vector<double> doubles_near(words const& bits) {
  std::vector<u64> wide;
  for (u32 const word : bits) {
    u64 const field = word >> 23 & 255;
    u64 const exponent = field == 255 ? 2047 : field + 1023 - 127;
    u64 const exact = u64(word >> 31) << 63 | exponent << 52 | u64(word & 0x7FFFFFu) << 29;
    for (u64 const neighbour : {exact, exact + 1, exact - 1}) wide.push_back(neighbour);
  }
  return moved<double>(wide);
}

template <class Encode, class T>
void digest_encoder(std::string const& subject, std::string const& input, char const* part,
                    std::vector<T> const& values, Encode encode) {
  inputs::splitmix64 random(9);
  std::vector<u8> codes;
  for (T const& x : values) codes.push_back(u8(encode(x, u32(random.fraction()))));
  report(subject, input, part, codes);
}

template <class F, class Rounding>
void digest_rounding(std::string const& format, char const* rounding) {
  std::string const subject = format + "_" + rounding;
  for (named_input const& input : cast_inputs) {
    words const bits = input.make(30000, 77);
    std::vector<float> const x = moved<float>(bits);
    digest_encoder(subject, input.name, "float", x,
                   [](float v, u32 random) { return F::template encode<Rounding>(v, random); });
    if constexpr (!std::is_same_v<F, ue8m0>)  // it takes floats only
      digest_encoder(subject, input.name, "double", doubles_near(bits),
                     [](double v, u32 random) { return F::template encode<Rounding>(v, random); });
    if constexpr (requires { F::template encode<Rounding, overflow::special>(1.f, 0u); })
      digest_encoder(subject, input.name, "special", x, [](float v, u32 random) {
        return F::template encode<Rounding, overflow::special>(v, random);
      });
  }
}

template <class F>
void digest_format(std::string const& format) {
  std::vector<float> values;
  for (u32 code = 0; code < (1u << F::bits); ++code) values.push_back(F::decode(code));
  report(format, "all_codes", "values", values);
  digest_rounding<F, nearest_even>(format, "nearest_even");
  digest_rounding<F, ties_away>(format, "ties_away");
  digest_rounding<F, toward_zero>(format, "toward_zero");
  digest_rounding<F, away_from_zero>(format, "away_from_zero");
  digest_rounding<F, stochastic<8>>(format, "stochastic_8");
  digest_rounding<F, stochastic<24>>(format, "stochastic_24");
}

template <class T>
void digest_half(std::string const& format) {
  std::vector<float> values(65536);
  for (u32 code = 0; code < 65536; ++code) {
    T half;
    half.bits = u16(code);
    values[code] = float(half);
  }
  report(format, "all_codes", "values", values);
  for (named_input const& input : cast_inputs) {
    std::vector<T> halves;
    for (float const& x : moved<float>(input.make(30000, 78))) halves.push_back(T(x));
    report(format, input.name, "float", halves);
  }
}

// ---- recipes of a user -------------------------------------------------------------------------

// Every stock member that no stock recipe uses, once.
struct int4_divided : nvfp4 {
  using element = quadrille::int4;  // CUDA has an int4 too
  using scale = two_level<e4m3, divide_rule>;
  using rounding = ties_away;
};
struct int4_full_folded : nvfp4 {
  using element = int4_full;
  using block = shape<1, 10>;
  using scale = two_level<e4m3, reciprocal_rule>;
  using rounding = stochastic<16>;
};
struct e1m2_divided : ufp4 {
  using scale = one_level<fp32, divide_rule>;
  using rotation = bf16_rounded<random_hadamard<32, seeded_signs>>;
};
struct searched : nvfp4 {
  using scale = two_level<e4m3, error_search<3, 5>, outer_scope::row>;
  using rounding = toward_zero;
};
struct six_absolute : nvfp4 {
  using block = shape<2, 8>;
  using scale = two_level<e4m3, four_over_six<absolute_error>>;
};
struct eden_128 : quartet2_backward {
  using scale = two_level<e4m3, eden<128>>;
};
struct smallest_rule : amax_rule {
  static constexpr zero_scale zero = zero_scale::smallest;
  static constexpr float bound = 256;
};
struct smallest_ue5m3 : nvfp4_gradient {
  using scale = one_level<ue5m3, smallest_rule>;
};
struct mxfp8 : mxfp4_round_up {
  using element = e4m3;
};
struct mxfp8_e5m2 : mxfp4_even {
  using element = e5m2;
  using rounding = away_from_zero;
};
struct mxfp6 : mxfp4 {
  using element = e2m3;
  using rotation = hadamard<64>;
};
struct mxfp6_e3m2 : mxfp4_ceil {
  using element = e3m2;
  using rounding = stochastic<24>;
};
struct if4_gradient : example::if4 {
  using rounding = stochastic<8>;
};

void digest_recipes() {
  digest_recipe<nvfp4>("nvfp4");
  digest_recipe<nvfp4_weight>("nvfp4_weight");
  digest_recipe<nvfp4_gradient>("nvfp4_gradient");
  digest_recipe<nvfp4_wgrad>("nvfp4_wgrad");
  digest_recipe<nvfp4_four_over_six>("nvfp4_four_over_six");
  digest_recipe<nvfp4_fp8_exact>("nvfp4_fp8_exact");
  digest_recipe<nvfp4_per_row>("nvfp4_per_row");
  digest_recipe<mxfp4>("mxfp4");
  digest_recipe<ufp4>("ufp4");
  digest_recipe<ufp4_two_level_gradient>("ufp4_two_level_gradient");
  digest_recipe<quartet_forward>("quartet_forward");
  digest_recipe<quartet_backward>("quartet_backward");
  digest_recipe<quartet2_backward>("quartet2_backward");
  digest_recipe<mxfp4_tseng>("mxfp4_tseng");
  digest_recipe<int4_divided>("int4_divided");
  digest_recipe<int4_full_folded>("int4_full_folded");
  digest_recipe<e1m2_divided>("e1m2_divided");
  digest_recipe<searched>("searched");
  digest_recipe<six_absolute>("six_absolute");
  digest_recipe<eden_128>("eden_128");
  digest_recipe<smallest_ue5m3>("smallest_ue5m3");
  digest_recipe<mxfp8>("mxfp8");
  digest_recipe<mxfp8_e5m2>("mxfp8_e5m2");
  digest_recipe<mxfp6>("mxfp6");
  digest_recipe<mxfp6_e3m2>("mxfp6_e3m2");
  digest_recipe<example::hif4>("hif4");
  digest_recipe<example::if4>("if4");
  digest_recipe<if4_gradient>("if4_gradient");
}

// Not of a quantized matrix with a plain one: where the processor has FMA it sums those with it, within
// the bounds that tests/gemm checks, and elsewhere in the stated order.
void digest_products() {
  digest_gemm<nvfp4, nvfp4_weight>("nvfp4_x_nvfp4_weight", 150);
  digest_gemm<mxfp4, nvfp4_per_row>("mxfp4_x_nvfp4_per_row", 150);
  digest_gemm<mxfp8, mxfp4>("mxfp8_x_mxfp4", 150);
  digest_gemm<ufp4, ufp4_two_level_gradient>("ufp4_x_ufp4_two_level_gradient", 160);
  digest_gemm<quartet2_backward, quartet2_backward>("quartet2_backward_x_itself", 384);
  digest_gemm<example::if4, example::hif4>("if4_x_hif4", 150);
  digest_gemm<plain<fp16>, plain<bf16>>("fp16_x_bf16", 150);
  digest_gemm<plain<float>, plain<float>>("float_x_float", 150);
}

void digest_casts() {
  digest_format<e2m1>("e2m1");
  digest_format<e1m2>("e1m2");
  digest_format<e2m3>("e2m3");
  digest_format<e3m2>("e3m2");
  digest_format<e4m3>("e4m3");
  digest_format<e5m2>("e5m2");
  digest_format<ue5m3>("ue5m3");
  digest_format<quadrille::int4>("int4");
  digest_format<int4_full>("int4_full");
  digest_format<ue8m0>("ue8m0");
  digest_half<fp16>("fp16");
  digest_half<bf16>("bf16");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  digest_recipes();
  digest_products();
  digest_casts();
}
