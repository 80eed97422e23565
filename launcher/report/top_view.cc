#include "launcher/report/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <tuple>

#include "launcher/report/progress_text.h"
#include "launcher/report/text_layout.h"
#include "rendezvous/protocol/state_names.h"

namespace muster::launcher {
namespace {

constexpr int kMaxHostColumns = 24;
// number of lines below the table, which list the keys
constexpr size_t kKeyLines = 1;

// A worker of the current world.
struct Row {
  int rank = 0;
  const rendezvous::NodeStatus* node = nullptr;
  const rendezvous::WorkerProgress* said = nullptr;  // null: nothing reported
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
                      .local_rank = local});
    }
    for (const rendezvous::WorkerProgress& said : node.progress) {
      const auto at = static_cast<size_t>(said.local_rank);
      if (said.local_rank >= 0 && at < rows.size() - begin) {
        rows[begin + at].said = &said;
      }
    }
    first_rank += node.node.slots;
  }
  return rows;
}

// The sort key of a row. Ranks that report nothing come last; if the rows are
// sorted by rank, they keep their place.
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

// The index of the chosen rank's row; 0 if the rank is not there any more.
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
  return AlignRows(lines);
}

}  // namespace

TopChoice AfterKey(const TopChoice& choice, TopKey key,
                   const rendezvous::JobStatus& job, size_t rows) {
  TopChoice after = choice;
  switch (key) {
    case TopKey::kOpen:
      after.is_open = !choice.is_open;
      break;
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
  return after;
}

TopScreen ScreenOf(const rendezvous::JobStatus& job, const TopChoice& choice,
                   size_t rows, int columns) {
  TopScreen screen;
  screen.lines = HeadOf(job);
  const std::vector<Row> sorted = SortedRows(job, choice.sort);
  const int64_t front = FrontOf(sorted);
  if (choice.is_open && !sorted.empty()) {
    for (std::string& line :
         DetailOf(sorted[ChosenRow(sorted, choice)], front)) {
      screen.lines.push_back(std::move(line));
    }
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
          ? "Enter table  arrows other rank  q quit"
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
