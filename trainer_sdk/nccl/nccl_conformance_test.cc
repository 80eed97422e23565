// Runs the conformance suite of transports on the NCCL transport, with the fake
// NCCL library.

#include <gtest/gtest.h>

#include <chrono>

#include "trainer_sdk/nccl/fake_library.h"
#include "trainer_sdk/process_group/testing/conformance_checks.h"

namespace muster {
namespace {

ConformanceSubject Subject() {
  const FakeLibrary fake;
  fake.Reset();
  ConformanceSubject subject;
  subject.name = "FakeNccl";
  subject.factory = [fake](GroupPlace place, Instant deadline) {
    return NewNcclTransport(std::move(place), fake.options(), deadline);
  };
  // Run only every 23rd case of the suite, to save time: with the fake NCCL,
  // each operation needs two threads per rank.
  subject.every_nth = 23;
  subject.mismatch = ConformanceSubject::Mismatch::kNotSeen;
  subject.late = ConformanceSubject::Late::kOfBarriers;
  subject.tags = ConformanceSubject::Tags::kInOrder;
  subject.memory = std::make_shared<FakeDeviceMemory>(fake);
  return subject;
}

class NcclConformance : public ::testing::TestWithParam<int> {};

TEST_P(NcclConformance, Collectives) {
  EXPECT_EQ(CheckCollectives(Subject(), GetParam()), absl::OkStatus());
}
TEST_P(NcclConformance, EqualBits) {
  EXPECT_EQ(CheckEqualBits(Subject(), GetParam()), absl::OkStatus());
}
TEST_P(NcclConformance, PointToPoint) {
  EXPECT_EQ(CheckPointToPoint(Subject(), GetParam()), absl::OkStatus());
}
TEST_P(NcclConformance, Interleavings) {
  EXPECT_EQ(CheckInterleavings(Subject(), GetParam(), 7), absl::OkStatus());
}
TEST_P(NcclConformance, Memory) {
  EXPECT_EQ(CheckMemory(Subject(), GetParam()), absl::OkStatus());
}
// This test takes seconds, because the ranks' threads poll only once per second
// whether the group is broken.
TEST(NcclBrokenForAll, OnThreeRanks) {
  EXPECT_EQ(CheckBrokenForAll(Subject(), 3), absl::OkStatus());
}
INSTANTIATE_TEST_SUITE_P(Sizes, NcclConformance, ::testing::Range(1, 9));

}  // namespace
}  // namespace muster
