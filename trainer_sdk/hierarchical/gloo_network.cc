#include "trainer_sdk/hierarchical/gloo_network.h"

#include <utility>
#include <vector>

#include "trainer_sdk/gloo/gloo_transport.h"

namespace muster {

NetworkFactory GlooNetwork() {
  return
      [](GroupPlace place, const std::vector<int>& told_as, Instant deadline) {
        GlooOptions options;
        options.told_as = told_as;
        return NewGlooTransport(std::move(place), options, deadline);
      };
}

}  // namespace muster
