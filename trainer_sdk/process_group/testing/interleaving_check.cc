#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/testing/case_selection.h"
#include "trainer_sdk/process_group/testing/conformance_checks.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/process_group/testing/run_case.h"

namespace muster {
namespace {

constexpr int kSteps = 150;

struct Step {
  int group = 0;
  enum { kCollective, kMessage, kBatch } kind = kCollective;
  CollectiveCase collective;
  std::vector<MessageCase> messages;
};

// Members by rank: everybody, every other one, and the rest with rank 0 last.
std::vector<std::vector<int>> Groups(int size) {
  std::vector<std::vector<int>> groups(3);
  for (int rank = 0; rank < size; rank++) {
    groups[0].push_back(rank);
    if (rank % 2 == 0) groups[1].push_back(rank);
    if (rank % 2 == 1) groups[2].push_back(rank);
  }
  groups[2].push_back(0);
  return groups;
}

MessageCase DrawMessage(std::minstd_rand& random, int size) {
  MessageCase message;
  message.from = static_cast<int>(random() % size);
  message.to =
      static_cast<int>((message.from + 1 + random() % (size - 1)) % size);
  message.count = static_cast<int64_t>(random() % 3000);
  message.dtype = static_cast<DType>(random() % kDTypes);
  message.seed = random();
  return message;
}

std::vector<Step> Plan(const std::vector<std::vector<int>>& groups,
                       uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed + 1));
  std::vector<std::vector<CollectiveCase>> cases;
  for (const auto& members : groups) {
    cases.push_back(ShortCases(static_cast<int>(members.size())));
  }
  std::vector<Step> steps(kSteps);
  for (Step& step : steps) {
    step.group = static_cast<int>(random() % groups.size());
    const int size = static_cast<int>(groups[step.group].size());
    const unsigned draw = random() % 4;
    if (draw < 2 || size == 1) {
      step.collective = cases[step.group][random() % cases[step.group].size()];
    } else {
      step.kind = draw == 2 ? Step::kMessage : Step::kBatch;
      const int messages = draw == 2 ? 1 : static_cast<int>(random() % 6);
      for (int i = 0; i < messages; i++) {
        step.messages.push_back(DrawMessage(random, size));
      }
    }
  }
  return steps;
}

absl::Status Perform(const Step& step, RankUnderTest& rank) {
  switch (step.kind) {
    case Step::kCollective:
      return RunCase(step.collective, rank);
    case Step::kMessage:
      return RunMessage(step.messages[0], rank);
    case Step::kBatch:
      return RunBatch(step.messages, rank);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInterleavings(const ConformanceSubject& subject, int size,
                                uint64_t seed) {
  const std::vector<std::vector<int>> groups = Groups(size);
  const std::vector<Step> plan = Plan(groups, seed);
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
      places[i].size = static_cast<int>(groups[i].size());
      places[i].memory = subject.memory.get();
      for (int r = 0; r < places[i].size; r++) {
        if (groups[i][r] != rank) continue;
        places[i].rank = r;
        places[i].transport = transports[i][r].get();
      }
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
