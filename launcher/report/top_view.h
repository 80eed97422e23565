#ifndef MUSTER_LAUNCHER_REPORT_TOP_VIEW_H_
#define MUSTER_LAUNCHER_REPORT_TOP_VIEW_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/output_tail.h"

namespace muster::launcher {

// This header computes the screen of `launch top`, which shows a job and a
// table with one line for each rank. All functions are pure.

enum class TopSort { kRank, kStep, kSilence, kRate };

enum class TopKey {
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  // key that switches between the table and the chosen rank with its output
  kOpen,
  kFollow,  // key that pauses or resumes the display of new output
  kRank,    // keyboard key that orders the table by rank
  kStep,    // key that orders the table by step, the smallest first
  // keyboard key that orders the table by the time since a worker's last
  // report, the longest time first
  kSilent,
  kRate,  // key that orders the table by tokens per second, the lowest first
};

// The user's choices in `launch top`: the order of the table and the chosen
// rank.
struct TopChoice {
  TopSort sort = TopSort::kStep;
  // the rank that the user has chosen; nullopt: the rank in the table's first
  // line
  std::optional<int> rank;
  // whether the chosen rank and its output replace the table
  bool is_open = false;
  // Whether the screen shows new lines of output as they arrive. If false, the
  // screen keeps the lines that it shows.
  bool follows = true;
};

// Returns the rank whose output the screen shows; nullopt: the screen shows the
// table, or the job has no ranks.
std::optional<int> RankWithOutput(const TopChoice& choice,
                                  const rendezvous::JobStatus& job);

// Returns the choice after the user has pressed `key`. `rows`: number of lines
// of the screen, for kPageUp and kPageDown.
TopChoice AfterKey(const TopChoice& choice, TopKey key,
                   const rendezvous::JobStatus& job, size_t rows);

struct TopScreen {
  // the screen's lines: at most `rows`, each at most `columns` characters wide
  // (arguments of ScreenOf)
  std::vector<std::string> lines;
  // Index in `lines` of the table's line about the chosen rank; nullopt: no
  // line shows it.
  std::optional<size_t> chosen;
};

// The content of a terminal with `rows` lines of `columns` characters. The
// table is scrolled so that the chosen rank is visible. `output` belongs to the
// rank that RankWithOutput returns; the last lines of `output`, folded at
// `columns`, fill the rest of the screen.
TopScreen ScreenOf(const rendezvous::JobStatus& job, const TopChoice& choice,
                   const rendezvous::OutputTail& output, size_t rows,
                   int columns);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_TOP_VIEW_H_
