# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Each way to use the library, tried by a project outside it: configure, build, run.

set(consumer "${CMAKE_CURRENT_LIST_DIR}")
set(prefix "${CMAKE_CURRENT_BINARY_DIR}/install/prefix")

add_test(NAME install.prefix COMMAND ${CMAKE_COMMAND} --install "${PROJECT_BINARY_DIR}" --prefix "${prefix}")
set_tests_properties(install.prefix PROPERTIES FIXTURES_SETUP quadrille_prefix)

# quadrille_route(NAME ROUTE OPTIONS...): ROUTE is find_package, add_subdirectory or FetchContent.
function(quadrille_route name route)
  set(binary_dir "${CMAKE_CURRENT_BINARY_DIR}/install/${name}")
  add_test(NAME install.${name}
           COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test "${consumer}" "${binary_dir}"
                   --build-generator "${CMAKE_GENERATOR}" --build-makeprogram "${CMAKE_MAKE_PROGRAM}"
                   --build-options "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" -DROUTE=${route}
                   "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DCMAKE_PREFIX_PATH=${prefix}" ${ARGN}
                   --test-command consumer)
  set_tests_properties(install.${name} PROPERTIES FIXTURES_REQUIRED quadrille_prefix)
endfunction()

foreach(route find_package add_subdirectory FetchContent)
  quadrille_route(${route} ${route})
  if(QUADRILLE_HAS_CUDA)
    quadrille_route(${route}_cuda ${route} -DCUDA=ON "-DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER}"
                    -DCMAKE_CUDA_ARCHITECTURES=80)
  endif()
endforeach()
