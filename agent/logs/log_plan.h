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

// A set of a worker's streams, as torchrun's --redirects and --tee number
// them: 0 none, 1 stdout, 2 stderr, 3 both.
enum class StreamSet { kNone = 0, kOut = 1, kErr = 2, kBoth = 3 };

// Whether `stream` (kOut or kErr) is in `set`.
bool Contains(StreamSet set, StreamSet stream);

// `--redirects` / `--tee`: one value for all, or by local rank ("0:1,1:2",
// where ranks that are not named have 0).
struct StreamsByRank {
  StreamSet all = StreamSet::kNone;
  std::map<int, StreamSet> by_local_rank;

  StreamSet For(int local_rank) const;
};

// InvalidArgument names the part that could not be read and the forms allowed.
absl::StatusOr<StreamsByRank> ParseStreamsByRank(const std::string& text);

// `--console`: what a console that is slower than the workers means.
struct ConsolePolicy {
  // Workers do not wait: what the console does not take is dropped there.
  bool drops = false;
  // At the end: how long the console may take nothing at all before it is given
  // up.
  Duration patience = std::chrono::seconds(60);
};

// Where workers' output goes. Files are written for every worker and stream
// whatever the plan says, unless `directory` is empty; the plan decides what
// reaches the console: all that is not redirected, and what is teed.
struct LogPlan {
  std::string directory;  // --log-dir, made absolute; empty: no files
  // The run's folder in it is called so; see RunFolder.
  std::string run_name;
  // Whether the coordinator's tag of the run is added to that name. Nothing is
  // written before it is known.
  bool is_tagged = false;
  // --log-line-prefix-template; empty: "[node:rank] ". See LinePrefix.
  std::string prefix_template;
  StreamsByRank redirects;
  StreamsByRank tee;
  ConsolePolicy console;
  std::set<int> console_local_ranks;  // --local-ranks-filter; empty: all
  // --duplicate-stdout-filters: lines that contain one of these are copied to
  // <directory>/<run_id>/attempt_<n>/filtered_stdout.log, all ranks into one.
  std::vector<std::string> stdout_filters;
  std::vector<std::string> stderr_filters;
  // Which files are rotated: those of streams that the console shows whole, or
  // all, which a person has to ask for.
  enum class Rotation { kOfShownStreams, kOfAllStreams };
  Rotation rotation = Rotation::kOfShownStreams;
  int64_t rotate_bytes = 256 << 20;  // per file; 0: never
  int keep_rotated = 4;              // stdout.log.1 … .4
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_PLAN_H_
