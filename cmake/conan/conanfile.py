# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re

from conan import ConanFile
from conan.tools.files import copy, load


class QuadrilleConan(ConanFile):
    """conan create cmake/conan packages the checkout that this file lies in."""

    name = "quadrille"
    description = "Header-only C++20 and CUDA library of 4-bit number formats and block quantization"
    license = "Apache-2.0 WITH LLVM-exception"
    topics = ("header-only", "quantization", "fp4", "cuda")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        text = load(self, os.path.join(self._root(), "CMakeLists.txt"))
        self.version = re.search(r"project\(quadrille VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        for pattern in ("LICENSE", "include/*.hpp", "include/*.cuh"):
            copy(self, pattern, self._root(), self.export_sources_folder)

    def package(self):
        for pattern in ("include/*.hpp", "include/*.cuh"):
            copy(self, pattern, self.source_folder, self.package_folder)
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "quadrille")
        # The targets of the CMake package. The CUDA toolkit is the consumer's own.
        targets = {"core": "quadrille::quadrille", "cuda": "quadrille::cuda"}
        for name, target in targets.items():
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", target)
            component.bindirs = []
            component.libdirs = []
        self.cpp_info.components["cuda"].requires = ["core"]
        if self.settings.get_safe("os") in ("Linux", "FreeBSD"):
            self.cpp_info.components["core"].system_libs = ["pthread"]
