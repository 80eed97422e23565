#include "rendezvous/wire/status_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/admin.pb.h"
#include "rendezvous/wire/testing/full_messages.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StatusWireTest, ComesBackAsItWent) {
  v1::JobStatus wire;
  ToWire(FullStatus(), &wire);
  EXPECT_THAT(UnsetFields(wire), IsEmpty());
  JobStatus back;
  ASSERT_TRUE(FromWire(wire, &back).ok()) << FromWire(wire, &back);
  v1::JobStatus again;
  ToWire(back, &again);
  EXPECT_EQ(again.DebugString(), wire.DebugString());
  EXPECT_EQ(back.nodes[0].node.address, "10.0.0.7");
  EXPECT_EQ(back.phase, JobPhase::kFinished);
}

TEST(StatusWireTest, AnswerToAnInquiryComesBackAsItWent) {
  const InquiryUpdate update{.node_id = "n",
                             .host = "h",
                             .part = FullAnswerPart(),
                             .missing = "lost",
                             .standbys = {"10.0.0.8:29400"}};
  v1::InquiryUpdate wire;
  ToWire(update, &wire);
  EXPECT_THAT(UnsetFields(wire), IsEmpty());
  InquiryUpdate back;
  ASSERT_TRUE(FromWire(wire, &back).ok()) << FromWire(wire, &back);
  EXPECT_EQ(back, update);
}

TEST(StatusWireTest, AnswerOutOfItsBoundsIsRefused) {
  v1::InquiryUpdate wire;
  wire.mutable_part()->add_lines()->set_text(
      std::string(kMaxOutputLineBytes + 1, 'x'));
  InquiryUpdate back;
  EXPECT_THAT(FromWire(wire, &back).ToString(),
              HasSubstr("part.lines[0].text is"));
  wire.mutable_part()->clear_lines();
  for (size_t i = 0; i <= kMaxPartStacks; ++i)
    wire.mutable_part()->add_stacks();
  EXPECT_THAT(FromWire(wire, &back).ToString(), HasSubstr("part.stacks has"));
}

TEST(StatusWireTest, EveryPhaseComesBack) {
  for (JobPhase phase : {JobPhase::kGathering, JobPhase::kRunning,
                         JobPhase::kStopping, JobPhase::kFinished}) {
    JobStatus status = FullStatus();
    status.phase = phase;
    v1::JobStatus wire;
    ToWire(status, &wire);
    JobStatus back;
    ASSERT_TRUE(FromWire(wire, &back).ok());
    EXPECT_EQ(back.phase, phase);
  }
}

TEST(StatusWireTest, ASpareHasNoRank) {
  JobStatus status = FullStatus();
  status.nodes[0].group_rank = std::nullopt;
  v1::JobStatus wire;
  ToWire(status, &wire);
  JobStatus back;
  ASSERT_TRUE(FromWire(wire, &back).ok());
  EXPECT_FALSE(back.nodes[0].group_rank.has_value());
}

TEST(StatusWireTest, RefusesAStrangePhaseOfANode) {
  v1::JobStatus wire;
  ToWire(FullStatus(), &wire);
  wire.mutable_nodes(0)->set_phase(static_cast<v1::NodePhase>(50));
  JobStatus back;
  EXPECT_THAT(std::string(FromWire(wire, &back).message()),
              HasSubstr("status's nodes[0].phase"));
}

TEST(StatusWireTest, TimesOutOfTheirBoundsAreRefused) {
  v1::JobStatus wire;
  ToWire(FullStatus(), &wire);
  JobStatus back;
  wire.mutable_nodes(0)->mutable_times(0)->set_data(-1);
  EXPECT_THAT(std::string(FromWire(wire, &back).message()),
              HasSubstr("status's nodes[0].times[0].data"));
  for (int i = 0; i < kMaxProgressPerReport; ++i) {
    wire.mutable_nodes(0)->add_times();
  }
  EXPECT_THAT(std::string(FromWire(wire, &back).message()),
              HasSubstr("status's nodes[0].times has"));
}

TEST(StatusWireTest, DecisionsComeBackAsTheyWent) {
  v1::Decision wire;
  ToWire(Decision{"join", 3, "node-a", "node-a joined"}, &wire);
  EXPECT_THAT(UnsetFields(wire), IsEmpty());
  Decision back;
  ASSERT_TRUE(FromWire(wire, &back).ok());
  EXPECT_EQ(back.kind, "join");
  EXPECT_EQ(back.round, 3);
  EXPECT_EQ(back.node_id, "node-a");
  EXPECT_EQ(back.reason, "node-a joined");
}

}  // namespace
}  // namespace muster::rendezvous
