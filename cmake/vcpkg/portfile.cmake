# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# An overlay port of the checkout that it lies in: vcpkg install quadrille --overlay-ports=cmake/vcpkg

get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

# Headers only: one configuration is enough, and there is nothing to link.
set(VCPKG_BUILD_TYPE release)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DQUADRILLE_BUILD_TESTS=OFF
        -DQUADRILLE_BUILD_BENCH=OFF
        -DQUADRILLE_BUILD_EXAMPLES=OFF
        -DQUADRILLE_CUDA=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/quadrille)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/share/licenses")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
