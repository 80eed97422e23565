#include "rendezvous/wire/directive_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "proto/coordinator.pb.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/testing/full_messages.h"

namespace muster::rendezvous {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

v1::Directive WireOf(DirectiveKind kind) {
  v1::Directive wire;
  ToWire(FullDirective(kind), &wire);
  return wire;
}

TEST(DirectiveWireTest, WritesWhatTheKindNeedsAndNothingElse) {
  EXPECT_THAT(
      UnsetFields(WireOf(DirectiveKind::kRun)),
      UnorderedElementsAre("stop", "verdict", "acts_for_job", "took_part",
                           "another_job", "waits_for", "pair_check"));
  EXPECT_THAT(UnsetFields(WireOf(DirectiveKind::kFinished)),
              UnorderedElementsAre("place", "answered_report", "signals",
                                   "preemption", "prints_for_job",
                                   "another_job", "waits_for", "pair_check"));
  EXPECT_THAT(UnsetFields(WireOf(DirectiveKind::kStop)),
              UnorderedElementsAre("place", "answered_report", "signals",
                                   "verdict", "acts_for_job", "another_job",
                                   "took_part", "waits_for", "pair_check"));
  EXPECT_THAT(UnsetFields(WireOf(DirectiveKind::kWait)),
              UnorderedElementsAre("place", "answered_report", "signals",
                                   "preemption", "stop", "verdict",
                                   "acts_for_job", "another_job", "took_part"));
  EXPECT_THAT(UnsetFields(WireOf(DirectiveKind::kRefused)),
              Not(Contains("another_job")));
}

TEST(DirectiveWireTest, ComesBackAsItWent) {
  for (DirectiveKind kind :
       {DirectiveKind::kWait, DirectiveKind::kRun, DirectiveKind::kStop,
        DirectiveKind::kFinished, DirectiveKind::kReleased,
        DirectiveKind::kRefused}) {
    const v1::Directive wire = WireOf(kind);
    Directive back;
    ASSERT_TRUE(FromWire(wire, &back).ok()) << FromWire(wire, &back);
    EXPECT_EQ(back.kind, kind);
    EXPECT_EQ(back.revision, 22u);
    v1::Directive again;
    ToWire(back, &again);
    EXPECT_EQ(again.DebugString(), wire.DebugString());
  }
}

TEST(DirectiveWireTest, InquiriesComeBackAsTheyWent) {
  Directive back;
  ASSERT_TRUE(FromWire(WireOf(DirectiveKind::kRun), &back).ok());
  EXPECT_EQ(back.inquiries, std::vector<Inquiry>({FullInquiry()}));
  v1::Directive wire = WireOf(DirectiveKind::kRun);
  wire.mutable_inquiries(0)->set_lines(-2);
  EXPECT_THAT(FromWire(wire, &back).ToString(),
              HasSubstr("inquiries[0].lines is -2"));
}

TEST(DirectiveWireTest, CountsTheCollateralThatItLeavesOut) {
  Directive directive = FullDirective(DirectiveKind::kFinished);
  directive.verdict.collateral.assign(kMaxCollateral + 4, FullFailure(3));
  v1::Directive wire;
  ToWire(directive, &wire);
  Directive back;
  ASSERT_TRUE(FromWire(wire, &back).ok());
  EXPECT_EQ(back.verdict.collateral.size(),
            static_cast<size_t>(kMaxCollateral));
  EXPECT_EQ(back.verdict.collateral_omitted, 5 + 4);
}

TEST(DirectiveWireTest, CutsAReasonToFit) {
  Directive directive = FullDirective(DirectiveKind::kWait);
  directive.reason.assign(kMaxReasonBytes + 10, 'r');
  v1::Directive wire;
  ToWire(directive, &wire);
  Directive back;
  EXPECT_TRUE(FromWire(wire, &back).ok());
}

TEST(DirectiveWireTest, RefusesWhatIsBeyondBoundsNamingTheField) {
  const struct {
    DirectiveKind kind;
    const char* field;
    std::function<void(v1::Directive*)> spoil;
  } cases[] = {
      {DirectiveKind::kRun, "kind",
       [](v1::Directive* d) { d->set_kind(v1::Directive::KIND_UNSPECIFIED); }},
      {DirectiveKind::kRun, "place is missing",
       [](v1::Directive* d) { d->clear_place(); }},
      {DirectiveKind::kRun, "place.world_size",
       [](v1::Directive* d) { d->mutable_place()->set_world_size(0); }},
      {DirectiveKind::kRun, "place.first_rank",
       [](v1::Directive* d) { d->mutable_place()->set_first_rank(-1); }},
      {DirectiveKind::kRun, "place.master_port",
       [](v1::Directive* d) { d->mutable_place()->set_master_port(70000); }},
      {DirectiveKind::kRun, "place.nccl_id",
       [](v1::Directive* d) { d->mutable_place()->set_nccl_id("a\nb"); }},
      {DirectiveKind::kRun, "place.master_address",
       [](v1::Directive* d) {
         d->mutable_place()->set_master_address("a\nb");
       }},
      {DirectiveKind::kRun, "place.channel_key",
       [](v1::Directive* d) {
         d->mutable_place()->set_channel_key(std::string(33, 'k'));
       }},
      {DirectiveKind::kRun, "preemption.signal",
       [](v1::Directive* d) { d->mutable_preemption()->set_signal(65); }},
      {DirectiveKind::kRun, "preemption.host",
       [](v1::Directive* d) { d->mutable_preemption()->set_host("a\nb"); }},
      {DirectiveKind::kStop, "stop is missing",
       [](v1::Directive* d) { d->clear_stop(); }},
      {DirectiveKind::kStop, "stop.signal",
       [](v1::Directive* d) { d->mutable_stop()->set_signal(100); }},
      {DirectiveKind::kFinished, "verdict is missing",
       [](v1::Directive* d) { d->clear_verdict(); }},
      {DirectiveKind::kFinished, "verdict.outcome",
       [](v1::Directive* d) {
         d->mutable_verdict()->set_outcome(v1::Verdict::OUTCOME_UNSPECIFIED);
       }},
      {DirectiveKind::kFinished, "verdict.exit_code",
       [](v1::Directive* d) { d->mutable_verdict()->set_exit_code(-1); }},
      {DirectiveKind::kFinished, "verdict.cause.signal",
       [](v1::Directive* d) {
         d->mutable_verdict()->mutable_cause()->set_signal(99);
       }},
      {DirectiveKind::kFinished, "verdict.collateral",
       [](v1::Directive* d) {
         for (int i = 0; i < 20; ++i) d->mutable_verdict()->add_collateral();
       }},
  };
  for (const auto& c : cases) {
    v1::Directive wire = WireOf(c.kind);
    c.spoil(&wire);
    Directive directive;
    const absl::Status status = FromWire(wire, &directive);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.field;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(std::string("directive's ") + c.field));
  }
}

}  // namespace
}  // namespace muster::rendezvous
