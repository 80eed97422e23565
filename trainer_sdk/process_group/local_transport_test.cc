#include "trainer_sdk/process_group/local_transport.h"

#include <gtest/gtest.h>

#include "trainer_sdk/process_group/testing/transport_conformance.h"

namespace muster {
namespace {

ConformanceSubject Local() {
  ConformanceSubject subject;
  subject.name = "Local";
  subject.factory = [](GroupPlace place, Instant) {
    return NewLocalTransport(place);
  };
  subject.sizes = {1};
  return subject;
}

INSTANTIATE_TEST_SUITE_P(Local, TransportConformance, testing::Values(Local()));

TEST(LocalTransportTest, IsForOne) {
  GroupPlace place;
  place.size = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(NewLocalTransport(place).status()));
}

}  // namespace
}  // namespace muster
