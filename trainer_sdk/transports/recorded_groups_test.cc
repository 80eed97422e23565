// Tests the flight recorders of several ranks when groups are created more than
// once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/flight_recorder.h"
#include "trainer_sdk/process_group/device_mesh.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecordedGroups : public ::testing::Test {
 protected:
  static constexpr int kRanks = 4;

  RecordedGroups() {
    for (int rank = 0; rank < kRanks; rank++) {
      FlightRecorder::Options options;
      options.rank = rank;
      options.world_size = kRanks;
      recorders_.push_back(std::make_unique<FlightRecorder>(options));
    }
  }

  absl::StatusOr<std::unique_ptr<ProcessGroup>> World(int rank) {
    GroupPlace place;
    place.rank = rank;
    place.size = kRanks;
    place.store = store_;
    place.name = "world";
    ProcessGroupOptions options;
    options.timeout = std::chrono::seconds(30);
    options.explanation_timeout = std::chrono::milliseconds(10);
    options.recorder = recorders_[rank].get();
    return NewProcessGroup(place, TransportChoice::kSharedMemory, options);
  }

  std::vector<std::string> Findings() const {
    std::vector<FlightLog> logs;
    for (const auto& recorder : recorders_) {
      logs.push_back(recorder->Snapshot());
    }
    return AnalyseFlight(logs).findings;
  }

  const std::shared_ptr<Store> store_ = std::make_shared<InProcessStore>();
  std::vector<std::unique_ptr<FlightRecorder>> recorders_;
};

TEST_F(RecordedGroups, GroupsOfOneNameAreDistinguished) {
  const absl::Status status =
      FirstFailure(RunRanks(kRanks, [&](int rank) -> absl::Status {
        auto world = World(rank);
        if (!world.ok()) return world.status();
        std::vector<std::unique_ptr<DeviceMesh>> meshes;
        for (const Operation& operation :
             {Barrier(), Broadcast(nullptr, nullptr, 0, DType::kInt8, 0)}) {
          auto mesh = DeviceMesh::Create(**world, {{"dp", 2}, {"pp", 2}});
          if (!mesh.ok()) return mesh.status();
          absl::Status run = (*mesh)->group("dp").Run(operation);
          if (!run.ok()) return run;
          meshes.push_back(*std::move(mesh));
        }
        return absl::OkStatus();
      }));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Findings(), IsEmpty());
  // Two groups with the name world/dp:1 were created one after the other. They
  // must differ in GroupPlace::birth.
  std::vector<uint64_t> births;
  for (const FlightGroup& group : recorders_[3]->Snapshot().groups) {
    if (group.name == "world/dp:1") births.push_back(group.birth);
  }
  ASSERT_EQ(births.size(), 2u);
  EXPECT_NE(births[0], births[1]);
}

TEST_F(RecordedGroups, RecreatedGroupIsNotBlamed) {
  const auto work = [&](int rank, int worlds) -> absl::Status {
    auto world = World(rank);
    if (!world.ok()) return world.status();
    CallOptions soon;
    soon.timeout = std::chrono::milliseconds(100);
    for (int i = 1; i < worlds; i++) {
      // The barrier must fail on ranks 0 and 1, because rank 2 does not call
      // it.
      if (rank != 2) {
        EXPECT_FALSE((*world)->Run(Barrier(), soon).ok());
      }
      world = World(rank);
      if (!world.ok()) return world.status();
    }
    return (*world)->Run(Barrier());
  };
  const absl::Status status =
      FirstFailure(RunRanks(kRanks, [&](int rank) { return work(rank, 3); }));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(Findings(), IsEmpty());
  for (const auto& recorder : recorders_) {
    EXPECT_EQ(recorder->Snapshot().reason, "");
  }
}

TEST_F(RecordedGroups, RankThatDoesNotSplitIsNamed) {
  const auto failed = RunRanks(kRanks, [&](int rank) -> absl::Status {
    auto world = World(rank);
    if (!world.ok()) return world.status();
    auto part = (*world)->Split(rank % 2, 0);
    if (!part.ok()) return part.status();
    // Wait until all ranks have completed the first Split. Otherwise the
    // failure that follows on one rank could end this Split on another rank.
    absl::Status split = (*world)->Run(Barrier());
    if (!split.ok()) return split;
    CallOptions soon;
    soon.timeout = std::chrono::milliseconds(100);
    return rank == 1 ? (*world)->Run(Barrier(), soon)
                     : (*world)->Split(0, 0, "", soon).status();
  });
  for (const absl::Status& status : failed) EXPECT_FALSE(status.ok());
  EXPECT_THAT(Findings(),
              ElementsAre("in group world ranks 0, 2-3 called split #3, but "
                          "rank 1 called barrier #3"));
}

TEST_F(RecordedGroups, RankThatDoesNotAnswerABatchIsNamed) {
  const auto failed = RunRanks(kRanks, [&](int rank) -> absl::Status {
    auto world = World(rank);
    if (!world.ok()) return world.status();
    absl::Status ready = (*world)->Run(Barrier());
    if (!ready.ok() || rank == 1) return ready;
    float value = 0;
    CallOptions soon;
    soon.timeout = std::chrono::milliseconds(100);
    return (*world)->Run(Batch({BatchReceive(&value, 1, DType::kFloat32, 1)}),
                         soon);
  });
  EXPECT_TRUE(failed[1].ok()) << failed[1];
  EXPECT_FALSE(failed[0].ok());
  EXPECT_THAT(Findings(),
              ElementsAre(AllOf(HasSubstr("rank 1 ("),
                                HasSubstr("did not answer batch after #1"))));
}

}  // namespace
}  // namespace muster
