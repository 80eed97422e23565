// Tests groups that are split from other groups, and a world that uses the NCCL
// id made by the agent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/nccl/fake_library.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/store/prefix_store.h"

namespace muster {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr int kRanks = 4;

// All-reduces `value` in the group of `transport`, and writes the sum to
// `*sum`.
absl::Status Sum(const FakeLibrary& fake, Transport& transport, int64_t value,
                 int64_t* sum) {
  absl::Status status =
      transport.Execute(AllReduce(&value, sum, 1, DType::kInt64),
                        {1, MonotonicNow() + seconds(30)});
  fake.Drain();
  return status;
}

class NcclSplitTest : public ::testing::TestWithParam<const char*> {
 protected:
  NcclSplitTest() : fake_(GetParam()) { fake_.Reset(); }
  ~NcclSplitTest() override {
    EXPECT_EQ(fake_.control().live_communicators, 0);
    EXPECT_EQ(fake_.control().live_allocations, 0);
  }

  // Creates a world of four ranks and splits it into two groups: the even
  // ranks, in descending order, and rank 1. Rank 3 is in no group. Sums rank +
  // 1 over each group.
  absl::Status SplitAndSum(int rank, int64_t* sum) {
    auto world = NewNcclTransport(
        {rank, kRanks, std::make_shared<PrefixStore>("world", store_), "world"},
        fake_.options(), MonotonicNow() + seconds(30));
    if (!world.ok()) return world.status();
    const int color = rank == 3 ? -1 : rank % 2;
    GroupPlace place{.name = absl::StrCat("part", color)};
    place.rank = rank == 0 ? 1 : 0;
    place.size = color == 0 ? 2 : 1;
    place.store = std::make_shared<PrefixStore>(place.name, store_);
    auto part = SplitNcclTransport(**world, color, /*key=*/-rank, place,
                                   MonotonicNow() + seconds(30));
    if (!part.ok()) return part.status();
    if (color < 0) {
      EXPECT_EQ(*part, nullptr);
    } else {
      absl::Status summed = Sum(fake_, **part, rank + 1, sum);
      if (!summed.ok()) return summed;
      // To check the order of the ranks in the group, broadcast the world rank
      // of the group's rank 0.
      int64_t first = rank;
      summed = (*part)->Execute(Broadcast(&first, &first, 1, DType::kInt64, 0),
                                {2, MonotonicNow() + seconds(30)});
      fake_.Drain();
      EXPECT_EQ(first, color == 0 ? 2 : 1);
      if (!summed.ok()) return summed;
    }
    // Check that the world can still be used after the split.
    int64_t all = 0;
    absl::Status whole = Sum(fake_, **world, 1, &all);
    EXPECT_EQ(all, kRanks);
    return whole;
  }

  const FakeLibrary fake_;
  std::shared_ptr<Store> store_ = std::make_shared<InProcessStore>();
};

TEST_P(NcclSplitTest, MakesAGroupOfEachColor) {
  for (const int polls : {0, 5}) {
    fake_.control().polls = polls;
    // each iteration begins with an empty store, as each round does
    store_ = std::make_shared<InProcessStore>();
    std::vector<int64_t> sums(kRanks);
    EXPECT_EQ(
        FirstFailure(RunRanks(
            kRanks, [&](int rank) { return SplitAndSum(rank, &sums[rank]); })),
        absl::OkStatus());
    EXPECT_THAT(sums, ElementsAre(4, 2, 4, 0));
  }
}

TEST_P(NcclSplitTest, UsesNcclsOwnWhereThereIsOne) {
  const int before = fake_.control().splits;
  std::vector<int64_t> sums(kRanks);
  EXPECT_EQ(
      FirstFailure(RunRanks(
          kRanks, [&](int rank) { return SplitAndSum(rank, &sums[rank]); })),
      absl::OkStatus());
  const bool has_split = std::string(GetParam()) == kFakeNccl;
  EXPECT_EQ(fake_.control().splits - before, has_split ? kRanks : 0);
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclSplitTest,
                         ::testing::Values(kFakeNccl, kFakeOldNccl),
                         [](const auto& version) {
                           return version.param == std::string(kFakeNccl)
                                      ? "Current"
                                      : "WithoutSplit";
                         });

TEST(NcclWorldIdTest, ComesFromOutsideWithoutTheStore) {
  const FakeLibrary fake;
  fake.Reset();
  nccl::NcclUniqueId id = {};
  (*nccl::NcclLibrary::Load(kFakeNccl))->GetUniqueId(&id);
  NcclOptions options = fake.options();
  options.unique_id = nccl::HexOf(id);
  const auto store = std::make_shared<InProcessStore>();
  EXPECT_EQ(FirstFailure(RunRanks(
                3,
                [&](int rank) {
                  return NewNcclTransport({rank, 3, store, "world"}, options,
                                          MonotonicNow() + seconds(30))
                      .status();
                })),
            absl::OkStatus());
  EXPECT_FALSE(*store->Check({"nccl_id"}));
}

}  // namespace
}  // namespace muster
