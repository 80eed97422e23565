#include "launcher/recorded_job.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/message_text.h"
#include "rendezvous/job/job_record.h"

namespace muster::launcher {
namespace {

bool IsOver(const rendezvous::KeptJob& record, const HostedJob& hosted,
            Duration now) {
  return rendezvous::IsEnding(record.job) &&
         now - record.written_at >= hosted.verdict_awaited_for;
}

absl::Status Unusable(const std::string& state_dir, const std::string& why) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot use ", state_dir, ": it holds job ", why));
}

}  // namespace

absl::StatusOr<RecordedJob> FindRecordedJob(
    std::vector<rendezvous::KeptJob> records, const HostedJob& hosted,
    const std::string& state_dir, Duration now) {
  RecordedJob found;
  std::vector<std::string> others;
  for (rendezvous::KeptJob& record : records) {
    const bool is_hosted = record.job.run_id == hosted.run_id;
    std::optional<rendezvous::JobRecord> next;
    if (IsOver(record, hosted, now)) next = rendezvous::ForNextRun(record.job);
    if (is_hosted && next.has_value()) {
      record.job = *std::move(next);
      found.continued = std::move(record);
    } else if (IsOver(record, hosted, now)) {
      found.over.push_back(record.job.run_id);
    } else if (is_hosted) {
      found.continued = std::move(record);
    } else {
      others.push_back(record.job.run_id);
    }
  }
  if (!others.empty()) {
    const int64_t more = static_cast<int64_t>(others.size()) - 1;
    return Unusable(
        state_dir,
        absl::StrCat(
            "\"", others[0], "\"",
            more > 0 ? absl::StrCat(" and ", Counted(more, "other")) : "",
            ", and this is job \"", hosted.run_id, "\"; name another folder"));
  }
  if (!found.continued) return found;
  if (const auto objection =
          rendezvous::Disagreement(found.continued->job.spec, hosted.spec)) {
    return Unusable(
        state_dir, absl::StrCat("\"", hosted.run_id, "\" with other settings (",
                                objection->noted,
                                "); give the same command as before, or name "
                                "another folder"));
  }
  return found;
}

}  // namespace muster::launcher
