// Fuzzes the messages between coordinator, agents and operators. The first byte
// of the input selects the message. The rest is its protobuf bytes, or edits
// (edited_bytes.h) of a message in which every field is set. Aborts if an
// accepted message changes when it is written and read again, or if an error
// message is not one line.
//
// Reports are also passed to a job with two honest nodes. In between, streams
// end, operators drain and cancel, and time passes. Aborts if the job then
// sends a directive that a node would refuse, or a status that operators would
// refuse. Also aborts if a status could move the cursor of a terminal.

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "launcher/report/status_text.h"
#include "proto/admin.pb.h"
#include "proto/coordinator.pb.h"
#include "rendezvous/events/status_json.h"
#include "rendezvous/job/admission.h"
#include "rendezvous/job/job.h"
#include "rendezvous/wire/directive_wire.h"
#include "rendezvous/wire/report_wire.h"
#include "rendezvous/wire/status_wire.h"
#include "rendezvous/wire/testing/full_messages.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

using namespace rendezvous;  // NOLINT(google-build-using-namespace)

template <typename Wire, typename Plain>
std::string Written(const Plain& plain) {
  Wire wire;
  ToWire(plain, &wire);
  return wire.SerializeAsString();
}

// Parses a message that this program has written. Aborts if the parser refuses
// it.
template <typename Wire, typename Plain>
Plain Reread(const std::string& bytes) {
  Wire wire;
  MUSTER_CHECK(wire.ParseFromString(bytes));
  Plain plain;
  const absl::Status status = FromWire(wire, &plain);
  MUSTER_CHECK(status.ok()) << status;
  return plain;
}

// Parses a message from outside. Returns nullopt if the parser refuses it.
template <typename Wire, typename Plain>
std::optional<Plain> Read(std::string_view bytes) {
  Wire wire;
  if (!wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return std::nullopt;
  }
  Plain plain;
  const absl::Status status = FromWire(wire, &plain);
  if (!status.ok()) {
    MUSTER_CHECK(std::none_of(status.message().begin(), status.message().end(),
                              [](char c) { return c == '\n' || c == '\x1b'; }))
        << status;
    return std::nullopt;
  }
  const std::string written = Written<Wire>(plain);
  MUSTER_CHECK((Written<Wire>(Reread<Wire, Plain>(written)) == written));
  return plain;
}

void CheckTexts(const JobStatus& status) {
  const std::string text =
      launcher::StatusTable(status, {}) + launcher::JobListTable({status}, {});
  MUSTER_CHECK(std::none_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < ' ' && c != '\n') || c == 0x7f;
  })) << text;
  MUSTER_CHECK(nlohmann::json::accept(StatusJson(status)));
}

void CheckText(const Decision& decision) {
  const std::string line =
      launcher::DecisionLine(decision, 0, launcher::TextStyle::kPlain);
  MUSTER_CHECK(line.find('\n') == line.size() - 1 &&
               line.find('\x1b') == std::string::npos)
      << line;
}

JobSpec Spec() {
  JobSpec spec;
  spec.min_nodes = 2;
  spec.max_nodes = 3;
  spec.max_restarts = 1;
  return spec;
}

Report FirstReport(const std::string& node_id, int node_rank) {
  Report report;
  report.run_id = "run";
  report.node.node_id = report.node.host = node_id;
  report.node.incarnation = static_cast<uint64_t>(node_rank) + 1;
  report.node.address = "10.0.0.1";
  report.node.slots = 2;
  report.spec = Spec();
  report.offered_master_port = 29500;
  report.place_key = "key of " + node_id;
  return report;
}

// A job with two honest nodes, and with the streams of hostile nodes.
class World {
 public:
  World() : job_("run", 7, Spec(), now_, "tag") {
    for (const StreamId stream : {StreamId{1}, StreamId{2}}) {
      honest_[stream] =
          FirstReport(stream == 1 ? "a" : "b", static_cast<int>(stream));
      Tell(stream);
    }
  }

  // Parses and checks a report as the Attach service and the coordinator do,
  // and passes it to the job.
  void OnBytes(StreamId stream, std::string_view bytes) {
    std::optional<Report> report = Read<v1::Report, Report>(bytes);
    if (!report.has_value() || Unsound(*report).has_value() ||
        report->run_id != job_.run_id()) {
      return;
    }
    const auto [owner, is_new] = owners_.emplace(stream, OwnerOf(*report));
    if (ForeignReport(owner->second, *report).has_value()) return;
    Step(ReportArrived{stream, *std::move(report), "10.0.0.9"});
  }

  // Simulates that an honest node obeys its last directive and reports.
  void Obey(StreamId stream) {
    Report& report = honest_.at(stream);
    const Directive& told = told_[stream];
    if (told.kind == DirectiveKind::kRun) {
      report.round = told.place.round;
      report.place = told.place;
      report.place->store_clients.clear();
      report.place->channel_key.clear();
      report.phase = NodePhase::kRunning;
    } else if (told.kind == DirectiveKind::kStop) {
      report.phase = NodePhase::kIdle;
    }
    Tell(stream);
  }

  void PassTime() {
    const std::optional<Instant> due = job_.NextDeadline();
    if (!due.has_value()) return;
    MUSTER_CHECK(*due > now_) << "a deadline that has passed";
    now_ = *due;
    Step(TimePassed());
  }

  void Step(const JobEvent& event) {
    const JobStep step = job_.Step(now_, event);
    for (const Delivery& delivery : step.deliveries) {
      const auto told = Reread<v1::Directive, Directive>(
          Written<v1::Directive>(delivery.directive));
      if (told.kind == DirectiveKind::kRun) CheckPlace(told.place);
      told_[delivery.stream] = told;
    }
    for (const Decision& decision : step.decisions) {
      CheckText(
          Reread<v1::Decision, Decision>(Written<v1::Decision>(decision)));
    }
    if (!step.faults.empty()) Step(HostsJudged());
  }

  void CheckStatus() const {
    CheckTexts(Reread<v1::JobStatus, JobStatus>(
        Written<v1::JobStatus>(job_.Status(now_))));
  }

 private:
  void Tell(StreamId stream) {
    Report& report = honest_.at(stream);
    ++report.sequence;
    report.seen_epoch = told_[stream].epoch;
    report.seen_revision = told_[stream].revision;
    Step(ReportArrived{stream, report, report.node.address});
  }

  static void CheckPlace(const Place& place) {
    MUSTER_CHECK(place.group_world_size >= Spec().min_nodes &&
                 place.group_world_size <= Spec().max_nodes);
    MUSTER_CHECK(place.group_rank < place.group_world_size);
    MUSTER_CHECK(place.first_rank < place.world_size);
    MUSTER_CHECK(place.world_size <= place.group_world_size * kMaxSlots);
    MUSTER_CHECK(place.round <= kMaxClaimedRound + 1000) << place.round;
  }

  Instant now_ = Instant(std::chrono::hours(1));
  Job job_;
  std::map<StreamId, Report> honest_;  // last report of each honest node
  std::map<StreamId, Directive> told_;
  std::map<StreamId, StreamOwner> owners_;
};

// Returns the report of a third node, or of another agent that claims to be an
// honest node.
std::string HostileReport(size_t kind) {
  Report report = FullReport();
  report.spec = Spec();
  report.round = 1;
  report.node.slots = 4;
  report.place = {.round = 1,
                  .group_rank = static_cast<int>(kind % 3),
                  .group_world_size = 3,
                  .world_size = 12,
                  .master_address = "10.0.0.1",
                  .run_tag = "tag"};
  if (kind % 4 != 0) {
    report.leave.reset();
    report.cancel.reset();
    report.preemption.reset();
  }
  if (kind % 4 == 1) report.node.node_id = "a";
  if (kind % 4 == 2) report.phase = NodePhase::kRunning;
  if (kind % 4 == 3) report.health = Health::kHealthy;
  return Written<v1::Report>(report);
}

void FuzzJob(std::string_view input) {
  constexpr int kMaxTurns = 100;
  World world;
  for (int i = 0; i < kMaxTurns && input.size() >= 2; ++i) {
    const size_t turn = static_cast<unsigned char>(input[0]);
    const size_t size = std::min<size_t>(static_cast<unsigned char>(input[1]),
                                         input.size() - 2);
    const std::string_view edits = input.substr(2, size);
    input.remove_prefix(2 + size);
    const StreamId hostile = 10 + turn / 8 % 4;
    switch (turn % 8) {
      case 0:
        world.Obey(1 + turn / 8 % 2);
        break;
      case 1:
        world.PassTime();
        break;
      case 2:
        world.Step(StreamClosed{hostile});
        break;
      case 3:
        world.Step(DrainAsked{std::string(edits), "operator"});
        break;
      case 4:
        world.Step(CancelAsked{std::string(edits)});
        break;
      default:
        world.OnBytes(hostile, EditedBytes(HostileReport(turn / 32), edits));
        break;
    }
  }
  world.CheckStatus();
}

template <typename Wire, typename Plain>
std::optional<Plain> ReadEdited(const Plain& full, std::string_view input) {
  return Read<Wire, Plain>(EditedBytes(Written<Wire>(full), input));
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const size_t kind = static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  switch (kind % 8) {
    case 0:
      Read<v1::Report, Report>(input);
      Read<v1::Directive, Directive>(input);
      Read<v1::Decision, Decision>(input);
      if (const auto status = Read<v1::JobStatus, JobStatus>(input)) {
        CheckTexts(*status);
      }
      break;
    case 1:
      ReadEdited<v1::Report>(FullReport(), input);
      break;
    case 2:
      ReadEdited<v1::Directive>(
          FullDirective(static_cast<DirectiveKind>(kind / 8 % 6)), input);
      break;
    case 3:
      if (const auto status = ReadEdited<v1::JobStatus>(FullStatus(), input)) {
        CheckTexts(*status);
      }
      break;
    case 4: {
      const Decision full{"break", 2, "node-a", "rank 3 was killed"};
      if (const auto decision = ReadEdited<v1::Decision>(full, input)) {
        CheckText(*decision);
      }
      break;
    }
    default:
      FuzzJob(input);
      break;
  }
}

}  // namespace muster
