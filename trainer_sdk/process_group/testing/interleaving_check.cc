// Checks operations that are started in one order and waited for in another.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/conformance_checks.h"
#include "trainer_sdk/process_group/testing/prepared_operation.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/store/prefix_store.h"

namespace muster {
namespace {

// One step of the test: a collective, a message or a batch in one of several
// overlapping groups.
struct InterleavingStep {
  int group = 0;
  enum { kCollective, kMessage, kBatch } kind = kCollective;
  CollectiveCase collective;
  // The messages of a step of kind kMessage (one message) or kBatch (any
  // number); empty for a collective.
  std::vector<MessageCase> messages;
};

constexpr int kSteps = 150;

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

// Returns three groups, each as a list of its members' world ranks in the order
// of their group ranks: all ranks; the even ranks; the odd ranks, then rank 0.
std::vector<std::vector<int>> OverlappingGroups(int size) {
  std::vector<std::vector<int>> groups(3);
  for (int rank = 0; rank < size; rank++) {
    groups[0].push_back(rank);
    if (rank % 2 == 0) groups[1].push_back(rank);
    if (rank % 2 == 1) groups[2].push_back(rank);
  }
  groups[2].push_back(0);
  return groups;
}

// The index of the world rank `rank` in `members`, the world ranks of a group;
// -1 if `rank` is not a member.
int RankAmong(const std::vector<int>& members, int rank) {
  const auto at = std::find(members.begin(), members.end(), rank);
  return at == members.end() ? -1 : static_cast<int>(at - members.begin());
}

// Draws a random sequence of 150 steps in the groups `groups`. The sequence is
// determined by `seed`.
std::vector<InterleavingStep> DrawSteps(
    const std::vector<std::vector<int>>& groups, uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed + 1));
  std::vector<std::vector<CollectiveCase>> cases;
  cases.reserve(groups.size());
  for (const auto& members : groups) {
    cases.push_back(ShortCases(static_cast<int>(members.size())));
  }
  std::vector<InterleavingStep> steps(kSteps);
  for (InterleavingStep& step : steps) {
    step.group = static_cast<int>(random() % groups.size());
    const int size = static_cast<int>(groups[step.group].size());
    const unsigned draw = random() % 4;
    if (draw < 2 || size == 1) {
      step.collective = cases[step.group][random() % cases[step.group].size()];
    } else {
      step.kind =
          draw == 2 ? InterleavingStep::kMessage : InterleavingStep::kBatch;
      const int messages = draw == 2 ? 1 : static_cast<int>(random() % 6);
      for (int i = 0; i < messages; i++) {
        step.messages.push_back(DrawMessage(random, size));
      }
    }
  }
  return steps;
}

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

namespace {

// The number of steps (operations) in one window, a part of the random sequence
// that one call of DoWindow performs. The operations of one window may be
// pending at the same time.
constexpr size_t kWindow = 10;

// One rank of the test, which is a member of several groups.
class StartingRank {
 public:
  StartingRank(const ConformanceSubject& subject, int rank, uint64_t seed)
      : subject_(subject),
        rank_(rank),
        random_(static_cast<unsigned>(seed * 1009 +
                                      static_cast<uint64_t>(rank) + 1)) {}

  absl::Status MakeGroups(const std::vector<std::vector<int>>& groups,
                          const std::shared_ptr<Store>& store) {
    groups_.resize(groups.size());
    collectives_.resize(groups.size());
    for (size_t i = 0; i < groups.size(); i++) {
      GroupPlace place;
      place.rank = RankAmong(groups[i], rank_);
      if (place.rank < 0) continue;
      place.size = static_cast<int>(groups[i].size());
      place.name = absl::StrCat("group", i);
      place.store = std::make_shared<PrefixStore>(place.name, store);
      ProcessGroupOptions options;
      options.timeout = std::chrono::seconds(30);
      auto group = ProcessGroup::Create(place, subject_.factory, options);
      if (!group.ok()) return group.status();
      groups_[i] = *std::move(group);
    }
    return absl::OkStatus();
  }

  // Performs the steps [begin, end) as one window. First starts all steps
  // except the last, without waiting: the steps of one group in order, steps of
  // different groups in a random order. Then performs the last step and waits
  // for it. This cannot deadlock, because every rank first starts all earlier
  // steps of the window. Finally waits for the started operations, in random
  // order.
  absl::Status DoWindow(const std::vector<InterleavingStep>& steps,
                        size_t begin, size_t end) {
    std::vector<std::deque<size_t>> queues(groups_.size());
    for (size_t i = begin; i + 1 < end; i++) {
      if (groups_[steps[i].group] != nullptr) {
        queues[steps[i].group].push_back(i);
      }
    }
    for (;;) {
      std::erase_if(queues, [](const auto& queue) { return queue.empty(); });
      if (queues.empty()) break;
      auto& queue = queues[random_() % queues.size()];
      Start(steps[queue.front()], queue.front());
      queue.pop_front();
    }
    absl::Status status = RunStep(steps[end - 1], end - 1);
    if (!status.ok()) AbortAll(status);
    std::shuffle(started_.begin(), started_.end(), random_);
    // Wait for all operations, even after an error, because the buffers of an
    // operation must stay valid until the operation ends.
    for (const Started& started : started_) {
      const absl::Status ended = Named(
          started.step, started.prepared->CheckResult(started.work->Wait()));
      if (ended.ok()) continue;
      AbortAll(ended);
      status.Update(ended);
    }
    started_.clear();
    return status;
  }

 private:
  struct Started {
    size_t step = 0;
    std::unique_ptr<PreparedOperation> prepared;
    std::shared_ptr<Work> work;
  };

  // Prepares this rank's part of `step`. Returns null if the step does not
  // involve this rank.
  std::unique_ptr<PreparedOperation> Prepare(const InterleavingStep& step) {
    const ProcessGroup* const group = groups_[step.group].get();
    if (group == nullptr) return nullptr;
    uint64_t& sequence = collectives_[step.group];
    if (step.kind == InterleavingStep::kCollective) sequence++;
    const PreparedPlace place = {*subject_.memory, group->rank(), group->size(),
                                 sequence};
    switch (step.kind) {
      case InterleavingStep::kCollective:
        return PrepareCase(step.collective, place);
      case InterleavingStep::kMessage:
        return PrepareMessage(step.messages[0], place);
      case InterleavingStep::kBatch:
        return PrepareBatch(step.messages, place);
    }
    return nullptr;
  }

  void Start(const InterleavingStep& step, size_t number) {
    Started started{number, Prepare(step), nullptr};
    if (started.prepared == nullptr) return;
    started.work = groups_[step.group]->Start(started.prepared->operation());
    started_.push_back(std::move(started));
  }

  absl::Status RunStep(const InterleavingStep& step, size_t number) {
    const auto prepared = Prepare(step);
    if (prepared == nullptr) return absl::OkStatus();
    return Named(number, prepared->CheckResult(
                             groups_[step.group]->Run(prepared->operation())));
  }

  void AbortAll(const absl::Status& cause) {
    for (const auto& group : groups_) {
      if (group == nullptr) continue;
      group->Abort(absl::StrCat("rank ", rank_, " of the test failed: ",
                                std::string(cause.message())));
    }
  }

  static absl::Status Named(size_t step, const absl::Status& status) {
    if (status.ok()) return status;
    return absl::Status(
        status.code(),
        absl::StrCat("step ", step, ": ", std::string(status.message())));
  }

  const ConformanceSubject& subject_;
  const int rank_;
  std::minstd_rand random_;
  // indexed by group; null: this rank is not a member of the group
  std::vector<std::unique_ptr<ProcessGroup>> groups_;
  // indexed by group: the number of collectives so far in this group
  std::vector<uint64_t> collectives_;
  std::vector<Started> started_;
};

}  // namespace

absl::Status CheckStartedOperations(const ConformanceSubject& subject, int size,
                                    uint64_t seed) {
  const std::vector<std::vector<int>> groups = OverlappingGroups(size);
  const std::vector<InterleavingStep> steps = DrawSteps(groups, seed);
  const auto store = std::make_shared<InProcessStore>();
  absl::Status failure =
      FirstFailure(RunRanks(size, [&](int rank) -> absl::Status {
        StartingRank starting(subject, rank, seed);
        absl::Status status = starting.MakeGroups(groups, store);
        for (size_t i = 0; i < steps.size() && status.ok(); i += kWindow) {
          status =
              starting.DoWindow(steps, i, std::min(i + kWindow, steps.size()));
        }
        return status;
      }));
  if (failure.ok()) return failure;
  return absl::Status(
      failure.code(),
      absl::StrCat("seed ", seed, ", ", std::string(failure.message())));
}

}  // namespace muster
