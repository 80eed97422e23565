#ifndef MUSTER_LAUNCHER_RUN_REPORT_RUN_FILES_H_
#define MUSTER_LAUNCHER_RUN_REPORT_RUN_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/run_report/run_report.h"

namespace muster::launcher {

// What a user names for `launch report`.
struct RunQuery {
  // Each is a run's folder, a folder of --log-dir, an event log, or a run id.
  std::vector<std::string> named;
  std::string log_dir;                  // a folder of --log-dir; empty: none
  std::vector<std::string> event_logs;  // of rendezvousd
  std::string state_dir;                // a folder of --state-dir; empty: none
};

// Reads the event logs, the workers' files and the coordinator's journal of one
// run. The journal is neither changed nor locked (JournalFile::RecordsIn); it
// alone suffices for a report, and so does the rest without it. Other files are
// read only
// from their ends or up to bounds, and only if they are regular files that this
// user or the owner of the named folder owns (base/file_below.h).
//
// NotFound: there is no such run; InvalidArgument: the query names several
// runs, or none; the errors of JournalFile::RecordsIn, if nothing else is left.
// All are one sentence that says what to do. Files that cannot be read are in
// the report's list of sources.
absl::StatusOr<RunReport> ReadRun(const RunQuery& query);

// The end of a file, as printable lines.
struct FileEnd {
  std::vector<std::string> lines;
  bool is_cut = false;  // whether something before or within them is left out
};
inline constexpr size_t kMaxEndLines = 60;
inline constexpr int kMaxEndColumns = 400;
// Returns the last lines of `bytes`, the last part of a file. `starts`: whether
// it is the whole file. At most kMaxEndLines lines of kMaxEndColumns
// characters; of a line that a program has overwritten by carriage returns the
// newest state. Pure.
enum class FilePart { kWhole, kEnd };
FileEnd EndOf(std::string_view bytes, FilePart part);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_RUN_FILES_H_
