#include "trainer_sdk/process_group/process_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

// Returns the sum of the `value` of all ranks of the group.
absl::StatusOr<float> Sum(ProcessGroup& group, float value) {
  float sum = 0;
  const absl::Status status =
      group.Run(AllReduce(&value, &sum, 1, DType::kFloat32));
  if (!status.ok()) return status;
  return sum;
}

TEST(ProcessGroupTest, RunsOnTheCallersThread) {
  std::atomic<int> strangers{0};
  class Watching final : public Transport {
   public:
    Watching(std::thread::id owner, std::atomic<int>& strangers)
        : owner_(owner), strangers_(strangers) {}
    const char* name() const override { return "watching"; }
    absl::Status Execute(const Operation&, const OperationContext&) override {
      if (std::this_thread::get_id() != owner_) strangers_++;
      return absl::OkStatus();
    }
    void Abort(const std::string&) override {}
    absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
        int64_t, const OperationContext&) override {
      return absl::UnimplementedError("");
    }

   private:
    const std::thread::id owner_;
    std::atomic<int>& strangers_;
  };
  const TransportFactory factory =
      [&](const GroupPlace&,
          Instant) -> absl::StatusOr<std::unique_ptr<Transport>> {
    return std::make_unique<Watching>(std::this_thread::get_id(), strangers);
  };
  EXPECT_TRUE(FirstFailure(RunWorld(
                               1,
                               [&](ProcessGroup& world) {
                                 absl::Status status = world.Run(Barrier());
                                 EXPECT_EQ(strangers, 0);
                                 status.Update(world.Start(Barrier())->Wait());
                                 EXPECT_EQ(strangers, 1);
                                 status.Update(world.Run(Barrier()));
                                 EXPECT_EQ(strangers, 1);
                                 return status;
                               },
                               factory))
                  .ok());
}

TEST(ProcessGroupTest, StartedAndRunOperationsKeepTheirOrder) {
  constexpr int kRounds = 50;
  EXPECT_EQ(
      FirstFailure(RunWorld(3,
                            [](ProcessGroup& world) -> absl::Status {
                              std::vector<float> values(kRounds), sums(kRounds);
                              std::iota(values.begin(), values.end(), 1.0f);
                              std::vector<std::shared_ptr<Work>> works;
                              for (int i = 0; i < kRounds; i++) {
                                works.push_back(world.Start(AllReduce(
                                    &values[i], &sums[i], 1, DType::kFloat32)));
                                if (i % 10 == 9) {
                                  const absl::StatusOr<float> sum =
                                      Sum(world, 1);
                                  if (!sum.ok()) return sum.status();
                                  EXPECT_EQ(*sum, 3);
                                  // Sum calls Run, which returns only after all
                                  // operations that were started earlier are
                                  // completed.
                                  EXPECT_TRUE(works.back()->is_completed());
                                }
                              }
                              for (int i = 0; i < kRounds; i++) {
                                absl::Status status = works[i]->Wait();
                                if (!status.ok()) return status;
                                EXPECT_EQ(sums[i], 3 * values[i]);
                              }
                              return absl::OkStatus();
                            })),
      absl::OkStatus());
}

TEST(ProcessGroupTest, WorkIsDoneOnceItsOperationIs) {
  EXPECT_EQ(FirstFailure(RunWorld(
                2,
                [](ProcessGroup& world) -> absl::Status {
                  if (world.rank() == 1) {
                    // Rank 1 calls the barrier only after it has received the
                    // message `go` from rank 0.
                    char go = 0;
                    absl::Status status =
                        world.Run(Receive(&go, 1, DType::kInt8, 0));
                    if (!status.ok()) return status;
                    return world.Run(Barrier());
                  }
                  const char go = 1;
                  const auto sent = world.Start(Send(&go, 1, DType::kInt8, 1));
                  const auto work = world.Start(Barrier());
                  const absl::Status early = work->Wait(MonotonicNow());
                  EXPECT_TRUE(early.ok() || absl::IsDeadlineExceeded(early));
                  absl::Status status = work->Wait();
                  EXPECT_TRUE(work->is_completed());
                  EXPECT_TRUE(work->status().ok());
                  EXPECT_TRUE(sent->status().ok());
                  return status;
                })),
            absl::OkStatus());
}

TEST(ProcessGroupTest, WrongArgumentsLeaveTheGroupAsItIs) {
  EXPECT_EQ(FirstFailure(RunWorld(
                2,
                [](ProcessGroup& world) {
                  float x = 0;
                  const Operation wrong =
                      Broadcast(&x, &x, 1, DType::kFloat32, 9);
                  absl::Status status = world.Run(wrong);
                  EXPECT_TRUE(absl::IsInvalidArgument(status));
                  EXPECT_EQ(Message(status),
                            "group world: broadcast: root 9 in a group of 2");
                  const auto work = world.Start(wrong);
                  EXPECT_TRUE(work->is_completed());
                  EXPECT_TRUE(absl::IsInvalidArgument(work->Wait()));
                  EXPECT_TRUE(world.status().ok());
                  return world.Run(Barrier());
                })),
            absl::OkStatus());
}

TEST(ProcessGroupTest, SplitsByColorAndKey) {
  EXPECT_EQ(
      FirstFailure(RunWorld(
          5,
          [](ProcessGroup& world) -> absl::Status {
            const int rank = world.rank();
            // Rank 4 joins no new group. The other ranks form two groups, in
            // each of which the ranks are in descending order.
            auto half = world.Split(rank == 4 ? -1 : rank % 2, -rank, "half");
            if (!half.ok()) return half.status();
            EXPECT_EQ(*half == nullptr, rank == 4);
            if (rank != 4) {
              EXPECT_EQ((*half)->size(), 2);
              EXPECT_EQ((*half)->rank(), rank < 2 ? 1 : 0);
              EXPECT_EQ((*half)->name(), absl::StrCat("world/half:", rank % 2));
              EXPECT_THAT((*half)->global_ranks(),
                          ElementsAre(2 + rank % 2, rank % 2));
              const auto sum = Sum(**half, static_cast<float>(rank));
              if (!sum.ok()) return sum.status();
              EXPECT_EQ(*sum, rank % 2 == 0 ? 2 : 4);
              auto alone = (*half)->Split(rank, 0);
              if (!alone.ok()) return alone.status();
              EXPECT_THAT((*alone)->global_ranks(), ElementsAre(rank));
            }
            auto everybody = world.Split(0, 0);
            if (!everybody.ok()) return everybody.status();
            return (*everybody)->Run(Barrier());
          })),
      absl::OkStatus());
}

TEST(ProcessGroupTest, ASplitThatFailsBreaksTheGroup) {
  const auto statuses = RunWorld(3, [](ProcessGroup& world) -> absl::Status {
    if (world.rank() == 2) return absl::OkStatus();
    CallOptions options;
    options.timeout = std::chrono::milliseconds(50);
    absl::Status status = world.Split(0, 0, "", options).status();
    EXPECT_EQ(world.Split(0, 0).status(), status) << "at once, the same cause";
    EXPECT_EQ(world.Run(Barrier()), status);
    return status;
  });
  for (int rank : {0, 1}) {
    EXPECT_TRUE(absl::IsDeadlineExceeded(statuses[rank])) << statuses[rank];
  }
}

// A transport that, like NCCL's, does not detect that ranks called different
// operations.
TransportFactory Mute() {
  class MuteTransport final : public Transport {
   public:
    const char* name() const override { return "mute"; }
    absl::Status Execute(const Operation&,
                         const OperationContext& context) override {
      return context.sequence == 1
                 ? absl::OkStatus()
                 : absl::DeadlineExceededError("something hangs");
    }
    void Abort(const std::string&) override {}
    absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
        int64_t, const OperationContext&) override {
      return absl::UnimplementedError("");
    }
  };
  return [](const GroupPlace&,
            Instant) -> absl::StatusOr<std::unique_ptr<Transport>> {
    return std::make_unique<MuteTransport>();
  };
}

TEST(ProcessGroupTest, MismatchesAreExplainedWhateverTheTransport) {
  const auto statuses = RunWorld(
      3,
      [](ProcessGroup& world) {
        float x[4] = {};
        absl::Status status = world.Run(Barrier());
        EXPECT_TRUE(status.ok());
        return world.Run(
            AllReduce(x, x, world.rank() == 1 ? 3 : 4, DType::kFloat32));
      },
      // The explanation timeout. A rank whose operation failed waits up to this
      // time for its peers to publish their last operations. Here all peers
      // publish soon, so no rank waits this long.
      Mute(), std::chrono::seconds(30));
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(Message(status),
                AllOf(HasSubstr("ranks 0, 2 called all_reduce #2 of 4"),
                      HasSubstr("rank 1 called all_reduce #2 of 3")));
  }
}

// A store behind a broken network: its calls block until `mended` is set.
class CutStore final : public Store {
 public:
  explicit CutStore(std::shared_future<void> mended)
      : mended_(std::move(mended)) {}
  absl::Status Set(const std::string&, const std::string&) override {
    return Lost();
  }
  absl::StatusOr<std::string> Get(const std::string&, Instant) override {
    return Lost();
  }
  absl::Status Wait(const std::vector<std::string>&, Instant) override {
    return Lost();
  }
  absl::StatusOr<int64_t> Add(const std::string&, int64_t) override {
    return Lost();
  }
  absl::StatusOr<std::string> CompareSet(const std::string&, const std::string&,
                                         const std::string&) override {
    return Lost();
  }
  absl::StatusOr<bool> Delete(const std::string&) override { return Lost(); }
  absl::StatusOr<bool> Check(const std::vector<std::string>&) override {
    return Lost();
  }

 private:
  absl::Status Lost() {
    mended_.wait();
    return absl::UnavailableError("lost");
  }
  const std::shared_future<void> mended_;
};

TEST(ProcessGroupTest, AStoreThatDoesNotAnswerHoldsNobodyUp) {
  std::promise<void> mended;
  GroupPlace place;
  place.store = std::make_shared<CutStore>(mended.get_future().share());
  ProcessGroupOptions options;
  options.explanation_timeout = std::chrono::milliseconds(1);
  auto world = ProcessGroup::Create(place, Mute(), options);
  ASSERT_TRUE(world.ok());
  EXPECT_TRUE((*world)->Run(Barrier()).ok());
  const absl::Status status = (*world)->Run(Barrier());
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("something hangs"));
  mended.set_value();
}

TEST(ProcessGroupTest, AbortEndsWhatIsUnderWayAndQueued) {
  const auto statuses = RunWorld(2, [](ProcessGroup& world) {
    if (world.rank() == 1) return absl::OkStatus();
    const auto first = world.Start(Barrier());
    const auto second = world.Start(Barrier());
    world.Abort("the test is over");
    EXPECT_TRUE(absl::IsAborted(first->Wait()));
    EXPECT_THAT(Message(second->Wait()), HasSubstr("the test is over"));
    return world.Run(Barrier());
  });
  EXPECT_EQ(Message(statuses[0]), "group world was aborted: the test is over");
}

// A transport that performs operations and allocations by calling functions of
// the test.
class ScriptedTransport final : public Transport {
 public:
  using Memory = absl::StatusOr<std::unique_ptr<TransportMemory>>;
  std::function<absl::Status()> execute = [] { return absl::OkStatus(); };
  std::function<Memory()> allocate = [] {
    return Memory(absl::UnimplementedError(""));
  };

  const char* name() const override { return "scripted"; }
  absl::Status Execute(const Operation&, const OperationContext&) override {
    return execute();
  }
  void Abort(const std::string&) override {}
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t, const OperationContext&) override {
    return allocate();
  }
};

std::unique_ptr<ProcessGroup> Alone(
    std::unique_ptr<ScriptedTransport> transport) {
  GroupPlace place;
  place.store = std::make_shared<InProcessStore>();
  place.name = "world";
  return ProcessGroup::Create(
             place,
             [&](const GroupPlace&,
                 Instant) -> absl::StatusOr<std::unique_ptr<Transport>> {
               return std::move(transport);
             })
      .value();
}

TEST(ProcessGroupTest, AbortWakesWhoWaitsForATurn) {
  std::promise<void> in_turn, release;
  auto transport = std::make_unique<ScriptedTransport>();
  transport->execute = [&] {
    in_turn.set_value();
    release.get_future().wait();
    return absl::OkStatus();
  };
  const auto world = Alone(std::move(transport));
  const auto work = world->Start(Barrier());
  in_turn.get_future().wait();
  std::thread waiting(
      [&] { EXPECT_TRUE(absl::IsAborted(world->Allocate(8).status())); });
  world->Abort("the test is over");
  waiting.join();
  release.set_value();
  work->Wait().IgnoreError();
}

TEST(ProcessGroupTest, MemoryThatIsRefusedLeavesTheGroupAsItIs) {
  auto transport = std::make_unique<ScriptedTransport>();
  transport->allocate = [] {
    return ScriptedTransport::Memory(absl::ResourceExhaustedError("full"));
  };
  const auto full = Alone(std::move(transport));
  EXPECT_EQ(full->Allocate(8).status(),
            absl::ResourceExhaustedError("group world: full"));
  EXPECT_TRUE(full->Run(Barrier()).ok());

  const auto plain = Alone(std::make_unique<ScriptedTransport>());
  std::vector<int64_t> sizes = {std::numeric_limits<int64_t>::max()};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  sizes.push_back(int64_t{1} << 60);
#endif
  for (const int64_t absurd : sizes) {
    const absl::Status refused = plain->Allocate(absurd).status();
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  }
  EXPECT_TRUE(plain->Run(Barrier()).ok());
}

TEST(ProcessGroupTest, WithoutAThreadStartSaysSo) {
  const auto world = Alone(std::make_unique<ScriptedTransport>());
  pthread_attr_t usual, absurd;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_getattr_default_np(&absurd), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&absurd, size_t{1} << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&absurd), 0);
  const absl::Status refused = world->Start(Barrier())->Wait();
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_TRUE(world->Start(Barrier())->Wait().ok());
}

TEST(ProcessGroupTest, GoingEndsWhatIsUnderWay) {
  std::shared_ptr<Work> under_way, queued;
  RunWorld(2, [&](ProcessGroup& world) {
    if (world.rank() == 1) return absl::OkStatus();
    under_way = world.Start(Barrier());
    queued = world.Start(Barrier());
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsAborted(under_way->status())) << under_way->status();
  EXPECT_TRUE(absl::IsAborted(queued->status())) << queued->status();
}

TEST(ProcessGroupTest, LendsPlainMemoryWhereTheTransportHasNone) {
  EXPECT_EQ(
      FirstFailure(RunWorld(
          2,
          [](ProcessGroup& world) {
            auto memory = world.Allocate(100);
            if (!memory.ok()) return memory.status();
            EXPECT_EQ((*memory)->bytes(), 100);
            EXPECT_TRUE(absl::IsInvalidArgument(world.Allocate(-1).status()));
            auto* data = static_cast<float*>((*memory)->data());
            data[0] = 1;
            absl::Status status =
                world.Run(AllReduce(data, data, 1, DType::kFloat32));
            EXPECT_EQ(data[0], 2);
            return status;
          })),
      absl::OkStatus());
}

TEST(ProcessGroupTest, ASplitterIsAskedByEveryRank) {
  std::atomic<int> asked{0};
  auto store = std::make_shared<InProcessStore>();
  const TransportFactory factory = ReferenceTransports();
  EXPECT_EQ(FirstFailure(RunRanks(
                3,
                [&](int rank) -> absl::Status {
                  GroupPlace place;
                  place.rank = rank;
                  place.size = 3;
                  place.store = store;
                  ProcessGroupOptions options;
                  options.splitter = [&](Transport& parent, int color, int,
                                         GroupPlace part, Instant deadline)
                      -> absl::StatusOr<std::unique_ptr<Transport>> {
                    EXPECT_STREQ(parent.name(), "reference");
                    asked++;
                    if (color < 0) return std::unique_ptr<Transport>();
                    EXPECT_EQ(part.size, 2);
                    return factory(std::move(part), deadline);
                  };
                  auto world = ProcessGroup::Create(place, factory, options);
                  if (!world.ok()) return world.status();
                  auto part = (*world)->Split(rank == 1 ? -1 : 0, 0);
                  if (!part.ok()) return part.status();
                  EXPECT_EQ(*part == nullptr, rank == 1);
                  return *part == nullptr ? absl::OkStatus()
                                          : (*part)->Run(Barrier());
                })),
            absl::OkStatus());
  EXPECT_EQ(asked, 3);
}

TEST(ProcessGroupTest, RefusesAPlaceThatCannotBe) {
  GroupPlace place;
  place.rank = 2;
  place.size = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(
      ProcessGroup::Create(place, ReferenceTransports()).status()));
  place.rank = 0;
  ProcessGroupOptions options;
  options.global_ranks = {1, 2, 3};
  EXPECT_TRUE(absl::IsInvalidArgument(
      ProcessGroup::Create(place, ReferenceTransports(), options).status()));
}

}  // namespace
}  // namespace muster
