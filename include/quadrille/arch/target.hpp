// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the device code of this pass may use. False everywhere in a host pass.

#include <quadrille/detail/config.hpp>

namespace quadrille::target {

#if defined(__CUDA_ARCH__)
inline constexpr int compute_capability = __CUDA_ARCH__ / 10;
#else
inline constexpr int compute_capability = 0;
#endif

/// min.xorsign.abs.f32 (PTX ISA 7.2: sm_86 and newer).
inline constexpr bool has_xorsign = compute_capability >= 86;

/// cvt.rn.satfinite.e2m1x2.f32 (PTX ISA 8.6: architecture- and family-specific targets from sm_100 on).
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) || defined(__CUDA_ARCH_SPECIFIC__) || \
    defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL)
inline constexpr bool has_e2m1_conversion = compute_capability >= 100;
#else
inline constexpr bool has_e2m1_conversion = false;
#endif

/// wgmma and setmaxnreg (sm_90a only).
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool has_wgmma = true;
#else
inline constexpr bool has_wgmma = false;
#endif

}  // namespace quadrille::target
