#include "trainer_sdk/hierarchical/hierarchical_transport.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/process_group/testing/transport_conformance.h"

namespace muster {
namespace {

constexpr int kSubjects = 5;

// Makes a subject (a transport under test) for the conformance suite. Rank r is
// on the host numbered pattern[r]; if there are more ranks than entries,
// `pattern` repeats. To save time, the suite's cases are divided among
// kSubjects subjects; `number` says which part of the cases this subject runs.
ConformanceSubject OnHosts(int number, const std::string& name,
                           std::vector<int> pattern, std::vector<int> sizes) {
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
  subject.share = number;
  subject.shares = kSubjects;
  // A group on one host uses the shared memory transport itself, which ignores
  // tags and delivers messages in the order in which they were sent.
  if (name == "OneHost") subject.tags = ConformanceSubject::Tags::kInOrder;
  return subject;
}

INSTANTIATE_TEST_SUITE_P(
    Hierarchical, TransportConformance,
    testing::Values(OnHosts(0, "OneHost", {0}, {1, 2}),
                    OnHosts(1, "OneRankEach", {0, 1, 2}, {2, 3}),
                    OnHosts(2, "Even", {0, 0, 1, 1}, {4, 8}),
                    OnHosts(3, "Uneven", {0, 0, 0, 1, 2, 2}, {6, 7}),
                    OnHosts(4, "Interleaved", {0, 1}, {3, 5})),
    [](const testing::TestParamInfo<ConformanceSubject>& param) {
      return param.param.name;
    });

}  // namespace
}  // namespace muster
