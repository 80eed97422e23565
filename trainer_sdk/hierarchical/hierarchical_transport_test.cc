#include "trainer_sdk/hierarchical/hierarchical_transport.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/process_group/testing/transport_conformance.h"

namespace muster {
namespace {

// Ranks are given to hosts in this pattern, over and over.
ConformanceSubject OnHosts(const std::string& name, std::vector<int> pattern,
                           std::vector<int> sizes) {
  ConformanceSubject subject;
  subject.name = name;
  subject.factory = [pattern = std::move(pattern)](GroupPlace place,
                                                   Instant deadline) {
    HierarchicalOptions options;
    options.host =
        "host" + std::to_string(pattern[place.rank % pattern.size()]);
    return NewHierarchicalTransport(std::move(place), options, deadline);
  };
  subject.sizes = std::move(sizes);
  subject.every_nth = 23;
  // Shared memory alone brings messages in the order of their sending.
  if (name == "OneHost") subject.tags = ConformanceSubject::Tags::kInOrder;
  return subject;
}

INSTANTIATE_TEST_SUITE_P(
    Hierarchical, TransportConformance,
    testing::Values(OnHosts("OneHost", {0}, {1, 2}),
                    OnHosts("OneRankEach", {0, 1, 2}, {2}),
                    OnHosts("Even", {0, 0, 1, 1}, {4}),
                    OnHosts("Uneven", {0, 0, 0, 1, 2, 2}, {6}),
                    OnHosts("Interleaved", {0, 1}, {3})),
    [](const testing::TestParamInfo<ConformanceSubject>& param) {
      return param.param.name;
    });

}  // namespace
}  // namespace muster
