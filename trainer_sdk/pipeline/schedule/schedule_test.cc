#include "trainer_sdk/pipeline/schedule/schedule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(ActionTest, IsWrittenAsPyTorchWritesIt) {
  EXPECT_EQ(ToString({2, ActionKind::kForward, 0}), "2F0");
  EXPECT_EQ(ToString({0, ActionKind::kBackward, 12}), "0B12");
  EXPECT_EQ(ToString({1, ActionKind::kRecvBackward, 3}), "1RECV_B3");
}

TEST(ActionTest, IsReadAsItIsWritten) {
  for (uint8_t kind = 0; kind < 8; ++kind) {
    const Action action{7, static_cast<ActionKind>(kind), 310};
    const auto read = ParseAction(ToString(action));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, action);
  }
}

class NoAction : public testing::TestWithParam<const char*> {};

TEST_P(NoAction, IsRefusedByName) {
  const auto read = ParseAction(GetParam());
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(std::string(read.status().message()),
              HasSubstr("'" + std::string(GetParam()) + "' is no action"));
}

INSTANTIATE_TEST_SUITE_P(All, NoAction,
                         testing::Values("", "F", "2F", "F0", "2f0", "2F0 ",
                                         " 2F0", "2F0x", "2X0", "-1F0", "2F-1",
                                         "02F0", "2F00", "2SEND0", "2SEND_F",
                                         "1234567F0", "2F1234567", "2F0F0",
                                         "3UNSHARD"));

TEST(ActionTest, AnEndlessTextIsNotRepeated) {
  const auto read = ParseAction(std::string(1 << 20, 'F'));
  EXPECT_LT(read.status().message().size(), 200u);
}

}  // namespace
}  // namespace muster
