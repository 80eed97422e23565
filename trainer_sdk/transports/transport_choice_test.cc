#include "trainer_sdk/transports/transport_choice.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

TEST(TransportChoiceTest, EveryNameComesBack) {
  for (const auto& [choice, name] : kTransportNames) {
    EXPECT_STREQ(Name(choice), name);
    const auto parsed = ParseTransportChoice(name);
    ASSERT_TRUE(parsed.ok()) << name;
    EXPECT_EQ(*parsed, choice);
  }
  const std::string refused(ParseTransportChoice("smoke").status().message());
  EXPECT_EQ(
      refused.rfind("unknown transport 'smoke'; write one of auto, local, "
                    "shm, tcp, gloo, hierarchical, hierarchical-gloo, nccl",
                    0),
      0u)
      << refused;
}

}  // namespace
}  // namespace muster
