// Fuzzes the record of a job, which a coordinator writes to its journal and a
// restarted coordinator reads. The first byte of the input selects the job's
// phase in the record, and the steps that a restarted coordinator makes with
// the job. The other bytes are a record, or edits (edited_bytes.h) of a record
// in which every field is set.
//
// FromBytes reads the record. If FromBytes refuses it, the message must be one
// line. Otherwise ToBytes and FromBytes must reproduce the record. A job is
// then continued from the record, as by a restarted coordinator. FromBytes must
// accept the record of the continued job.
//
// The job then makes a few steps. In some of them time passes, in others the
// nodes of the record report again. Job aborts if a step breaks an invariant.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/time.h"
#include "rendezvous/job/admission.h"
#include "rendezvous/job/job.h"
#include "rendezvous/job/job_record.h"
#include "rendezvous/wire/record_wire.h"
#include "rendezvous/wire/testing/full_messages.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

using namespace rendezvous;  // NOLINT(google-build-using-namespace)

// Time since 1970 at which the new coordinator starts.
constexpr Duration kUnixNow = std::chrono::seconds(1'800'000'000);

// Returns a record, in which every field is set, of a job in `phase` with two
// nodes.
KeptJob SoundJob(JobPhase phase) {
  KeptJob kept = FullJob();
  JobRecord& job = kept.job;
  job.phase = phase;
  if (phase != JobPhase::kFinished) job.verdict.reset();
  job.world.members.push_back(job.world.members[0]);
  job.world.members[1].node_id = "node-b";
  job.world.succeeded = 0;
  job.members.push_back(job.members[0]);
  NodeIdentity& second = job.members[1].identity;
  second.node_id = second.host = "node-b";
  second.node_rank.reset();
  job.members[1].going = false;
  job.members[1].group_rank = 1;
  for (JobRecord::Member& member : job.members) {
    member.phase = NodePhase::kRunning;
    member.part = phase == JobPhase::kGathering ? Part::kNone : Part::kRunning;
  }
  return kept;
}

// Parses a record that this program has written. Aborts if the parser refuses
// it.
KeptJob Reread(const std::string& bytes) {
  absl::StatusOr<KeptJob> kept = FromBytes(bytes);
  MUSTER_CHECK(kept.ok()) << kept.status();
  return *std::move(kept);
}

// A job that a new coordinator continues from a record.
class ContinuedJob {
 public:
  explicit ContinuedJob(const KeptJob& kept)
      : record_(kept.job),
        job_(StateOf(kept.job, 8, now_,
                     std::max(kUnixNow - kept.written_at, Duration::zero()))) {
    KeptJob next = kept;
    next.job = job_.Record();
    Reread(ToBytes(next));
  }

  void PassTime() {
    const std::optional<Instant> due = job_.NextDeadline();
    if (!due.has_value()) return;
    now_ = std::max(now_, *due);
    job_.Step(now_, TimePassed());
    job_.Status(now_);
  }

  // Makes each node of the record report again, with the phase, round and ranks
  // that the record contains for this node.
  void NodesReturn() {
    for (const JobRecord::Member& member : record_.members) {
      Report report;
      report.run_id = record_.run_id;
      report.node = member.identity;
      report.sequence = ++sequence_;
      report.spec = record_.spec;
      report.phase = member.phase;
      report.round = member.round;
      if (member.group_rank >= 0 && member.group_rank < record_.world.size()) {
        report.place = Place{
            .round = member.round,
            .group_rank = member.group_rank,
            .group_world_size = record_.world.size(),
            .first_rank = record_.world.members[member.group_rank].first_rank,
            .world_size = record_.world.world_size,
            .run_tag = record_.run_tag};
      }
      report.place_key = member.place_key;
      report.offered_master_port = 29500;
      if (Unsound(report).has_value()) continue;
      job_.Step(now_, ReportArrived{++streams_, report, member.peer});
    }
  }

 private:
  const JobRecord record_;
  Instant now_ = Instant(std::chrono::hours(1));
  Job job_;
  StreamId streams_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const size_t kind = static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  const bool is_whole = kind % 5 == 4;
  const std::string bytes =
      is_whole ? std::string(input)
               : EditedBytes(ToBytes(SoundJob(static_cast<JobPhase>(kind % 5))),
                             input);
  const absl::StatusOr<KeptJob> kept = FromBytes(bytes);
  if (!kept.ok()) {
    const absl::string_view why = kept.status().message();
    MUSTER_CHECK(std::none_of(why.begin(), why.end(), [](char c) {
      return c == '\n' || c == '\x1b';
    })) << kept.status();
    return;
  }
  const std::string written = ToBytes(*kept);
  MUSTER_CHECK(ToBytes(Reread(written)) == written);
  ContinuedJob job(*kept);
  for (size_t turns = kind / 5; turns > 0; turns /= 2) {
    if (turns % 2 == 0) {
      job.PassTime();
    } else {
      job.NodesReturn();
    }
  }
}

}  // namespace muster
