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

// The files and folders that a user names for `launch report`.
struct RunQuery {
  // Each element is a run's folder, a folder of --log-dir, an event log, or a
  // run id.
  std::vector<std::string> named;
  std::string log_dir;                  // a folder of --log-dir; empty: none
  std::vector<std::string> event_logs;  // event logs of rendezvousd
  std::string state_dir;                // a job's --state-dir; empty: none
};

// Reads the event logs, the workers' files and the coordinator's journal of one
// run. The journal alone is enough for a report, and so are the other files.
// The journal is neither changed nor locked (JournalFile::RecordsIn). At most a
// bounded part of any other file is read. Such a file must be a regular file
// that belongs to this user or to the owner of the named folder
// (base/file_below.h).
//
// NotFound: there is no such run. InvalidArgument: the query names several
// runs, or none. Errors of JournalFile::RecordsIn: the journal cannot be read,
// and there is no other source for the report. All messages are one sentence
// that says what to do. RunReport::sources lists files that cannot be read.
absl::StatusOr<RunReport> ReadRun(const RunQuery& query);

// The end of a file, as printable lines.
struct FileEnd {
  std::vector<std::string> lines;
  // Whether `lines` lacks a part of the file: earlier lines, or a part of a
  // line.
  bool is_cut = false;
};
inline constexpr size_t kMaxEndLines = 60;
inline constexpr int kMaxEndColumns = 400;
// Whether some bytes are a whole file or only the end of a file.
enum class FilePart { kWhole, kEnd };
// Returns the last lines of the text `bytes`, at most kMaxEndLines lines of
// kMaxEndColumns characters. If a program has overwritten a line by carriage
// returns, only the newest text of that line is kept. Pure.
FileEnd EndOf(std::string_view bytes, FilePart part);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_RUN_FILES_H_
