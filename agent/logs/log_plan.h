#ifndef MUSTER_AGENT_LOGS_LOG_PLAN_H_
#define MUSTER_AGENT_LOGS_LOG_PLAN_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::agent {

// A set of a worker's streams, numbered as in torchrun's --redirects and --tee:
// 0 none, 1 stdout, 2 stderr, 3 both.
enum class StreamSet { kNone = 0, kOut = 1, kErr = 2, kBoth = 3 };

// Whether `set` contains `stream` (kOut or kErr).
bool Contains(StreamSet set, StreamSet stream);

// The value of `--redirects` or `--tee`. It is one number (see StreamSet) for
// all workers, such as "3", or a list by local rank: "0:1,1:2" gives 1 to local
// rank 0, 2 to local rank 1, and 0 to all others.
struct StreamsByRank {
  StreamSet all = StreamSet::kNone;
  std::map<int, StreamSet> by_local_rank;

  StreamSet For(int local_rank) const;

  bool operator==(const StreamsByRank&) const = default;
};

// Parses the value of `--redirects` or `--tee`. InvalidArgument: names the
// invalid part and the valid forms.
absl::StatusOr<StreamsByRank> ParseStreamsByRank(const std::string& text);

// The value of `--console`: the behaviour if the console is slower than the
// workers.
struct ConsolePolicy {
  // Whether output for which the console has no room is dropped. Otherwise
  // workers wait until there is room.
  bool drops = false;
  // At the end of the job, the longest time for which the console may accept
  // nothing. After this time the rest of the output for the console is
  // discarded.
  Duration timeout = std::chrono::seconds(60);

  bool operator==(const ConsolePolicy&) const = default;
};

// The destinations of the workers' output. If `directory` is not empty, every
// stream of every worker is written to a file. The console gets the streams
// that are not redirected, and the streams in `tee`.
struct LogPlan {
  std::string directory;  // absolute path of --log-dir; empty: no files
  // The name of the run's folder in `directory`; see RunFolder.
  std::string run_name;
  // Whether the coordinator's tag of the run is appended to run_name. Then no
  // file is written before the coordinator has sent the tag.
  bool is_tagged = false;
  // The value of --log-line-prefix-template (see LinePrefix); empty:
  // "[node:rank] ".
  std::string prefix_template;
  StreamsByRank redirects;
  StreamsByRank tee;
  ConsolePolicy console;
  // local ranks whose output the console shows (--local-ranks-filter); empty:
  // all
  std::set<int> console_local_ranks;
  // The texts of --duplicate-stdout-filters. Lines that contain one of these
  // texts are also written to one file for all ranks,
  // <directory>/<run_id>/attempt_<n>/filtered_stdout.log.
  std::vector<std::string> stdout_filters;
  std::vector<std::string> stderr_filters;
  // The log files that are rotated. kOfShownStreams: those of streams whose
  // whole output the console shows too. kOfAllStreams: all files, at the user's
  // request, although rotation may delete the only copy of some output.
  enum class Rotation { kOfShownStreams, kOfAllStreams };
  Rotation rotation = Rotation::kOfShownStreams;
  // maximum size of each log file in bytes; 0: no rotation
  int64_t rotate_bytes = 256 << 20;
  // number of rotated files that are kept; with 4: stdout.log.1 to stdout.log.4
  int keep_rotated = 4;

  bool operator==(const LogPlan&) const = default;
};

// The worker that wrote a line of output.
struct LineOwner {
  std::string role;
  std::string host;
  int rank = 0;
  int local_rank = 0;
};

// The prefix of a worker's lines on the console: "[host:rank] ", or the text of
// `line_template` if it is not empty. In the template, $NAME and ${NAME} of
// role_name, local_rank, rank and hostname are replaced, "$$" becomes "$", and
// everything else stays, as in torchrun (Python's
// string.Template.safe_substitute). Control characters other than colours are
// removed. Pure.
std::string LinePrefix(const std::string& line_template,
                       const LineOwner& owner);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_PLAN_H_
