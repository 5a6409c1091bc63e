# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# find_package(quadrille) gives quadrille::quadrille.
# find_package(quadrille COMPONENTS cuda) also gives quadrille::cuda and needs a CUDA toolkit.

include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/quadrille-targets.cmake")

foreach(component IN LISTS quadrille_FIND_COMPONENTS)
  if(component STREQUAL "cuda")
    find_package(CUDAToolkit QUIET)
    if(CUDAToolkit_FOUND)
      include("${CMAKE_CURRENT_LIST_DIR}/quadrille_cuda.cmake")
      set(quadrille_cuda_FOUND TRUE)
    else()
      set(reason "quadrille: the component cuda needs a CUDA toolkit; put nvcc on PATH or set CUDAToolkit_ROOT")
    endif()
  else()
    set(reason "quadrille: there is no component ${component}; the only one is cuda")
  endif()
  if(quadrille_FIND_REQUIRED_${component} AND NOT quadrille_${component}_FOUND)
    set(quadrille_FOUND FALSE)
    set(quadrille_NOT_FOUND_MESSAGE "${reason}")
  endif()
endforeach()
