# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Nothing here depends on the machine, so the package goes to share/, not lib/.
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/quadrille")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/quadrille")

install(TARGETS quadrille EXPORT quadrille INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT quadrille NAMESPACE quadrille:: FILE quadrille-targets.cmake DESTINATION "${package_dir}")

write_basic_package_version_file("${PROJECT_BINARY_DIR}/quadrille-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/quadrille-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/quadrille-config.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/quadrille_cuda.cmake"
        DESTINATION "${package_dir}")
