#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/hierarchical/hierarchical_transport.h"
#include "trainer_sdk/process_group/testing/transport_conformance.h"

namespace muster {
namespace {

// Makes a subject (a transport under test) for the conformance suite. Rank r is
// on the host numbered hosts[r]; if there are more ranks than entries, `hosts`
// repeats.
ConformanceSubject OnHosts(const std::string& name, std::vector<int> hosts) {
  ConformanceSubject subject;
  subject.name = name;
  subject.sizes = {static_cast<int>(hosts.size())};
  subject.every_nth = 101;
  subject.factory = [hosts = std::move(hosts)](GroupPlace place,
                                               Instant deadline) {
    HierarchicalOptions options;
    options.host = "host" + std::to_string(hosts[place.rank % hosts.size()]);
    options.network = GlooNetwork();
    return NewHierarchicalTransport(std::move(place), options, deadline);
  };
  return subject;
}

INSTANTIATE_TEST_SUITE_P(
    HierarchicalOverGloo, TransportConformance,
    testing::Values(OnHosts("OneRankEach", {0, 1}),
                    OnHosts("Even", {0, 0, 1, 1}),
                    OnHosts("Uneven", {0, 1, 1})),
    [](const testing::TestParamInfo<ConformanceSubject>& param) {
      return param.param.name;
    });

}  // namespace
}  // namespace muster
