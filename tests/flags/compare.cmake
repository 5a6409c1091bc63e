# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# usage: cmake -DFIRST=program -DPROGRAM=program -DEMULATOR=program-or-empty -DLEVEL=n -DCPU_LEVEL=program
#              -P compare.cmake

cmake_minimum_required(VERSION 3.20)  # so that "PROGRAM" below is a word, not the variable

execute_process(COMMAND "${CPU_LEVEL}" OUTPUT_VARIABLE cpu_level OUTPUT_STRIP_TRAILING_WHITESPACE)
if(cpu_level LESS LEVEL)
  message("skipped: this CPU is x86-64-v${cpu_level}, the program needs v${LEVEL}")
  return()
endif()

foreach(side FIRST PROGRAM)
  set(runner "")
  if(side STREQUAL "PROGRAM")
    set(runner ${EMULATOR})
  endif()
  execute_process(COMMAND ${runner} "${${side}}" OUTPUT_VARIABLE out_${side} RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR out_${side} STREQUAL "")
    message(FATAL_ERROR "${${side}} ended with ${status} and printed: ${out_${side}}")
  endif()
endforeach()
if(out_FIRST STREQUAL out_PROGRAM)
  return()
endif()

# Name the lines that differ.
string(REPLACE "\n" ";" expected "${out_FIRST}")
string(REPLACE "\n" ";" got "${out_PROGRAM}")
foreach(left right IN ZIP_LISTS expected got)
  if(NOT left STREQUAL right)
    string(APPEND differences "  ${left}  became  ${right}\n")
  endif()
endforeach()
message(FATAL_ERROR "${PROGRAM} gives other bytes than ${FIRST}:\n${differences}")
