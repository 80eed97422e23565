// Tests of the error messages of a process group.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(GroupMessagesTest, TheAbsentIsNamedAndTheGroupBroken) {
  // Rank 2 does not call the second barrier, so ranks 0 and 1 fail in it. A
  // rank that failed waits up to kExplanation for its peers to publish their
  // last operations. Rank 2 publishes nothing.
  constexpr Duration kExplanation = std::chrono::seconds(3);
  const std::vector<absl::Status> statuses = RunWorld(
      3,
      [](ProcessGroup& world) -> absl::Status {
        absl::Status status = world.Run(Barrier());
        if (!status.ok() || world.rank() == 2) return status;
        CallOptions options;
        options.timeout = std::chrono::seconds(1);
        status = world.Run(Barrier(), options);
        EXPECT_EQ(world.Run(Barrier()), status) << "at once, the same cause";
        EXPECT_EQ(world.Start(Barrier())->Wait(), status);
        EXPECT_EQ(world.status(), status);
        EXPECT_EQ(world.Split(0, 0).status(), status);
        EXPECT_EQ(world.Allocate(8).status(), status);
        return status;
      },
      ReferenceTransports(), kExplanation);
  EXPECT_TRUE(statuses[2].ok());
  for (int rank : {0, 1}) {
    EXPECT_TRUE(absl::IsDeadlineExceeded(statuses[rank])) << statuses[rank];
    EXPECT_THAT(Message(statuses[rank]),
                AllOf(HasSubstr("group world: barrier #2"),
                      HasSubstr("rank 2 did not come"),
                      Not(HasSubstr("nothing is known")),
                      Not(HasSubstr("behind earlier"))));
  }
}

class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(std::function<absl::Status()> execute)
      : execute_(std::move(execute)) {}
  const char* name() const override { return "scripted"; }
  absl::Status Execute(const Operation&, const OperationContext&) override {
    return execute_();
  }
  void Abort(const std::string&) override {}
  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t, const OperationContext&) override {
    return absl::UnimplementedError("");
  }

 private:
  const std::function<absl::Status()> execute_;
};

GroupPlace Alone() {
  GroupPlace place;
  place.store = std::make_shared<InProcessStore>();
  place.name = "world";
  return place;
}

TEST(GroupMessagesTest, TimeBehindEarlierOperationsIsStated) {
  std::promise<void> release;
  int executed = 0;
  const auto execute = [&]() -> absl::Status {
    if (++executed == 2) return absl::DeadlineExceededError("waited 0 s");
    release.get_future().wait();
    return absl::OkStatus();
  };
  const auto world = ProcessGroup::Create(
      Alone(),
      [&](const GroupPlace&,
          Instant) -> absl::StatusOr<std::unique_ptr<Transport>> {
        return std::make_unique<ScriptedTransport>(execute);
      });
  ASSERT_TRUE(world.ok()) << world.status();
  const auto first = (*world)->Start(Barrier());
  const auto second = (*world)->Start(Barrier());
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      second->Wait(MonotonicNow() + std::chrono::milliseconds(2))));
  release.set_value();
  EXPECT_TRUE(first->Wait().ok());
  EXPECT_THAT(Message(second->Wait()),
              testing::MatchesRegex(
                  "group world: waited 0 s; its time was up [0-9.e-]+ s after "
                  "its call, [0-9.e-]+ s of them behind earlier operations"));
}

TEST(GroupMessagesTest, AGroupThatIsNotMadeIsNamed) {
  const auto made = ProcessGroup::Create(
      Alone(),
      [](const GroupPlace&,
         Instant) -> absl::StatusOr<std::unique_ptr<Transport>> {
        return absl::UnavailableError("barrier #0: rank 1 died");
      });
  EXPECT_EQ(made.status(),
            absl::UnavailableError("group world: barrier #0: rank 1 died"));
}

}  // namespace
}  // namespace muster
