#include "trainer_sdk/ddp/bucket_assignment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

std::vector<Tensor> Floats(const std::vector<int64_t>& counts) {
  std::vector<Tensor> parameters;
  for (const int64_t count : counts) {
    parameters.push_back({.shape = {count}});
  }
  return parameters;
}

TEST(BucketAssignmentTest, ABucketClosesOnceItHoldsItsLimit) {
  const auto parameters = Floats({4, 4, 2, 6, 6, 6, 1});
  EXPECT_THAT(AssignBuckets(parameters, {0, 1, 2, 3, 4, 5, 6},
                            {.first_bytes = 16, .bytes = 40}),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3),
                          ElementsAre(4, 5), ElementsAre(6)));
}

TEST(BucketAssignmentTest, FollowsTheOrder) {
  const auto parameters = Floats({4, 4, 4});
  EXPECT_THAT(ReverseOrder(parameters), ElementsAre(2, 1, 0));
  EXPECT_THAT(
      AssignBuckets(parameters, {1, 2, 0}, {.first_bytes = 32, .bytes = 32}),
      ElementsAre(ElementsAre(1, 2), ElementsAre(0)));
}

TEST(BucketAssignmentTest, TensorAboveTheLimitHasABucket) {
  EXPECT_THAT(
      AssignBuckets(Floats({100, 1}), {0, 1}, {.first_bytes = 8, .bytes = 8}),
      ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(BucketAssignmentTest, TypesAreNotMixed) {
  auto parameters = Floats({1, 1, 1, 1});
  parameters[1].gradient.dtype = DType::kBFloat16;
  parameters[3].gradient.dtype = DType::kBFloat16;
  EXPECT_THAT(AssignBuckets(parameters, {0, 1, 2, 3}, {}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(AssignBuckets(parameters, {3, 2, 1, 0}, {}),
              ElementsAre(ElementsAre(3, 1), ElementsAre(2, 0)));
}

TEST(BucketAssignmentTest, EachTypeHasAFirstBucketOfItsOwn) {
  auto parameters = Floats({2, 2, 2, 2});
  parameters[2].gradient.dtype = parameters[3].gradient.dtype = DType::kFloat64;
  EXPECT_THAT(AssignBuckets(parameters, {0, 2, 1, 3},
                            {.first_bytes = 8, .bytes = 1000}),
              ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(1),
                          ElementsAre(3)));
}

TEST(BucketAssignmentTest, NothingNeedsNoBucket) {
  EXPECT_THAT(AssignBuckets({}, {}, {}), ElementsAre());
  // A parameter without elements is in a bucket too, because it is marked ready
  // like any other parameter.
  EXPECT_THAT(AssignBuckets(Floats({0}), {0}, {}), ElementsAre(ElementsAre(0)));
}

}  // namespace
}  // namespace muster
