#include "trainer_sdk/transports/transport_choice.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(TransportChoiceTest, EveryNameComesBack) {
  for (const TransportChoice choice :
       {TransportChoice::kAutomatic, TransportChoice::kLocal,
        TransportChoice::kSharedMemory, TransportChoice::kTcp,
        TransportChoice::kGloo, TransportChoice::kHierarchical,
        TransportChoice::kHierarchicalGloo, TransportChoice::kNccl}) {
    const auto parsed = ParseTransportChoice(Name(choice));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, choice);
  }
  EXPECT_EQ(ParseTransportChoice("smoke").status().message(),
            "unknown transport 'smoke'; write one of auto, local, shm, tcp, "
            "gloo, hierarchical, hierarchical-gloo, nccl");
}

}  // namespace
}  // namespace muster
