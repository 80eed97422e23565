// Tests of crashes: a writer is killed at any byte, its machine loses power at
// any byte, or its disk is full from any byte on. In each case the previous
// checkpoint must stay intact, and a save that reported success must be on the
// disk.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/files/testing/memory_disk.h"
#include "trainer_sdk/process_group/local_transport.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

constexpr char kFolder[] = "/job/checkpoints";

// A model of seven numbers in two tensors. Every rank has both tensors, so a
// save divides them among the ranks.
struct Model {
  std::vector<float> weights = std::vector<float>(5);
  std::vector<int64_t> counts = std::vector<int64_t>(2);

  std::vector<CheckpointSlice> slices() {
    return {WholeTensor({"w", {5}, weights}), WholeTensor({"n", {2}, counts})};
  }
  void Fill(int64_t step) {
    for (int i = 0; i < 5; ++i) {
      weights[static_cast<size_t>(i)] = static_cast<float>(10 * step + i);
    }
    counts = {step, -step};
  }
};

// Saves a checkpoint of `step` and waits for the result.
absl::Status Save(CheckpointWriter& writer, int64_t step) {
  Model model;
  model.Fill(step);
  const absl::Status status =
      writer.Save(step, model.slices(), absl::StrCat("state of ", step));
  return status.ok() ? writer.Wait() : status;
}

absl::StatusOr<std::unique_ptr<CheckpointWriter>> NewWriter(ProcessGroup& group,
                                                            MemoryDisk& disk,
                                                            int keep) {
  return CheckpointWriter::Create(
      group, {.directory = kFolder, .keep = keep, .file_system = &disk});
}

// The step of the newest intact checkpoint. Fails if a newer checkpoint is
// damaged, or if the opened checkpoint has the content of another step.
absl::StatusOr<int64_t> NewestWhole(MemoryDisk& disk) {
  const auto reader = CheckpointReader::OpenNewest(kFolder, &disk);
  if (!reader.ok()) return reader.status();
  const int64_t step = (*reader)->step();
  for (const SkippedCheckpoint& skipped : (*reader)->skipped()) {
    // A damaged checkpoint that is older than the opened one is allowed: the
    // save was removing it when the fault happened.
    if (skipped.folder < (*reader)->folder()) continue;
    return absl::InternalError(skipped.reason);
  }
  Model model;
  if (absl::Status s = (*reader)->Read(model.slices()); !s.ok()) return s;
  Model expected;
  expected.Fill(step);
  if (model.weights != expected.weights || model.counts != expected.counts ||
      (*reader)->state() != absl::StrCat("state of ", step)) {
    return absl::InternalError(absl::StrCat("step ", step, " is another"));
  }
  return step;
}

struct Scenario {
  const char* name;
  int keep;
  // `before`: the steps that are saved before the fault. `step`: the step that
  // is being saved when the fault happens.
  std::vector<int64_t> before;
  int64_t step;
};

// A function that plans a fault of the disk. The fault happens at the disk's
// operation number `at`, as MemoryDisk::operations counts them.
using Fault = std::function<void(MemoryDisk& disk, int64_t at)>;
// A function that checks the disk after a Fault; `saved` is the status of the
// save in which the fault happened.
using Verdict = std::function<absl::Status(
    ProcessGroup& group, MemoryDisk& disk, const absl::Status& saved)>;

// Repeats the scenario's save, each time with a fault at another disk operation
// of the save: the first one, and every `stride`-th one after it. Checks each
// result with `verdict`. Stops when the fault is planned for an operation after
// the end of the save, and returns the index (from 0) of this operation.
absl::StatusOr<int64_t> AtEveryOperation(const Scenario& scenario, int ranks,
                                         int64_t stride, const Fault& fault,
                                         const Verdict& verdict) {
  int64_t cases = 0;
  MemoryDisk empty;
  std::unique_ptr<MemoryDisk> disk = empty.AfterProcess();
  const auto run = [&](ProcessGroup& world) {
    const auto meet = [&] { return world.Run(Barrier()); };
    auto writer = NewWriter(world, *disk, scenario.keep);
    for (const int64_t step : scenario.before) {
      if (!writer.ok()) return writer.status();
      if (absl::Status s = Save(**writer, step); !s.ok()) return s;
    }
    writer->reset();
    if (auto s = meet(); !s.ok()) return s;
    const std::unique_ptr<MemoryDisk> before = disk->AfterProcess();
    // All repetitions use the same process group, which stays intact: an error
    // of a file does not break the group.
    for (int64_t at = 0;; at += stride) {
      if (auto s = meet(); !s.ok()) return s;
      if (world.rank() == 0) disk = before->AfterProcess();
      if (auto s = meet(); !s.ok()) return s;
      writer = NewWriter(world, *disk, scenario.keep);
      if (!writer.ok()) return writer.status();
      if (auto s = meet(); !s.ok()) return s;
      const int64_t begun = disk->operations();
      if (auto s = meet(); !s.ok()) return s;
      if (world.rank() == 0) fault(*disk, begun + at);
      if (auto s = meet(); !s.ok()) return s;
      absl::Status saved = Save(**writer, scenario.step);
      writer->reset();
      if (auto s = meet(); !s.ok()) return s;
      absl::Status status;
      if (world.rank() == 0) {
        cases = at;
        status = verdict(world, *disk, saved);
      }
      if (!status.ok()) {
        return absl::InternalError(absl::StrCat(
            "operation ", at, ", ", saved.ToString(), ": ", status.message()));
      }
      if (saved.ok() && at >= disk->operations() - begun) return saved;
    }
  };
  absl::Status failure =
      FirstFailure(ranks == 1 ? RunWorld(1, run,
                                         [](const GroupPlace& place, Instant) {
                                           return NewLocalTransport(place);
                                         })
                              : RunWorld(ranks, run));
  if (!failure.ok()) return failure;
  return cases;
}

// Checks the newest checkpoint after a save with a fault. The checkpoint must
// be intact, and must be the one that this save made. If the save reported an
// error (`saved`), the checkpoint of the previous save is accepted, too.
absl::Status CheckNewest(const Scenario& scenario, MemoryDisk& disk,
                         const absl::Status& saved) {
  const absl::StatusOr<int64_t> newest = NewestWhole(disk);
  if (!newest.ok()) return newest.status();
  if (*newest != scenario.step &&
      (saved.ok() || *newest != scenario.before.back())) {
    return absl::InternalError(absl::StrCat("the newest is ", *newest));
  }
  return absl::OkStatus();
}

class AnyScenario : public testing::TestWithParam<Scenario> {};

// Checks that a later writer can remove the files that the fault left behind,
// and can save again.
absl::Status CheckSuccessor(ProcessGroup& group, MemoryDisk& disk, int keep,
                            int64_t step) {
  auto writer = NewWriter(group, disk, keep);
  if (!writer.ok()) return writer.status();
  for (const auto& [path, content] : disk.Contents()) {
    if (path.find("/.") == std::string::npos) continue;
    return absl::InternalError(absl::StrCat("left over: ", path));
  }
  if (absl::Status s = Save(**writer, step); !s.ok()) return s;
  return CheckNewest({"", keep, {step}, step}, disk, absl::OkStatus());
}

TEST_P(AnyScenario, ProcessAndMachineMayEndAtEveryByte) {
  const Scenario& scenario = GetParam();
  int cases_judged = 0;
  const auto cases = AtEveryOperation(
      scenario, 1, 1, [](MemoryDisk& disk, int64_t at) { disk.StopAt(at); },
      [&](ProcessGroup& group, MemoryDisk& disk, const absl::Status& saved) {
        for (uint64_t seed = 0; seed < 4; ++seed) {
          absl::Status s =
              CheckNewest(scenario, *disk.AfterPowerLoss(seed), saved);
          if (!s.ok()) {
            return absl::InternalError(
                absl::StrCat("seed ", seed, ": ", s.message()));
          }
        }
        const auto left = disk.AfterProcess();
        if (auto s = CheckNewest(scenario, *left, saved); !s.ok()) return s;
        if (cases_judged++ % 8 != 0) return absl::OkStatus();
        return CheckSuccessor(group, *left, scenario.keep, scenario.step + 1);
      });
  ASSERT_TRUE(cases.ok()) << cases.status();
  // Each operation of the save gets a fault, so `*cases` shows how many
  // operations there are. Each written byte of the header, data, state and
  // manifest is an operation. Together these are more than 500.
  EXPECT_GT(*cases, 500);
}

TEST(CrashTest, ADiskMayBeFullFromEveryByteOn) {
  const Scenario scenario = {"", 2, {1, 2}, 3};
  int cases_judged = 0;
  const auto cases = AtEveryOperation(
      scenario, 1, 1,
      [](MemoryDisk& disk, int64_t at) { disk.FillUp(at, 1 << 20); },
      [&](ProcessGroup& group, MemoryDisk& disk, const absl::Status& saved) {
        if (!saved.ok() &&
            (saved.code() != absl::StatusCode::kResourceExhausted ||
             saved.message().find(kFolder) == absl::string_view::npos)) {
          return saved;
        }
        if (auto s = CheckNewest(scenario, disk, saved); !s.ok()) return s;
        // A failed save leaves no temporary files behind.
        for (const auto& [path, content] : disk.Contents()) {
          if (path.find("/.") == std::string::npos) continue;
          return absl::InternalError(absl::StrCat("left over: ", path));
        }
        disk.FillUp(0, 0);
        if (cases_judged++ % 8 != 0) return absl::OkStatus();
        return CheckSuccessor(group, disk, scenario.keep, scenario.step + 1);
      });
  ASSERT_TRUE(cases.ok()) << cases.status();
}

INSTANTIATE_TEST_SUITE_P(
    Crash, AnyScenario,
    testing::Values(Scenario{"TheThirdOfTwo", 2, {1, 2}, 3},
                    Scenario{"OneIsKept", 1, {1, 2}, 3},
                    Scenario{"TheSameStepAgain", 1, {1, 2}, 2},
                    Scenario{"AnEarlierStep", 2, {7, 9}, 8}),
    [](const auto& param) { return std::string(param.param.name); });

// The disk stops at one operation of a save by two ranks. The order of
// operations differs from run to run. Afterwards the newest checkpoint must be
// intact.
TEST(CrashTest, TwoRanksMayEndAtAnyByte) {
  const Scenario scenario = {"", 1, {1, 2}, 3};
  const auto cases = AtEveryOperation(
      scenario, 2, 7, [](MemoryDisk& disk, int64_t at) { disk.StopAt(at); },
      [&](ProcessGroup&, MemoryDisk& disk, const absl::Status& saved) {
        if (auto s = CheckNewest(scenario, *disk.AfterProcess(), saved);
            !s.ok()) {
          return s;
        }
        return CheckNewest(scenario, *disk.AfterPowerLoss(0), saved);
      });
  ASSERT_TRUE(cases.ok()) << cases.status();
  EXPECT_GT(*cases, 500);
}

}  // namespace
}  // namespace muster
