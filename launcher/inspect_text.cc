#include "launcher/inspect_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/message_text.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxReasons = 8;
// Upper bound, in seconds, of the times that are printed. A wrong clock may
// give larger times, which would cause an overflow.
constexpr double kLongestTold = 1e9;
constexpr size_t kMaxPositions = 40;

// Appends `label` and then `text`, wrapped to the target's width. The second
// and later lines are indented to the start of the text. `text` is not trusted:
// its control characters are removed.
void AppendField(const std::string& label, Ink ink, const std::string& text,
                 const TextTarget& target, std::string& out) {
  const int indent = Columns(label) + 3;
  const std::vector<std::string> lines =
      Wrap(PrintableLine(text), target.columns - indent, 0);
  for (size_t i = 0; i < lines.size(); i++) {
    absl::StrAppend(
        &out,
        i == 0 ? absl::StrCat(" ", Inked(label, ink, target.style), "  ")
               : std::string(indent, ' '),
        lines[i], "\n");
  }
}

void AppendPositions(const FlightAnalysis& analysis, const TextTarget& target,
                     std::string& out) {
  std::vector<std::vector<std::string>> rows = {
      {" RANKS", "LAST OPERATION", "GROUP", "STATE"}};
  for (const FlightPosition& position : analysis.positions) {
    if (rows.size() > kMaxPositions) break;
    // The column's heading already says RANKS: print " 0-3" instead of "ranks
    // 0-3".
    rows.push_back(
        {position.ranks.substr(position.ranks.find(' ')),
         position.operation.empty() ? "-" : position.operation,
         position.group.empty() ? "-" : PrintableLine(position.group),
         position.state});
  }
  const std::vector<std::string> lines = AlignRows(rows);
  for (size_t i = 0; i < lines.size(); i++) {
    absl::StrAppend(
        &out, i == 0 ? Inked(lines[i], Ink::kFaint, target.style) : lines[i],
        "\n");
  }
  if (analysis.positions.size() > kMaxPositions) {
    absl::StrAppend(
        &out, " and ",
        Counted(static_cast<int64_t>(analysis.positions.size() - kMaxPositions),
                "other place"),
        "\n");
  }
}

std::string FineText(const FlightAnalysis& analysis) {
  if (analysis.longest_wait == 0) {
    return "All ranks called the same, and none waits.";
  }
  const auto wait = static_cast<int64_t>(
      std::ceil(std::min(analysis.longest_wait, kLongestTold) * 1000));
  return absl::StrCat("All move: no rank has waited for longer than ", wait,
                      " ms.");
}

}  // namespace

std::string InspectText(const FlightAnalysis& analysis, int logs,
                        const TextTarget& target) {
  std::string out =
      absl::StrCat(Inked("Flight recorders", Ink::kBold, target.style), " of ",
                   logs, " of ", Counted(analysis.world_size, "rank"), ", ",
                   Counted(analysis.groups, "group"), "\n\n");
  if (analysis.findings.empty()) {
    AppendField("FINE", Ink::kGreen, FineText(analysis), target, out);
  }
  for (const std::string& finding : analysis.findings) {
    AppendField("FOUND", Ink::kRed, finding, target, out);
  }
  if (!analysis.stopped.empty()) {
    const bool one = absl::StartsWith(analysis.stopped, "rank ");
    AppendField("THEN ", Ink::kYellow,
                absl::StrCat(analysis.stopped, one ? " was" : " were",
                             " stopped by Muster, as the round was broken"),
                target, out);
  }
  absl::StrAppend(&out, "\n");
  AppendPositions(analysis, target, out);
  if (analysis.reasons.empty()) return out;
  absl::StrAppend(&out, "\n");
  for (size_t i = 0; i < analysis.reasons.size() && i < kMaxReasons; i++) {
    const auto& [ranks, reason] = analysis.reasons[i];
    AppendField(absl::StrCat(ranks, " said:"), Ink::kYellow, reason, target,
                out);
  }
  if (analysis.reasons.size() > kMaxReasons) {
    absl::StrAppend(
        &out, " and ",
        Counted(static_cast<int64_t>(analysis.reasons.size() - kMaxReasons),
                "other reason"),
        "\n");
  }
  return out;
}

std::string InspectHelp() {
  return R"(Usage:
  launch inspect DUMPS...
      Compare the flight recorders of a job's ranks: name who is behind, who
      called something else, who died.

DUMPS are files, or directories of them: rank_N.ring, which a worker writes as
it goes where MUSTER_FLIGHT_RECORDER_DIR says so; rank_N.json, which it writes
when an operation fails; and workers.N.json, in which the agent of each node
leaves how its workers ended. They lie in LOG_DIR/RUN/attempt_N.
Dumps of PyTorch's flight recorder are read as well, if their names end with
the rank (nccl_trace_rank_3); code in these pickles is never run.

While a job runs ranks wait for each other all the time: until something has
failed, only a wait of more than a second counts.

Exit status:
  0  All ranks agree, and none waits for long.
  1  Some ranks hold the others up: see what was found.
  2  DUMPS are none, or none of one job.
)";
}

}  // namespace muster::launcher
