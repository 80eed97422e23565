#include "trainer_sdk/transports/new_transport.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

// Sums values over a world and over each half of it. Returns the name of the
// world's transport.
absl::StatusOr<std::string> SumTwice(GroupPlace place, TransportChoice choice) {
  ProcessGroupOptions options;
  options.timeout = std::chrono::seconds(30);
  const int size = place.size, rank = place.rank;
  auto world = NewProcessGroup(std::move(place), choice, options);
  if (!world.ok()) return world.status();
  float sum = static_cast<float>(rank);
  absl::Status status =
      (*world)->Run(AllReduce(&sum, &sum, 1, DType::kFloat32));
  if (!status.ok()) return status;
  EXPECT_EQ(sum, static_cast<float>(size * (size - 1) / 2));
  auto half = (*world)->Split(rank % 2, 0);
  if (!half.ok()) return half.status();
  sum = 1;
  status = (*half)->Run(AllReduce(&sum, &sum, 1, DType::kFloat32));
  if (!status.ok()) return status;
  EXPECT_EQ(sum, static_cast<float>((*half)->size()));
  return std::string((*world)->transport_name());
}

void Expect(TransportChoice choice, int size, const std::string& name) {
  auto store = std::make_shared<InProcessStore>();
  const absl::Status status = FirstFailure(RunRanks(size, [&](int rank) {
    GroupPlace place;
    place.rank = rank;
    place.size = size;
    place.store = store;
    place.name = "world";
    const absl::StatusOr<std::string> used = SumTwice(place, choice);
    if (!used.ok()) return used.status();
    EXPECT_EQ(*used, name);
    return absl::OkStatus();
  }));
  EXPECT_TRUE(status.ok()) << Name(choice) << ": " << status;
}

TEST(NewTransportTest, PicksByItselfWhatSuitsOneHost) {
  Expect(TransportChoice::kAutomatic, 1, "local");
  Expect(TransportChoice::kAutomatic, 3, "shm");
}

TEST(NewTransportTest, MakesWhatIsAskedFor) {
  Expect(TransportChoice::kSharedMemory, 3, "shm");
  Expect(TransportChoice::kTcp, 3, "tcp");
  Expect(TransportChoice::kGloo, 3, "gloo");
  Expect(TransportChoice::kHierarchical, 3, "shm");
  Expect(TransportChoice::kHierarchicalGloo, 3, "shm");
}

TEST(NewTransportTest, ABrokenGroupIsMadeAgainOverTheSameStore) {
  for (const TransportChoice choice :
       {TransportChoice::kTcp, TransportChoice::kGloo,
        TransportChoice::kSharedMemory, TransportChoice::kHierarchical}) {
    auto store = std::make_shared<InProcessStore>();
    const absl::Status status =
        FirstFailure(RunRanks(2, [&](int rank) -> absl::Status {
          GroupPlace place;
          place.rank = rank;
          place.size = 2;
          place.store = store;
          place.name = "world";
          ProcessGroupOptions options;
          options.timeout = std::chrono::seconds(30);
          for (int times = 0; times < 3; times++) {
            auto world = NewProcessGroup(place, choice, options);
            if (!world.ok()) return world.status();
            const absl::Status sound = (*world)->Run(Barrier());
            if (times == 2) return sound;
            // Only the last group's barrier must succeed. The barriers of the
            // earlier groups may fail: a rank that has finished aborts the
            // group, perhaps while the barrier still runs on the other rank.
            (*world)->Abort("made again");
          }
          return absl::OkStatus();
        }));
    EXPECT_TRUE(status.ok()) << Name(choice) << ": " << status;
  }
}

TEST(NewTransportTest, AnErrorNamesItsGroupOnce) {
  for (const TransportChoice choice :
       {TransportChoice::kTcp, TransportChoice::kGloo}) {
    auto store = std::make_shared<InProcessStore>();
    RunRanks(2, [&](int rank) -> absl::Status {
      GroupPlace place;
      place.rank = rank;
      place.size = 2;
      place.store = store;
      place.name = "world";
      auto world = NewProcessGroup(place, choice);
      if (!world.ok()) return world.status();
      float data = 0;
      const std::string message(
          (*world)
              ->Run(rank == 0 ? Barrier()
                              : AllReduce(&data, &data, 1, DType::kFloat32))
              .message());
      EXPECT_EQ(message.rfind("group world: ", 0), 0u) << message;
      EXPECT_EQ(message.find("world: ", sizeof("group world")),
                std::string::npos)
          << message;
      return absl::OkStatus();
    });
  }
}

TEST(NewTransportTest, EveryCreationHasKeysOfItsOwn) {
  auto store = std::make_shared<InProcessStore>();
  GroupPlace place;
  place.store = store;
  ASSERT_TRUE(NewProcessGroup(place, TransportChoice::kLocal).ok());
  place.size = 2;
  // This creation of a group of two ranks fails, because kLocal is a transport
  // for one rank. The failed creation must be counted too, so that the next
  // creation has the same number on all ranks.
  EXPECT_FALSE(NewProcessGroup(place, TransportChoice::kLocal).ok());
  EXPECT_EQ(store->Add("group//creations/0", 0).value(), 2);
}

// Controls the order in which processes make their first call of Add on a
// common store: the order of `turns_`. In the test below, the processes form
// two groups over one store. The order is chosen so that processes of different
// groups would join if both groups used the same keys.
class Turnstile {
 public:
  explicit Turnstile(std::vector<int> turns) : turns_(std::move(turns)) {}

  void Pass(int process) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!passed_.insert(process).second) return;
    changed_.wait_for(lock, std::chrono::seconds(30),
                      [&] { return turns_[next_] == process; });
  }
  void Passed(int process) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (next_ < turns_.size() && turns_[next_] == process) ++next_;
    changed_.notify_all();
  }

 private:
  const std::vector<int> turns_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;
  std::set<int> passed_;
};

class StoreWithTurns final : public Store {
 public:
  StoreWithTurns(std::shared_ptr<Store> store, Turnstile& turns, int process)
      : store_(std::move(store)), turns_(turns), process_(process) {}

  absl::Status Set(const std::string& key, const std::string& value) override {
    return store_->Set(key, value);
  }
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override {
    return store_->Get(key, deadline);
  }
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override {
    return store_->Wait(keys, deadline);
  }
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override {
    turns_.Pass(process_);
    auto sum = store_->Add(key, amount);
    turns_.Passed(process_);
    return sum;
  }
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override {
    return store_->CompareSet(key, expected, desired);
  }
  absl::StatusOr<bool> Delete(const std::string& key) override {
    return store_->Delete(key);
  }
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override {
    return store_->Check(keys);
  }

 private:
  const std::shared_ptr<Store> store_;
  Turnstile& turns_;
  const int process_;
};

// Four processes form two groups, {0, 1} and {2, 3}, over one store without
// prefixes. The processes arrive in the order 0, 3, 1, 2. The first two have
// the group ranks 0 and 1, but belong to different groups. These two processes
// must not become one group.
TEST(NewTransportTest, GroupsOfDifferentNamesInOneStoreNeverMix) {
  const auto store = std::make_shared<InProcessStore>();
  Turnstile turns({0, 3, 1, 2});
  const absl::Status status =
      FirstFailure(RunRanks(4, [&](int rank) -> absl::Status {
        auto half = NewProcessGroup(
            {rank % 2, 2, std::make_shared<StoreWithTurns>(store, turns, rank),
             rank < 2 ? "front" : "back"},
            TransportChoice::kAutomatic);
        if (!half.ok()) return half.status();
        float sum = static_cast<float>(rank);
        absl::Status summed =
            (*half)->Run(AllReduce(&sum, &sum, 1, DType::kFloat32));
        EXPECT_EQ(sum, rank < 2 ? 1 : 5);
        return summed;
      }));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(NewTransportTest, SeveralRanksWithoutAStoreAreRefused) {
  for (const TransportChoice choice :
       {TransportChoice::kAutomatic, TransportChoice::kTcp,
        TransportChoice::kGloo, TransportChoice::kSharedMemory}) {
    const absl::Status status =
        NewProcessGroup({0, 2, nullptr, "world"}, choice).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("store is null"), std::string::npos)
        << status;
  }
}

TEST(NewTransportTest, ARankAloneNeedsNoStoreAlsoToSplit) {
  auto world =
      NewProcessGroup({0, 1, nullptr, "world"}, TransportChoice::kAutomatic);
  ASSERT_TRUE(world.ok()) << world.status();
  auto part = (*world)->Split(0, 0);
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_TRUE((*part)->Run(Barrier()).ok());
}

TEST(NewTransportTest, LocalIsForOne) {
  GroupPlace place;
  place.size = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(
      NewProcessGroup(place, TransportChoice::kLocal).status()));
}

}  // namespace
}  // namespace muster
