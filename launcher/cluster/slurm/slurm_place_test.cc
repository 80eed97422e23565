#include "launcher/cluster/slurm/slurm_place.h"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

TEST(TopologyLabels, SwitchesComeFromTheOutermostInwards) {
  EXPECT_EQ(TopologyLabels("top.leaf1.n3", "switch.switch.node"),
            "switch1=top,switch2=leaf1");
  EXPECT_EQ(TopologyLabels("b7.n3", "block.node"), "block1=b7");
}

TEST(TopologyLabels, ANodeWithoutSwitchesHasNoLabels) {
  EXPECT_EQ(TopologyLabels("n3", "node"), "");
  EXPECT_EQ(TopologyLabels("", ""), "");
  EXPECT_EQ(TopologyLabels("top.n3", ""), "");
}

TEST(TopologyLabels, NodeNamesMayContainDots) {
  EXPECT_EQ(TopologyLabels("top.n3.site.org", "switch.node"), "switch1=top");
}

TEST(TopologyLabels, SeveralSwitchesOfOneLevelAreOneLabel) {
  EXPECT_EQ(TopologyLabels("s[0-1,4.5].s7.n3", "switch.switch.node"),
            "switch1=s[0-1+4.5],switch2=s7");
}

TEST(TopologyLabels, APatternThatDoesNotFitGivesNoLabels) {
  EXPECT_EQ(TopologyLabels("n3", "switch.switch.node"), "");
  EXPECT_EQ(TopologyLabels(std::string(5000, 'a') + ".n", "switch.node"), "");
  std::string deep, kinds;
  for (int i = 0; i < 20; ++i) {
    deep += "s.";
    kinds += "switch.";
  }
  EXPECT_EQ(TopologyLabels(deep + "n", kinds + "node"), "");
}

}  // namespace
}  // namespace muster::launcher
