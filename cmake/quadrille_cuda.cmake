# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Defines quadrille::cuda: the headers, C++20 for nvcc, and the CUDA runtime if a toolkit was found.
# The build and the installed package both include this file, so the target is the same on each route.

if(NOT TARGET quadrille::cuda)
  add_library(quadrille::cuda INTERFACE IMPORTED GLOBAL)
  target_link_libraries(quadrille::cuda INTERFACE quadrille::quadrille)
  if(TARGET CUDA::cudart)
    target_link_libraries(quadrille::cuda INTERFACE CUDA::cudart)
  endif()

  # CMake before 3.26 knows no C++20 for nvcc and would leave its default, C++17.
  if(CMAKE_VERSION VERSION_LESS 3.26)
    target_compile_options(quadrille::cuda INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
  else()
    target_compile_features(quadrille::cuda INTERFACE cuda_std_20)
  endif()
endif()
