# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# usage: cmake -DSOURCE=file -DCOMMAND=compiler;flags -P check.cmake

file(READ "${SOURCE}" text)
if(NOT text MATCHES "// expect: ([^\n]+)")
  message(FATAL_ERROR "${SOURCE} has no line `// expect: <regex>`")
endif()
set(expected "${CMAKE_MATCH_1}")

set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMMAND} "${SOURCE}" RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The good half does not compile:\n${out}")
endif()

execute_process(COMMAND ${COMMAND} -DQUADRILLE_BAD "${SOURCE}"
                RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(status EQUAL 0)
  message(FATAL_ERROR "The bad half compiles.")
endif()
if(NOT out MATCHES "quadrille: " OR NOT out MATCHES "${expected}")
  message(FATAL_ERROR "The bad half does not say: ${expected}\nIt says:\n${out}")
endif()
# g++ and nvcc: "error: static assertion failed"; clang before 16: "error: static_assert failed".
string(REGEX MATCHALL "error: static[_ ]assert" assertions "${out}")
list(LENGTH assertions count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "One mistake must give one static assertion, not ${count}:\n${out}")
endif()
