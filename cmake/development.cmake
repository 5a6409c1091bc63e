# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Settings for building the tests, benchmarks and examples; consumers never see them.

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(QUADRILLE_CCACHE ccache)
if(QUADRILLE_CCACHE)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${QUADRILLE_CCACHE}")
    endif()
  endforeach()
endif()

# CUDA: QUADRILLE_HAS_CUDA says whether .cu files are built.
set(QUADRILLE_HAS_CUDA OFF)
set(CMAKE_CUDA_ARCHITECTURES "80;90a;100a;120a" CACHE STRING "Architectures of the CUDA code")
if(NOT QUADRILLE_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(CMAKE_CUDA_COMPILER nvcc PATHS /usr/local/cuda/bin)
  endif()
  if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
    enable_language(CUDA)
    set(QUADRILLE_HAS_CUDA ON)
  elseif(QUADRILLE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "quadrille: QUADRILLE_CUDA is ON but nvcc was not found; "
                        "put it on PATH, or set CUDACXX or QUADRILLE_CUDA=OFF")
  endif()
endif()
if(NOT QUADRILLE_HAS_CUDA)
  message(STATUS "quadrille: the CUDA code is not built; it needs nvcc, and QUADRILLE_CUDA not OFF")
endif()

# quadrille_warnings: what the library must compile under without a word.
# Linked by targets of this project only.
add_library(quadrille_warnings INTERFACE)
target_compile_options(quadrille_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
# g++ 12 sees an overlap in std::string's operator+ that is not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(quadrille_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
endif()
