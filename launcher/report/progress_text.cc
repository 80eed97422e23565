#include "launcher/report/progress_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

using rendezvous::ProgressSummary;
using rendezvous::RankProgress;

// If at most this many ranks report, ProgressTable shows all of them.
constexpr size_t kMaxRanks = 16;
// Number of ranks that ProgressTable shows if more than kMaxRanks ranks report.
constexpr size_t kMaxLaggards = 8;
// If at most this many ranks report, RankLines shows all of them. Smaller than
// kMaxRanks, because `launch watch` prints these lines repeatedly.
constexpr size_t kMaxLines = 8;
constexpr int kMaxHostColumns = 24;

std::string LossText(double loss) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", loss);
  return text;
}

// Formats tokens per second: "51000", "408k", "1.2M".
std::string RateText(double rate) {
  char text[32];
  if (rate < 100'000) {
    std::snprintf(text, sizeof(text), "%.0f", rate);
  } else if (rate < 10'000'000) {
    std::snprintf(text, sizeof(text), "%.0fk", rate / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.1fM", rate / 1e6);
  }
  return text;
}

std::string StepsText(const ProgressSummary& summary) {
  const std::string least = std::to_string(*summary.least_step);
  if (*summary.least_step == *summary.max_step) return "step " + least;
  return "steps " + least + " to " + std::to_string(*summary.max_step) +
         " (median " + std::to_string(*summary.median_step) + "), rank " +
         std::to_string(summary.slowest_rank) + " is the last";
}

// Orders the rows of ProgressTable: by step (smallest first), then by silence
// (longest first), then by rank.
bool LagsMore(const RankProgress* a, const RankProgress* b) {
  const auto key = [](const RankProgress* rank) {
    return std::make_tuple(rank->said.step.value_or(INT64_MAX),
                           -rank->said.silent_for.count(), rank->rank);
  };
  return key(a) < key(b);
}

// Formats the time since a rank's last report: "12.3s ago". Once half of the
// rank's deadline for reports has passed, the text also shows the deadline:
// "25.1s ago of 30.0s".
std::string LastReportText(const rendezvous::WorkerProgress& said) {
  const std::string ago = DurationText(said.silent_for) + " ago";
  if (said.deadline == Duration::zero() ||
      said.silent_for < said.deadline / 2) {
    return ago;
  }
  return ago + " of " + DurationText(said.deadline);
}

std::vector<std::string> Row(const RankProgress& rank,
                             const ProgressSummary& summary) {
  const rendezvous::WorkerProgress& said = rank.said;
  const int64_t behind =
      said.step ? *summary.max_step - *said.step : int64_t{0};
  return {std::to_string(rank.rank),
          Shorten(PrintableLine(rank.host), kMaxHostColumns),
          said.step ? std::to_string(*said.step) : "",
          behind > 0 ? std::to_string(behind) : "",
          said.loss ? LossText(*said.loss) : "",
          said.tokens_per_s ? RateText(*said.tokens_per_s) : "",
          LastReportText(said),
          PrintableLine(said.status)};
}

// Removes every column whose cells are all empty. Cells in rows before the
// index `row`, such as headings, do not count. Columns before the index `first`
// are kept.
void DropEmptyColumns(std::vector<std::vector<std::string>>& rows, long row,
                      size_t first) {
  for (size_t column = rows[0].size(); column-- > first;) {
    const bool empty =
        std::all_of(rows.begin() + row, rows.end(),
                    [&](const auto& cells) { return cells[column].empty(); });
    if (!empty) continue;
    for (auto& cells : rows) {
      cells.erase(cells.begin() + static_cast<long>(column));
    }
  }
}

// Whether rank `a` is slower than rank `b`: its step is smaller or, at the same
// step, its rate in tokens per second is lower.
bool IsSlower(const RankProgress& a, const RankProgress& b) {
  const auto key = [](const RankProgress& rank) {
    return std::make_tuple(rank.said.step.value_or(INT64_MAX),
                           rank.said.tokens_per_s.value_or(INFINITY));
  };
  return key(a) < key(b);
}

std::vector<std::string> Cells(const RankProgress& rank,
                               const ProgressSummary& summary) {
  const rendezvous::WorkerProgress& said = rank.said;
  const int64_t behind =
      said.step ? *summary.max_step - *said.step : int64_t{0};
  return {said.step ? "step " + std::to_string(*said.step) : "",
          behind > 0 ? std::to_string(behind) + " behind" : "",
          said.loss ? "loss " + LossText(*said.loss) : "",
          said.tokens_per_s ? RateText(*said.tokens_per_s) + " tokens/s" : "",
          said.silent_for >= kLongSilence
              ? "silent for " + DurationText(said.silent_for)
              : "",
          PrintableLine(said.status)};
}

}  // namespace

std::string ProgressLine(const rendezvous::JobStatus& job) {
  const ProgressSummary summary = Summarize(rendezvous::RanksOf(job));
  if (summary.reporting == 0) return "";
  std::string line;
  const auto add = [&line](const std::string& part) {
    line += (line.empty() ? "" : "; ") + part;
  };
  if (summary.least_step) add(StepsText(summary));
  if (summary.loss) add("loss " + LossText(*summary.loss));
  if (summary.tokens_per_s > 0)
    add(RateText(summary.tokens_per_s) + " tokens/s");
  if (summary.reporting < job.world_size) {
    add(std::to_string(summary.reporting) + " of " +
        std::to_string(job.world_size) + " ranks report");
  }
  if (line.empty()) {
    add("every rank reports, the longest ago rank " +
        std::to_string(summary.most_silent_rank) + ", " +
        DurationText(summary.longest_silence) + " ago");
  }
  return line;
}

std::string RankLines(const rendezvous::JobStatus& job,
                      const TextTarget& target) {
  const std::vector<RankProgress> ranks = rendezvous::RanksOf(job);
  if (ranks.empty()) return "";
  const ProgressSummary summary = Summarize(ranks);
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::vector<std::string> names,
                       const RankProgress& rank) {
    const std::vector<std::string> cells = Cells(rank, summary);
    names.insert(names.end(), cells.begin(), cells.end());
    rows.push_back(std::move(names));
  };
  const auto name = [](const RankProgress& rank) {
    return "rank " + std::to_string(rank.rank);
  };
  if (ranks.size() <= kMaxLines) {
    for (const RankProgress& rank : ranks) add({name(rank)}, rank);
  } else {
    const auto ends = std::minmax_element(ranks.begin(), ranks.end(), IsSlower);
    const auto end = [&](const char* which, const RankProgress& rank) {
      add({std::string(which) + name(rank) + " (" +
           Shorten(PrintableLine(rank.host), kMaxHostColumns) + ")"},
          rank);
    };
    end("slowest ", *ends.first);
    end("fastest ", *ends.second);
  }
  DropEmptyColumns(rows, 0, 1);
  if (rows[0].size() == 1) return "";
  std::string text;
  for (const std::string& line : AlignRows(rows)) {
    text += Shorten("    " + line, target.columns) + "\n";
  }
  return text;
}

std::string ProgressTable(const rendezvous::JobStatus& job,
                          const TextTarget& target) {
  const std::vector<RankProgress> ranks = rendezvous::RanksOf(job);
  if (ranks.empty()) return "";
  const ProgressSummary summary = Summarize(ranks);
  std::vector<const RankProgress*> shown;
  for (const RankProgress& rank : ranks) shown.push_back(&rank);
  if (ranks.size() > kMaxRanks) {
    std::partial_sort(shown.begin(), shown.begin() + kMaxLaggards, shown.end(),
                      LagsMore);
    shown.resize(kMaxLaggards);
  }
  std::vector<std::vector<std::string>> rows = {{"RANK", "HOST", "STEP",
                                                 "BEHIND", "LOSS", "TOKENS/S",
                                                 "HEARD", "STATUS"}};
  for (const RankProgress* rank : shown) rows.push_back(Row(*rank, summary));
  DropEmptyColumns(rows, 1, 2);
  std::string text;
  for (const std::string& line : AlignRows(rows)) {
    text += Shorten(line, target.columns) + "\n";
  }
  if (shown.size() < ranks.size()) {
    text += "and " + std::to_string(ranks.size() - shown.size()) +
            " more ranks, none further behind\n";
  }
  return text;
}

}  // namespace muster::launcher
