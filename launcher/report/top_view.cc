#include "launcher/report/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>

#include "launcher/report/progress_text.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

constexpr int kMaxHostColumns = 24;
// number of lines below the table; they list the keyboard keys
constexpr size_t kKeyLines = 1;
// Minimum number of screen lines for a rank's output, unless the output is
// shorter.
constexpr size_t kLeastOutputLines = 6;
// Maximum number of screen lines for one line of output. The rest is cut.
constexpr int kMaxFolds = 4;

// A worker of the current world.
struct Row {
  int rank = 0;
  const rendezvous::NodeStatus* node = nullptr;
  // the worker's last progress report; null: the worker has reported nothing
  const rendezvous::WorkerProgress* said = nullptr;
  // how the worker has spent its time; null: the worker has measured nothing
  const rendezvous::WorkerTimes* times = nullptr;
  int local_rank = 0;
};

std::vector<Row> RowsOf(const rendezvous::JobStatus& job) {
  std::vector<Row> rows;
  int first_rank = 0;
  for (const rendezvous::NodeStatus& node : job.nodes) {
    if (!node.group_rank) continue;
    const size_t begin = rows.size();
    for (int local = 0; local < node.node.slots; ++local) {
      rows.push_back({.rank = first_rank + local,
                      .node = &node,
                      .said = nullptr,
                      .times = nullptr,
                      .local_rank = local});
    }
    for (const rendezvous::WorkerProgress& said : node.progress) {
      const auto at = static_cast<size_t>(said.local_rank);
      if (said.local_rank >= 0 && at < rows.size() - begin) {
        rows[begin + at].said = &said;
      }
    }
    for (const rendezvous::WorkerTimes& times : node.times) {
      const auto at = static_cast<size_t>(times.local_rank);
      if (times.local_rank >= 0 && at < rows.size() - begin) {
        rows[begin + at].times = &times;
      }
    }
    first_rank += node.node.slots;
  }
  return rows;
}

// The sort key of a row for the order `sort`. A rank that has not reported the
// value to sort by comes last.
std::tuple<double, int> KeyOf(const Row& row, TopSort sort) {
  double key = INFINITY;
  const rendezvous::WorkerProgress* const said = row.said;
  if (sort == TopSort::kRank) key = 0;
  if (said != nullptr && sort == TopSort::kStep && said->step) {
    key = static_cast<double>(*said->step);
  }
  if (said != nullptr && sort == TopSort::kSilence) {
    key = -ToSeconds(said->silent_for);
  }
  if (said != nullptr && sort == TopSort::kRate && said->tokens_per_s &&
      !std::isnan(*said->tokens_per_s)) {
    key = *said->tokens_per_s;
  }
  return {key, row.rank};
}

std::vector<Row> SortedRows(const rendezvous::JobStatus& job, TopSort sort) {
  std::vector<Row> rows = RowsOf(job);
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return KeyOf(a, sort) < KeyOf(b, sort);
  });
  return rows;
}

// The index of the chosen rank's row; 0 if no row has this rank any more.
size_t ChosenRow(const std::vector<Row>& rows, const TopChoice& choice) {
  const auto found =
      std::find_if(rows.begin(), rows.end(),
                   [&](const Row& row) { return row.rank == choice.rank; });
  return found == rows.end() ? 0 : static_cast<size_t>(found - rows.begin());
}

std::string NumberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string StateText(const Row& row) {
  if (!row.node->connected) return "disconnected";
  return rendezvous::PhaseText(row.node->phase);
}

int64_t FrontOf(const std::vector<Row>& rows) {
  int64_t front = 0;
  for (const Row& row : rows) {
    if (row.said != nullptr && row.said->step) {
      front = std::max(front, *row.said->step);
    }
  }
  return front;
}

std::vector<std::string> CellsOf(const Row& row, int64_t front) {
  std::vector<std::string> cells = {
      std::to_string(row.rank),
      Shorten(PrintableLine(row.node->node.host), kMaxHostColumns),
      StateText(row)};
  if (row.said == nullptr) {
    cells.insert(cells.end(), {"-", "-", "-", "-", "-", ""});
    return cells;
  }
  const rendezvous::WorkerProgress& said = *row.said;
  cells.push_back(said.step ? std::to_string(*said.step) : "-");
  cells.push_back(said.step ? std::to_string(front - *said.step) : "-");
  cells.push_back(said.loss ? NumberText(*said.loss) : "-");
  cells.push_back(said.tokens_per_s ? NumberText(*said.tokens_per_s) : "-");
  cells.push_back(DurationText(said.silent_for) + " ago");
  cells.push_back(PrintableLine(said.status));
  return cells;
}

std::vector<std::string> HeadOf(const rendezvous::JobStatus& job) {
  const std::string state = job.verdict
                                ? rendezvous::OutcomeText(job.verdict->outcome)
                                : rendezvous::PhaseText(job.phase);
  std::vector<std::string> lines = {
      "job " + PrintableLine(job.run_id) + ": " + state + ", round " +
          std::to_string(job.round) + ", " + std::to_string(job.world_size) +
          " workers, " + std::to_string(job.restarts_used) + " of " +
          std::to_string(job.spec.max_restarts) + " restarts used, " +
          DurationText(job.age) + " old",
      PrintableLine(job.verdict ? job.verdict->reason : job.reason)};
  const std::string progress = ProgressLine(job);
  if (!progress.empty()) lines.push_back(progress);
  for (const rendezvous::NodeStatus& node : job.nodes) {
    const rendezvous::HostJudgement& judgement = node.judgement;
    if (judgement.state != rendezvous::HostState::kQuarantined &&
        judgement.state != rendezvous::HostState::kBanned) {
      continue;
    }
    lines.push_back(PrintableLine(node.node.host) + " is " +
                    rendezvous::HostStateText(judgement.state) + ": " +
                    PrintableLine(judgement.reason));
  }
  lines.emplace_back();
  return lines;
}

// Arranges the lines in as many columns as fit into `columns` characters. Each
// column is filled from top to bottom.
std::vector<std::string> InColumns(const std::vector<std::string>& lines,
                                   int columns) {
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, Columns(line));
  constexpr int kGap = 3;
  const auto across = static_cast<size_t>(
      std::max(1, (columns + kGap) / std::max(1, width + kGap)));
  const size_t down = (lines.size() + across - 1) / across;
  std::vector<std::string> laid(down);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string& line = laid[i % down];
    if (i >= down) {
      line = PadRight(line, static_cast<int>(i / down) * (width + kGap));
    }
    line += lines[i];
  }
  return laid;
}

// Splits a line at `columns` characters into at most kMaxFolds pieces.
std::vector<std::string> Folded(const std::string& line, int columns) {
  std::vector<std::string> pieces(1);
  int used = 0;
  for (const char c : line) {
    const bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins && used++ == columns) {
      if (pieces.size() == kMaxFolds) {
        pieces.back() = Shorten(pieces.back() + "...", columns);
        return pieces;
      }
      pieces.emplace_back();
      used = 1;
    }
    pieces.back() += c;
  }
  return pieces;
}

// The last lines of a rank's output, at most `room` lines.
std::vector<std::string> OutputLines(const rendezvous::OutputTail& output,
                                     size_t room, int columns) {
  std::vector<std::string> lines;
  std::optional<int> round;
  for (const rendezvous::OutputLine& line : output.lines()) {
    if (round.has_value() && round != line.round) {
      lines.push_back("--- round " + std::to_string(line.round) + " ---");
    }
    round = line.round;
    for (std::string& piece :
         Folded(PrintableLine(line.text), std::max(1, columns))) {
      lines.push_back(std::move(piece));
    }
  }
  if (lines.size() > room) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(room));
  }
  return lines;
}

std::string OutputTitle(int rank, const TopChoice& choice,
                        const rendezvous::OutputTail& output) {
  std::string title = "--- output of rank " + std::to_string(rank);
  if (!choice.follows) title += ", held";
  if (!output.note().empty()) title += ": " + PrintableLine(output.note());
  return title + " ---";
}

// A part of a worker's measured time: its share of all parts and its length,
// such as "62.5 %, 1m 02s".
std::string TimeText(Duration part, const rendezvous::WorkerTimes& times) {
  const double total = times.total_s();
  char share[32];
  std::snprintf(share, sizeof(share), "%.1f %%, ",
                total > 0 ? 100 * ToSeconds(part) / total : 0);
  return share + DurationText(part);
}

std::vector<std::string> DetailOf(const Row& row, int64_t front) {
  const std::vector<std::string> names = {"rank",     "host",        "state",
                                          "step",     "behind",      "loss",
                                          "tokens/s", "last report", "status"};
  const std::vector<std::string> cells = CellsOf(row, front);
  std::vector<std::vector<std::string>> lines = {
      {"node", PrintableLine(row.node->node.node_id)},
      {"address", PrintableLine(row.node->node.address)},
      {"local rank", std::to_string(row.local_rank)}};
  for (size_t i = 0; i < names.size(); ++i) {
    lines.push_back({names[i], cells[i]});
  }
  if (row.times != nullptr) {
    lines.push_back({"own work", TimeText(row.times->work, *row.times)});
    lines.push_back({"data", TimeText(row.times->data, *row.times)});
    lines.push_back(
        {"collectives", TimeText(row.times->collectives, *row.times)});
    if (row.times->wait + row.times->transfer > Duration::zero()) {
      lines.push_back({"wait", TimeText(row.times->wait, *row.times)});
      lines.push_back({"transfer", TimeText(row.times->transfer, *row.times)});
    }
  }
  return AlignRows(lines);
}

}  // namespace

TopChoice AfterKey(const TopChoice& choice, TopKey key,
                   const rendezvous::JobStatus& job, size_t rows) {
  TopChoice after = choice;
  switch (key) {
    case TopKey::kOpen:
      after.is_open = !choice.is_open;
      after.follows = true;
      break;
    case TopKey::kFollow:
      if (choice.is_open) after.follows = !choice.follows;
      return after;
    case TopKey::kRank:
      after.sort = TopSort::kRank;
      return after;
    case TopKey::kStep:
      after.sort = TopSort::kStep;
      return after;
    case TopKey::kSilent:
      after.sort = TopSort::kSilence;
      return after;
    case TopKey::kRate:
      after.sort = TopSort::kRate;
      return after;
    default:
      break;
  }
  const std::vector<Row> sorted = SortedRows(job, choice.sort);
  if (sorted.empty()) return after;
  size_t at = ChosenRow(sorted, choice);
  const size_t page = std::max<size_t>(1, rows / 2);
  if (key == TopKey::kUp) at -= std::min<size_t>(at, 1);
  if (key == TopKey::kPageUp) at -= std::min(at, page);
  if (key == TopKey::kDown) ++at;
  if (key == TopKey::kPageDown) at += page;
  after.rank = sorted[std::min(at, sorted.size() - 1)].rank;
  if (after.rank != choice.rank) after.follows = true;
  return after;
}

std::optional<int> RankWithOutput(const TopChoice& choice,
                                  const rendezvous::JobStatus& job) {
  if (!choice.is_open) return std::nullopt;
  const std::vector<Row> sorted = SortedRows(job, choice.sort);
  if (sorted.empty()) return std::nullopt;
  return sorted[ChosenRow(sorted, choice)].rank;
}

TopScreen ScreenOf(const rendezvous::JobStatus& job, const TopChoice& choice,
                   const rendezvous::OutputTail& output, size_t rows,
                   int columns) {
  TopScreen screen;
  screen.lines = HeadOf(job);
  const std::vector<Row> sorted = SortedRows(job, choice.sort);
  const int64_t front = FrontOf(sorted);
  if (choice.is_open && !sorted.empty()) {
    const Row& row = sorted[ChosenRow(sorted, choice)];
    std::vector<std::string> lines = InColumns(DetailOf(row, front), columns);
    std::vector<std::string> shown = OutputLines(output, rows, columns);
    // If the screen is too small for the rank's details and for
    // kLeastOutputLines lines of its output, cut the details.
    const size_t used = screen.lines.size() + 1 + kKeyLines;
    const size_t room = rows > used ? rows - used : 0;
    const size_t kept = std::min(kLeastOutputLines, shown.size());
    if (lines.size() + kept > room) lines.resize(room > kept ? room - kept : 0);
    if (shown.size() > room - lines.size()) {
      shown.erase(shown.begin(), shown.end() - static_cast<std::ptrdiff_t>(
                                                   room - lines.size()));
    }
    lines.push_back(OutputTitle(row.rank, choice, output));
    for (std::string& line : shown) lines.push_back(std::move(line));
    for (std::string& line : lines) screen.lines.push_back(std::move(line));
  } else if (!sorted.empty()) {
    std::vector<std::vector<std::string>> table = {
        {"RANK", "HOST", "STATE", "STEP", "BEHIND", "LOSS", "TOKENS/S", "HEARD",
         "STATUS"}};
    for (const Row& row : sorted) table.push_back(CellsOf(row, front));
    const std::vector<std::string> lines = AlignRows(table);
    const size_t used = screen.lines.size() + 1 + kKeyLines;
    const size_t room = rows > used ? rows - used : 1;
    const size_t chosen = ChosenRow(sorted, choice);
    const size_t first = chosen < room ? 0 : chosen - room + 1;
    screen.lines.push_back(lines[0]);
    screen.chosen = screen.lines.size() + chosen - first;
    for (size_t i = first; i < std::min(first + room, sorted.size()); ++i) {
      screen.lines.push_back(lines[i + 1]);
    }
  }
  if (screen.lines.size() + kKeyLines > rows) {
    screen.lines.resize(rows > kKeyLines ? rows - kKeyLines : 0);
  }
  screen.lines.emplace_back(
      choice.is_open
          ? "Enter table  arrows other rank  f hold or follow  q quit"
          : "Enter rank  arrows choose  sort: r rank  s step  h heard  t "
            "tokens/s  q quit");
  if (screen.lines.size() > rows) screen.lines.clear();
  if (screen.chosen && *screen.chosen + kKeyLines >= screen.lines.size()) {
    screen.chosen.reset();
  }
  for (std::string& line : screen.lines) line = Shorten(line, columns);
  return screen;
}

}  // namespace muster::launcher
