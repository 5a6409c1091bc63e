// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment.hpp"

#include "layer_study.hpp"
#include "progress.hpp"
#include "tensor_study.hpp"

namespace comparison {

results run(inputs const& in, plan const& what) {
  double work = 0;
  for (auto const& tensor : in.tensors) work += tensor_work(tensor, what);
  for (auto const& layer : in.layers) work += layer_work(in, layer, what);

  progress bar(work);
  results found;
  found.plan = what;
  found.notes = in.notes;
  for (auto const& tensor : in.tensors) found.tensors.push_back(study(tensor, what, bar));
  for (auto const& layer : in.layers)
    found.layers.push_back(study(in, layer, found.tensors, what, bar));
  return found;
}

}  // namespace comparison
