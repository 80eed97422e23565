#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/testing/conformance_checks.h"
#include "trainer_sdk/process_group/testing/interleaving_plan.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/process_group/testing/run_case.h"

namespace muster {
namespace {

absl::Status Perform(const InterleavingStep& step, RankUnderTest& rank) {
  switch (step.kind) {
    case InterleavingStep::kCollective:
      return RunCase(step.collective, rank);
    case InterleavingStep::kMessage:
      return RunMessage(step.messages[0], rank);
    case InterleavingStep::kBatch:
      return RunBatch(step.messages, rank);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInterleavings(const ConformanceSubject& subject, int size,
                                uint64_t seed) {
  const std::vector<std::vector<int>> groups = OverlappingGroups(size);
  const std::vector<InterleavingStep> plan = DrawSteps(groups, seed);
  std::vector<std::vector<std::unique_ptr<Transport>>> transports;
  for (size_t i = 0; i < groups.size(); i++) {
    auto made =
        MakeTransports(subject.factory, static_cast<int>(groups[i].size()),
                       absl::StrCat("group", i));
    if (!made.ok()) return made.status();
    transports.push_back(*std::move(made));
  }
  return FirstFailure(RunRanks(size, [&](int rank) -> absl::Status {
    std::vector<RankUnderTest> places(groups.size());
    for (size_t i = 0; i < groups.size(); i++) {
      const int r = RankAmong(groups[i], rank);
      if (r < 0) continue;
      places[i].size = static_cast<int>(groups[i].size());
      places[i].memory = subject.memory.get();
      places[i].rank = r;
      places[i].transport = transports[i][r].get();
    }
    for (size_t i = 0; i < plan.size(); i++) {
      RankUnderTest& place = places[plan[i].group];
      if (place.transport == nullptr) continue;
      const absl::Status status = Perform(plan[i], place);
      if (status.ok()) continue;
      for (RankUnderTest& other : places) {
        if (other.transport != nullptr) other.transport->Abort("test failed");
      }
      return absl::Status(
          status.code(),
          absl::StrCat("seed ", seed, ", step ", i, ", group ", plan[i].group,
                       ": ", std::string(status.message())));
    }
    return absl::OkStatus();
  }));
}

}  // namespace muster
