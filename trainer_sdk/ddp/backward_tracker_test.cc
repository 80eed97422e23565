#include "trainer_sdk/ddp/backward_tracker.h"

#include <optional>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A tracker of the parameters a, b, c and d in three buckets: {d}, {c, b}, {a}.
class BackwardTrackerTest : public testing::Test {
 protected:
  void Use(ParameterUse use) {
    tracker_.emplace(std::vector<std::string>{"a", "b", "c", "d"}, use);
    tracker_->SetBuckets({{3}, {2, 1}, {0}});
  }
  std::vector<int> Begin(GradientSync sync = GradientSync::kReduce) {
    return Taken(tracker_->Begin(sync, &full_));
  }
  std::vector<int> Ready(int parameter) {
    return Taken(tracker_->MarkReady(parameter, &full_));
  }
  std::vector<int> Unused(int parameter) {
    return Taken(tracker_->MarkUnused(parameter, &full_));
  }
  std::vector<int> Finish() { return Taken(tracker_->Finish(&full_)); }
  std::string FinishError() {
    return std::string(tracker_->Finish(&full_).message());
  }
  std::string ReadyError(int parameter) {
    return std::string(tracker_->MarkReady(parameter, &full_).message());
  }

  std::vector<int> Taken(const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    return std::exchange(full_, {});
  }

  std::vector<int> full_;
  std::optional<BackwardTracker> tracker_;
};

TEST_F(BackwardTrackerTest, ABucketGoesWhenItsLastGradientIsThere) {
  Use(ParameterUse::kAll);
  EXPECT_THAT(Begin(), IsEmpty());
  EXPECT_THAT(Ready(3), ElementsAre(0));
  EXPECT_THAT(Ready(1), IsEmpty());
  EXPECT_THAT(Ready(2), ElementsAre(1));
  EXPECT_THAT(Ready(0), ElementsAre(2));
  EXPECT_THAT(Finish(), IsEmpty());
  EXPECT_THAT(tracker_->ObservedOrder(), ElementsAre(3, 1, 2, 0));
}

TEST_F(BackwardTrackerTest, BucketsGoInTheirOrderOnly) {
  Use(ParameterUse::kAll);
  Begin();
  EXPECT_THAT(Ready(0), IsEmpty());
  EXPECT_THAT(Ready(1), IsEmpty());
  EXPECT_THAT(Ready(2), IsEmpty());
  EXPECT_THAT(Ready(3), ElementsAre(0, 1, 2));
}

TEST_F(BackwardTrackerTest, AccumulatedPassesReduceNothing) {
  Use(ParameterUse::kAll);
  Begin(GradientSync::kAccumulate);
  for (const int parameter : {3, 2, 1, 0}) {
    EXPECT_THAT(Ready(parameter), IsEmpty());
  }
  EXPECT_THAT(Finish(), IsEmpty());
  Begin();
  EXPECT_THAT(Ready(3), ElementsAre(0));
}

TEST_F(BackwardTrackerTest, AGradientThatComesTwiceIsNamed) {
  Use(ParameterUse::kAll);
  Begin();
  Ready(2);
  EXPECT_THAT(ReadyError(2), HasSubstr("'c' is marked ready twice"));
}

TEST_F(BackwardTrackerTest, AGradientThatNeverComesIsNamed) {
  Use(ParameterUse::kAll);
  Begin();
  Ready(3);
  Ready(1);
  EXPECT_THAT(FinishError(), HasSubstr("without a gradient of 'a', 'c'; if"));
  // The next pass cannot begin while gradients of the last pass are missing.
  EXPECT_THAT(
      std::string(tracker_->Begin(GradientSync::kReduce, &full_).message()),
      HasSubstr("was not finished when the next began: no gradient of "
                "'a', 'c'"));
}

TEST_F(BackwardTrackerTest, OfManyMissingOnesAFewAreNamed) {
  std::vector<std::string> names(100, "p");
  std::vector<int> all(100);
  for (int i = 0; i < 100; ++i) all[i] = i;
  BackwardTracker tracker(names, ParameterUse::kAll);
  tracker.SetBuckets({all});
  ASSERT_TRUE(tracker.Begin(GradientSync::kReduce, &full_).ok());
  EXPECT_THAT(std::string(tracker.Finish(&full_).message()),
              HasSubstr("'p' and 95 others"));
}

TEST_F(BackwardTrackerTest, WithoutAPassNothingIsMarked) {
  Use(ParameterUse::kAll);
  EXPECT_THAT(ReadyError(1), HasSubstr("'b' is marked, but no backward pass"));
  EXPECT_THAT(FinishError(), HasSubstr("no backward pass has begun"));
  Begin();
  EXPECT_THAT(ReadyError(4), HasSubstr("parameter 4 of 4"));
  EXPECT_THAT(ReadyError(-1), HasSubstr("parameter -1 of 4"));
}

TEST_F(BackwardTrackerTest, VaryingBucketsAreFullAtTheEnd) {
  Use(ParameterUse::kMayVary);
  Begin();
  Ready(3);
  Ready(1);
  EXPECT_THAT(Finish(), ElementsAre(1, 2));
  EXPECT_TRUE(tracker_->used(1));
  EXPECT_FALSE(tracker_->used(0));
  EXPECT_TRUE(tracker_->must_share_use());
  EXPECT_THAT(tracker_->ObservedOrder(), ElementsAre(3, 1, 0, 2));
}

TEST_F(BackwardTrackerTest, UnusedParameterDelaysNoBucket) {
  Use(ParameterUse::kMayVary);
  Begin();
  EXPECT_THAT(Unused(3), ElementsAre(0));
  Unused(2);
  EXPECT_THAT(Ready(1), ElementsAre(1));
  EXPECT_THAT(ReadyError(2), HasSubstr("'c' is marked ready twice"));
  EXPECT_THAT(std::string(tracker_->MarkUnused(1, &full_).message()),
              HasSubstr("'b' is marked unused after its gradient came"));
}

TEST_F(BackwardTrackerTest, OnlyWhatMayVaryIsMarkedUnused) {
  Use(ParameterUse::kAll);
  Begin();
  EXPECT_THAT(std::string(tracker_->MarkUnused(1, &full_).message()),
              HasSubstr("ParameterUse::kMayVary"));
}

TEST_F(BackwardTrackerTest, UseInAnAccumulatedPassCounts) {
  Use(ParameterUse::kMayVary);
  Begin(GradientSync::kAccumulate);
  Ready(0);
  Finish();
  Begin();
  Ready(1);
  Finish();
  EXPECT_TRUE(tracker_->used(0));
  EXPECT_TRUE(tracker_->used(1));
  EXPECT_FALSE(tracker_->used(2));
  // The next step has no gradient of any parameter. So parameter 0, which the
  // previous step used, must now count as unused.
  Begin();
  Finish();
  EXPECT_FALSE(tracker_->used(0));
}

TEST_F(BackwardTrackerTest, AStaticGraphIsLearnedAndThenHeldTo) {
  Use(ParameterUse::kStatic);
  Begin();
  EXPECT_TRUE(tracker_->must_share_use());
  EXPECT_THAT(Ready(3), IsEmpty());
  EXPECT_THAT(Ready(2), IsEmpty());
  // parameter d (index 3) has a second gradient in this pass
  EXPECT_THAT(Ready(3), IsEmpty());
  // Parameter b (index 1) has the last gradient of this pass; parameter a has
  // none. No bucket is full before the end of the first pass of a static graph.
  EXPECT_THAT(Ready(1), IsEmpty());
  EXPECT_THAT(Finish(), ElementsAre(0, 1, 2));
  EXPECT_THAT(tracker_->ObservedOrder(), ElementsAre(3, 2, 1, 0));
  EXPECT_FALSE(tracker_->must_share_use());

  Begin();
  EXPECT_THAT(Ready(3), IsEmpty());
  EXPECT_THAT(Ready(3), ElementsAre(0));
  EXPECT_THAT(ReadyError(3), HasSubstr("'d' has another gradient than the 2"));
  EXPECT_THAT(ReadyError(0), HasSubstr("'a' has another gradient than the 0"));
  Ready(2);
  EXPECT_THAT(FinishError(), HasSubstr("a gradient of 'b', though the graph"));
  EXPECT_THAT(Ready(1), ElementsAre(1, 2));
  EXPECT_THAT(Finish(), IsEmpty());
}

TEST_F(BackwardTrackerTest, BucketsMayChangeBetweenPasses) {
  Use(ParameterUse::kAll);
  Begin();
  for (const int parameter : {0, 1, 2, 3}) Ready(parameter);
  Finish();
  tracker_->SetBuckets({{0, 1}, {2, 3}});
  Begin();
  Ready(0);
  EXPECT_THAT(Ready(1), ElementsAre(0));
}

TEST_F(BackwardTrackerTest, AStaticGraphIsThatOfTheFirstReducedPass) {
  Use(ParameterUse::kStatic);
  // Pass 1 only accumulates gradients, and has no gradient of parameter a
  // (number 0). Pass 2 is the first reduced pass, and has two gradients of a.
  // So from pass 3 on, the tracker must expect two gradients of a.
  Begin(GradientSync::kAccumulate);
  for (const int parameter : {3, 2, 1}) Ready(parameter);
  Finish();
  Begin();
  for (const int parameter : {3, 2, 1, 0, 0}) Ready(parameter);
  EXPECT_THAT(Finish(), ElementsAre(0, 1, 2));
  Begin();
  for (const int parameter : {3, 2, 1}) Ready(parameter);
  EXPECT_THAT(Ready(0), IsEmpty());
  EXPECT_THAT(Ready(0), ElementsAre(2));
  Finish();
}

TEST_F(BackwardTrackerTest, OfManyMissingGradientsAFewAreNamed) {
  tracker_.emplace(std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g"},
                   ParameterUse::kAll);
  tracker_->SetBuckets({{0, 1, 2, 3, 4, 5, 6}});
  Begin();
  EXPECT_THAT(FinishError(), HasSubstr("'a', 'b', 'c', 'd', 'e' and 2 others"));
}

}  // namespace
}  // namespace muster
