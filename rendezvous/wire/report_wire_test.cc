#include "rendezvous/wire/report_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/testing/full_messages.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Report FullWire() {
  v1::Report wire;
  ToWire(FullReport(), &wire);
  return wire;
}

TEST(ReportWireTest, WritesEveryField) {
  EXPECT_THAT(UnsetFields(FullWire()), IsEmpty());
}

TEST(ReportWireTest, ComesBackAsItWent) {
  const v1::Report wire = FullWire();
  Report back;
  ASSERT_TRUE(FromWire(wire, &back).ok()) << FromWire(wire, &back);
  v1::Report again;
  ToWire(back, &again);
  EXPECT_EQ(again.DebugString(), wire.DebugString());
  EXPECT_EQ(back.node.incarnation, 0xfedcba9876543210u);
  EXPECT_EQ(back.node.host, "h\xff");
  EXPECT_THAT(back.node.topology, ElementsAre("row1", "rack2"));
  EXPECT_EQ(back.failures[1].node_id, "node-2");
  EXPECT_EQ(back.cancel->at_once, true);
  EXPECT_EQ(back.progress[1].local_rank, 2);
  EXPECT_EQ(back.progress[1].step, 1200);
  EXPECT_THAT(back.failures[0].stack, ElementsAre("main.py:3", "\xff"));
  EXPECT_EQ(back.nccl_root_lost, "it was killed");
  EXPECT_EQ(back.preemption->host, "h2");
  EXPECT_EQ(back.preemption->left, std::chrono::milliseconds(1500));
  EXPECT_EQ(back.health, Health::kUnhealthy);
  EXPECT_EQ(back.unhealthy, "disk full\xff");
  EXPECT_EQ(back.spec.command, "--nproc-per-node=8 train.py --name=\xff");
}

TEST(ReportWireTest, AnOrderWithoutAnExitCodeIsNoCancel) {
  v1::Report wire = FullWire();
  wire.mutable_round_end()->clear_exit_code();
  Report back;
  ASSERT_TRUE(FromWire(wire, &back).ok());
  EXPECT_FALSE(back.round_end->cancelled);
}

TEST(ReportWireTest, ACommandHasItsBounds) {
  for (const std::string& command :
       {std::string(kMaxCommandBytes + 1, 'x'), std::string("a\nb")}) {
    v1::Report wire = FullWire();
    wire.mutable_spec()->set_command(command);
    Report back;
    EXPECT_THAT(std::string(FromWire(wire, &back).message()),
                HasSubstr("spec.command"));
  }
}

// Agents of an earlier version send no command (the workers' command line), so
// a report without one is valid.
TEST(ReportWireTest, ACommandMayBeAbsent) {
  v1::Report wire = FullWire();
  wire.mutable_spec()->clear_command();
  Report back;
  EXPECT_TRUE(FromWire(wire, &back).ok());
  EXPECT_EQ(back.spec.command, "");
}

TEST(ReportWireTest, SurvivesBytesThatAreNotUtf8) {
  v1::Report parsed;
  ASSERT_TRUE(parsed.ParseFromString(FullWire().SerializeAsString()));
  Report back;
  ASSERT_TRUE(FromWire(parsed, &back).ok());
  EXPECT_EQ(back.failures[0].traceback, "Traceback\n\xff");
}

TEST(ReportWireTest, OptionalFieldsStayAbsent) {
  v1::Report wire;
  ToWire(Report{}, &wire);
  Report back;
  ASSERT_TRUE(FromWire(wire, &back).ok()) << FromWire(wire, &back);
  EXPECT_FALSE(back.node.node_rank.has_value());
  EXPECT_FALSE(back.node.index.has_value());
  EXPECT_FALSE(back.leave.has_value());
  EXPECT_THAT(back.progress, IsEmpty());
  EXPECT_FALSE(back.cancel.has_value());
  EXPECT_FALSE(back.preemption.has_value());
  EXPECT_EQ(back.health, Health::kHealthy);
}

TEST(ReportWireTest, AnotherVersionIsReadNoFurther) {
  v1::Report wire = FullWire();
  wire.set_protocol_version(99);
  wire.set_phase(static_cast<v1::NodePhase>(77));
  Report back;
  EXPECT_TRUE(FromWire(wire, &back).ok());
  EXPECT_EQ(back.protocol_version, 99);
  EXPECT_EQ(back.run_id, "");
}

TEST(ReportWireTest, CutsAWorkersLastWordsToFit) {
  Report report = FullReport();
  report.unhealthy.assign(10'000, 'u');
  Failure& failure = report.failures[0];
  failure.message.assign(10'000, 'm');
  failure.traceback.assign(100'000, 't');
  failure.stderr_tail.assign(100, std::string(1000, 's'));
  failure.stderr_tail.back() = "last";
  report.failures.resize(50);
  v1::Report wire;
  ToWire(report, &wire);
  Report back;
  ASSERT_TRUE(FromWire(wire, &back).ok()) << FromWire(wire, &back);
  EXPECT_EQ(back.failures.size(), static_cast<size_t>(kMaxFailuresPerReport));
  EXPECT_EQ(back.failures[0].stderr_tail.size(),
            static_cast<size_t>(kMaxStderrLines));
  EXPECT_EQ(back.failures[0].stderr_tail.back(), "last");
}

TEST(ReportWireTest, TheLargestLawfulReportFitsTheMessageBound) {
  Report report = FullReport();
  Failure failure = FullFailure(1);
  failure.message.assign(kMaxLineBytes, 'm');
  failure.error_file.assign(kMaxPathBytes, 'e');
  failure.traceback.assign(kMaxTracebackBytes, 't');
  failure.stderr_tail.assign(kMaxStderrLines, std::string(kMaxLineBytes, 's'));
  failure.stack.assign(kMaxStackLines, std::string(kMaxLineBytes, 'f'));
  report.failures.assign(kMaxFailuresPerReport, failure);
  WorkerProgress progress = FullProgress(kMaxProgressPerReport);
  progress.status.assign(kMaxStatusBytes, 's');
  progress.silent_for = progress.deadline = std::chrono::hours(8000);
  report.progress.assign(kMaxProgressPerReport, progress);
  v1::Report wire;
  ToWire(report, &wire);
  EXPECT_LT(wire.ByteSizeLong(), static_cast<size_t>(kMaxReportBytes));
}

TEST(ReportWireTest, RefusesWhatIsBeyondBoundsNamingTheField) {
  const std::string long_name(kMaxNameBytes + 1, 'x');
  const struct {
    const char* field;
    std::function<void(v1::Report*)> spoil;
  } cases[] = {
      {"run_id", [&](v1::Report* r) { r->set_run_id(long_name); }},
      {"run_id", [](v1::Report* r) { r->set_run_id("a\nb"); }},
      {"node is missing", [](v1::Report* r) { r->clear_node(); }},
      {"node.node_id",
       [&](v1::Report* r) { r->mutable_node()->set_node_id(long_name); }},
      {"node.host",
       [](v1::Report* r) { r->mutable_node()->set_host("\x1b[2J"); }},
      {"node.address",
       [&](v1::Report* r) { r->mutable_node()->set_address(long_name); }},
      {"node.pid", [](v1::Report* r) { r->mutable_node()->set_pid(-1); }},
      {"node.slots",
       [](v1::Report* r) { r->mutable_node()->set_slots(kMaxSlots + 1); }},
      {"node.slots", [](v1::Report* r) { r->mutable_node()->set_slots(-1); }},
      {"node.node_rank",
       [](v1::Report* r) { r->mutable_node()->set_node_rank(-1); }},
      {"node.index", [](v1::Report* r) { r->mutable_node()->set_index(-5); }},
      {"node.topology",
       [](v1::Report* r) {
         for (int i = 0; i < 20; ++i) r->mutable_node()->add_topology("k");
       }},
      {"node.role",
       [&](v1::Report* r) { r->mutable_node()->set_role(long_name); }},
      {"node.binding",
       [&](v1::Report* r) {
         r->mutable_node()->set_binding(std::string(kMaxBindingBytes + 1, '1'));
       }},
      {"node.binding",
       [](v1::Report* r) { r->mutable_node()->set_binding("node: 0\n1"); }},
      {"node.gpus",
       [](v1::Report* r) {
         for (int i = 0; i <= kMaxGpuNames; ++i)
           r->mutable_node()->add_gpus("");
       }},
      {"node.gpus",
       [](v1::Report* r) {
         r->mutable_node()->add_gpus(std::string(kMaxGpuNameBytes + 1, '1'));
       }},
      {"node.gpus", [](v1::Report* r) { r->mutable_node()->add_gpus("0\n1"); }},
      {"spec is missing", [](v1::Report* r) { r->clear_spec(); }},
      {"spec.max_nodes",
       [](v1::Report* r) { r->mutable_spec()->set_max_nodes(-1); }},
      {"spec.last_call",
       [](v1::Report* r) {
         r->mutable_spec()->set_last_call(std::numeric_limits<int64_t>::max());
       }},
      {"spec.keep_alive_misses",
       [](v1::Report* r) { r->mutable_spec()->set_keep_alive_misses(1000); }},
      {"spec.scale_up",
       [](v1::Report* r) {
         r->mutable_spec()->set_scale_up(static_cast<v1::JobSpec::ScaleUp>(9));
       }},
      {"phase",
       [](v1::Report* r) { r->set_phase(v1::NODE_PHASE_UNSPECIFIED); }},
      {"round", [](v1::Report* r) { r->set_round(-1); }},
      {"failures",
       [](v1::Report* r) {
         for (int i = 0; i < 10; ++i) *r->add_failures() = r->failures(0);
       }},
      {"failures[1].kind",
       [](v1::Report* r) {
         r->mutable_failures(1)->set_kind(v1::Failure::KIND_UNSPECIFIED);
       }},
      {"failures[0].message",
       [](v1::Report* r) {
         r->mutable_failures(0)->set_message(std::string(1000, 'm'));
       }},
      {"failures[0].stderr_tail",
       [](v1::Report* r) {
         for (int i = 0; i < 20; ++i) {
           r->mutable_failures(0)->add_stderr_tail("l");
         }
       }},
      {"failures[0].exit_code",
       [](v1::Report* r) { r->mutable_failures(0)->set_exit_code(256); }},
      {"failures[0].rank",
       [](v1::Report* r) { r->mutable_failures(0)->set_rank(-2); }},
      {"failures[0].stack",
       [](v1::Report* r) {
         for (int i = 0; i < 30; ++i) r->mutable_failures(0)->add_stack("l");
       }},
      {"failures[0].silent_for",
       [](v1::Report* r) {
         r->mutable_failures(0)->set_silent_for(
             std::numeric_limits<int64_t>::max());
       }},
      {"progress",
       [](v1::Report* r) {
         for (int i = 0; i <= kMaxProgressPerReport; ++i) r->add_progress();
       }},
      {"progress[1].local_rank",
       [](v1::Report* r) { r->mutable_progress(1)->set_local_rank(-1); }},
      {"progress[0].step",
       [](v1::Report* r) { r->mutable_progress(0)->set_step(-1); }},
      {"progress[0].status",
       [](v1::Report* r) {
         r->mutable_progress(0)->set_status(std::string(65, 's'));
       }},
      {"offered_master_port",
       [](v1::Report* r) { r->set_offered_master_port(65536); }},
      {"nccl_root_lost",
       [](v1::Report* r) { r->set_nccl_root_lost(std::string(401, 'x')); }},
      {"offered_nccl_id",
       [](v1::Report* r) { r->set_offered_nccl_id(std::string(257, '0')); }},
      {"leave", [](v1::Report* r) { r->set_leave(std::string(5000, 'l')); }},
      {"cancel.signal",
       [](v1::Report* r) { r->mutable_cancel()->set_signal(65); }},
      {"preemption.signal",
       [](v1::Report* r) { r->mutable_preemption()->set_signal(0); }},
      {"preemption.host",
       [](v1::Report* r) { r->mutable_preemption()->set_host("a\nb"); }},
      {"preemption.left",
       [](v1::Report* r) {
         r->mutable_preemption()->set_left(std::numeric_limits<int64_t>::max());
       }},
      {"health",
       [](v1::Report* r) { r->set_health(static_cast<v1::Health>(9)); }},
      {"unhealthy",
       [](v1::Report* r) { r->set_unhealthy(std::string(401, 'u')); }},
      {"signals",
       [](v1::Report* r) {
         for (int i = 0; i < 10; ++i) r->add_signals()->set_signal(10);
       }},
      {"signals[0].signal",
       [](v1::Report* r) { r->mutable_signals(0)->set_signal(0); }},
  };
  for (const auto& c : cases) {
    v1::Report wire = FullWire();
    c.spoil(&wire);
    Report report;
    const absl::Status status = FromWire(wire, &report);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.field;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(std::string("report's ") + c.field));
  }
}

TEST(ReportWireTest, AnOddTimeIsShownAsNone) {
  v1::Report wire = FullWire();
  wire.mutable_failures(0)->set_unix_time(
      std::numeric_limits<double>::quiet_NaN());
  Report report;
  ASSERT_TRUE(FromWire(wire, &report).ok());
  EXPECT_EQ(report.failures[0].unix_time, 0);
}

}  // namespace
}  // namespace muster::rendezvous
