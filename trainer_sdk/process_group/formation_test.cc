#include "trainer_sdk/process_group/formation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using testing::HasSubstr;

Instant Far() { return MonotonicNow() + std::chrono::minutes(2); }

std::shared_ptr<Formation> Begin(std::shared_ptr<Store> store, int rank) {
  auto formation = Formation::Begin(std::move(store), rank, Far());
  EXPECT_TRUE(formation.ok()) << formation.status();
  return *std::move(formation);
}

TEST(FormationTest, FailureEndsTheWaitsOfAll) {
  const auto store = std::make_shared<InProcessStore>();
  const auto mine = Begin(store, 0), theirs = Begin(store, 3);
  std::promise<absl::Status> reacted;
  const FormationReaction reaction(
      mine, [&](const absl::Status& cause) { reacted.set_value(cause); });
  EXPECT_EQ(theirs->Fail(absl::InternalError("no luck")).message(), "no luck");
  const absl::Status waited = FormingStore(store, mine).Wait({"never"}, Far());
  EXPECT_EQ(waited, absl::InternalError("rank 3 found: no luck"));
  EXPECT_EQ(reacted.get_future().get(), waited);
  pollfd wake{mine->wake_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&wake, 1, 0), 1);
  EXPECT_EQ(mine->status(), waited);
  EXPECT_EQ(mine->Fail(absl::AbortedError("so I do")), waited);
  mine->End();
  theirs->End();
}

TEST(FormationTest, AnInterruptionEndsACallThatHangs) {
  // A store that never answers, as if the network to it were broken.
  class Hanging final : public Store {
   public:
    explicit Hanging(std::shared_future<void> end) : end_(std::move(end)) {}
    absl::Status Set(const std::string&, const std::string&) override {
      return Hang();
    }
    absl::StatusOr<std::string> Get(const std::string&, Instant) override {
      return Hang();
    }
    absl::Status Wait(const std::vector<std::string>&, Instant) override {
      return Hang();
    }
    absl::StatusOr<int64_t> Add(const std::string&, int64_t) override {
      return Hang();
    }
    absl::StatusOr<std::string> CompareSet(const std::string&,
                                           const std::string&,
                                           const std::string&) override {
      return Hang();
    }
    absl::StatusOr<bool> Delete(const std::string&) override { return Hang(); }
    absl::StatusOr<bool> Check(const std::vector<std::string>&) override {
      return Hang();
    }

   private:
    absl::Status Hang() {
      end_.wait();
      return absl::UnavailableError("gone");
    }
    const std::shared_future<void> end_;
  };
  std::promise<void> end;
  const auto store = std::make_shared<Hanging>(end.get_future().share());
  const auto formation = Begin(store, 0);
  absl::Status set;
  std::thread caller(
      [&] { set = FormingStore(store, formation).Set("k", ""); });
  formation->Interrupt(absl::AbortedError("enough"));
  caller.join();
  EXPECT_EQ(set, absl::AbortedError("enough"));
  formation->End();
  end.set_value();
}

TEST(FormationTest, NothingInterruptsOnceItHasEnded) {
  const auto store = std::make_shared<InProcessStore>();
  const auto formation = Begin(store, 0);
  formation->End();
  formation->Interrupt(absl::AbortedError("too late"));
  EXPECT_TRUE(formation->status().ok());
  EXPECT_FALSE(*store->Check({kFailureKey}));
  FormingStore through(store, formation);
  EXPECT_TRUE(through.Set("key", "value").ok());
  EXPECT_EQ(*through.Get("key", Far()), "value");
}

TEST(FormationTest, AStoreThatIsGoneEndsIt) {
  // A store whose calls fail because the round is over.
  class Gone final : public Store {
   public:
    absl::Status Set(const std::string&, const std::string&) override {
      return over_;
    }
    absl::StatusOr<std::string> Get(const std::string&, Instant) override {
      return over_;
    }
    absl::Status Wait(const std::vector<std::string>&, Instant) override {
      return over_;
    }
    absl::StatusOr<int64_t> Add(const std::string&, int64_t) override {
      return over_;
    }
    absl::StatusOr<std::string> CompareSet(const std::string&,
                                           const std::string&,
                                           const std::string&) override {
      return over_;
    }
    absl::StatusOr<bool> Delete(const std::string&) override { return over_; }
    absl::StatusOr<bool> Check(const std::vector<std::string>&) override {
      return over_;
    }

   private:
    const absl::Status over_ = absl::UnavailableError("it closed");
  };
  const auto store = std::make_shared<Gone>();
  const auto formation = Begin(store, 0);
  // Every call of the store fails because the round is over. Two threads may
  // notice this first: this thread, by its call of Add, or the thread that
  // watches the store. In both cases the error must say that the round is over.
  const absl::Status call = FormingStore(store, formation).Add("k", 1).status();
  EXPECT_THAT(std::string(call.message()), HasSubstr("the round is over"));
  pollfd wake{formation->wake_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&wake, 1, 60'000), 1);
  EXPECT_THAT(std::string(formation->status().message()),
              HasSubstr("the round is over"));
  formation->End();
}

TEST(FormTransportTest, AloneNeedsNoStore) {
  const auto transport = FormTransport(
      [](GroupPlace place,
         Instant) -> absl::StatusOr<std::unique_ptr<Transport>> {
        EXPECT_EQ(place.store, nullptr);
        return absl::UnimplementedError("none");
      },
      GroupPlace(), Far());
  EXPECT_TRUE(absl::IsUnimplemented(transport.status()));
}

}  // namespace
}  // namespace muster
