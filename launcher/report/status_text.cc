#include "launcher/report/status_text.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/message_text.h"
#include "launcher/report/progress_text.h"
#include "launcher/report/text_layout.h"
#include "launcher/report/time_text.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::launcher {

namespace {

constexpr int kKindColumns = 7;
constexpr int kMaxNodeColumns = 28;

}  // namespace

std::string DecisionLine(const rendezvous::Decision& decision, double unix_time,
                         TextStyle style) {
  std::string node = Shorten(PrintableLine(decision.node_id), kMaxNodeColumns);
  std::string line = Inked(rendezvous::UtcText(unix_time), Ink::kFaint, style) +
                     "  round " + std::to_string(decision.round) + "  " +
                     Inked(PadRight(PrintableLine(decision.kind), kKindColumns),
                           Ink::kBold, style) +
                     "  ";
  if (!node.empty()) line += node + ": ";
  return line + PrintableLine(decision.reason) + "\n";
}

namespace {

constexpr int kMaxNameColumns = 28;
constexpr int kMaxReasonColumns = 60;
constexpr int kMaxBindingColumns = 44;
// maximum number of slow ranks that StatusTable lists
constexpr size_t kMaxSlowLines = 8;
constexpr Duration kLongWait = std::chrono::seconds(60);
constexpr char kAbsentHint[] =
    "Look at what starts the missing nodes: in Kubernetes kubectl get pods "
    "shows which pods are missing, kubectl describe pod why one is Pending.";

std::string Name(const std::string& text) {
  return Shorten(PrintableLine(text), kMaxNameColumns);
}

Ink PhaseInk(const rendezvous::JobStatus& job) {
  if (job.phase == rendezvous::JobPhase::kRunning) return Ink::kGreen;
  if (job.phase != rendezvous::JobPhase::kFinished) return Ink::kYellow;
  bool good =
      job.verdict && job.verdict->outcome == rendezvous::Outcome::kSucceeded;
  return good ? Ink::kGreen : Ink::kRed;
}

std::string StateText(const rendezvous::JobStatus& job) {
  return job.verdict ? OutcomeText(job.verdict->outcome) : PhaseText(job.phase);
}

// Whether the job has waited for missing nodes for longer than kLongWait.
bool LongWaits(const rendezvous::JobStatus& job) {
  return job.phase == rendezvous::JobPhase::kGathering &&
         job.phase_age >= kLongWait &&
         static_cast<int>(job.nodes.size()) < job.spec.min_nodes;
}

int MembersOf(const rendezvous::JobStatus& job) {
  int members = 0;
  for (const rendezvous::NodeStatus& node : job.nodes) {
    members += node.group_rank ? 1 : 0;
  }
  return members;
}

std::string WorldLine(const rendezvous::JobStatus& job) {
  int members = MembersOf(job);
  int spares = static_cast<int>(job.nodes.size()) - members;
  std::string text = job.world_size > 0 ? Counted(job.world_size, "worker") +
                                              " on " + Counted(members, "node")
                                        : "none now";
  if (spares > 0) {
    text += job.world_size > 0 ? ", " + Counted(spares, "spare")
                               : ", " + Counted(spares, "node") + " waiting";
  }
  std::string least = std::to_string(job.spec.min_nodes);
  std::string most = std::to_string(job.spec.max_nodes);
  text += " (wants " + (least == most ? least : least + " to " + most) + ")";
  return text;
}

std::string RanksText(int first, int slots) {
  if (slots <= 0) return "-";
  std::string text = std::to_string(first);
  return slots == 1 ? text : text + "-" + std::to_string(first + slots - 1);
}

std::string Notes(const rendezvous::JobStatus& job,
                  const rendezvous::NodeStatus& node) {
  std::vector<std::string> notes;
  // A node without a group rank is a spare if the job has a world. Otherwise
  // the node waits for a world.
  if (!node.group_rank) {
    notes.emplace_back(job.world_size > 0 ? "spare" : "waiting");
  }
  if (node.health == rendezvous::Health::kUnchecked && !node.group_rank) {
    notes.emplace_back("being checked");
  }
  if (node.health == rendezvous::Health::kUnhealthy) {
    notes.push_back("unhealthy: " +
                    Shorten(PrintableLine(node.unhealthy), kMaxReasonColumns));
  }
  if (node.judgement.state == rendezvous::HostState::kQuarantined ||
      node.judgement.state == rendezvous::HostState::kBanned) {
    notes.push_back(
        std::string(rendezvous::HostStateText(node.judgement.state)) + ": " +
        Shorten(PrintableLine(node.judgement.reason), kMaxReasonColumns));
  }
  // With --quarantine=off the coordinator counts faults, but no number of
  // faults changes a machine's state. So show the faults of a machine in the
  // state kHealthy.
  if (node.judgement.state == rendezvous::HostState::kHealthy &&
      node.judgement.score > 0) {
    notes.push_back("faults: " + Shorten(PrintableLine(node.judgement.reason),
                                         kMaxReasonColumns));
  }
  if (node.draining) notes.emplace_back("draining");
  if (!node.connected) notes.emplace_back("disconnected");
  std::string text;
  for (const std::string& note : notes) {
    text += (text.empty() ? "" : ", ") + note;
  }
  return text;
}

// Whether the id of every node is its host's name. If so, the table needs no
// separate column for the hosts.
bool HostsNameNodes(const rendezvous::JobStatus& job) {
  for (const rendezvous::NodeStatus& node : job.nodes) {
    if (node.node.node_id != node.node.host) return false;
  }
  return true;
}

std::vector<std::vector<std::string>> NodeRows(
    const rendezvous::JobStatus& job) {
  std::vector<std::vector<std::string>> rows = {
      {"GROUP", "RANKS", "NODE", "ADDRESS", "PHASE", "HEARD", "NOTES"}};
  const bool binds = std::any_of(
      job.nodes.begin(), job.nodes.end(),
      [](const rendezvous::NodeStatus& n) { return !n.node.binding.empty(); });
  if (binds) rows[0].insert(rows[0].end() - 1, "CPUS");
  bool one_name = HostsNameNodes(job);
  if (!one_name) rows[0].insert(rows[0].begin() + 3, "HOST");
  // The rank of the first worker of `node`, the current node of the loop below.
  // The loop visits the nodes in the order of their group ranks.
  int first_rank = 0;
  for (const rendezvous::NodeStatus& node : job.nodes) {
    std::vector<std::string> row = {"-", "-", Name(node.node.node_id)};
    if (node.group_rank) {
      row[0] = std::to_string(*node.group_rank);
      row[1] = RanksText(first_rank, node.node.slots);
      first_rank += node.node.slots;
    }
    if (!one_name) row.push_back(Name(node.node.host));
    row.insert(row.end(), {Name(node.node.address), PhaseText(node.phase),
                           DurationText(node.silent_for) + " ago"});
    if (binds) {
      row.push_back(
          node.node.binding.empty()
              ? "-"
              : Shorten(PrintableLine(node.node.binding), kMaxBindingColumns));
    }
    row.push_back(Notes(job, node));
    rows.push_back(std::move(row));
  }
  return rows;
}

// How much shorter a step would be without a slow network, such as ", a step up
// to 40 % shorter without"; "": unknown, or the rank is slow in another phase.
std::string MaxGainText(const rendezvous::SlowRank& slow) {
  if (!slow.max_gain.has_value()) return "";
  char text[64];
  std::snprintf(text, sizeof(text), ", a step up to %.0f %% shorter without",
                100 * *slow.max_gain);
  return text;
}

// Returns a line for each slow rank, and a last line that says how much shorter
// a step would be without the slow ranks. If every slow rank is slow because of
// its network, the last line is left out.
std::vector<std::string> SlowRankLines(const rendezvous::JobStatus& job) {
  std::vector<std::string> lines;
  // The common gain says how much shorter a step would be without the slow
  // ranks. It does not count slow networks, so there is a common gain only if a
  // rank is slow for another reason.
  const bool has_gain =
      std::ranges::any_of(job.slow_ranks, [](const rendezvous::SlowRank& slow) {
        return slow.phase != rendezvous::SlowPhase::kNetwork;
      });
  for (const rendezvous::SlowRank& slow : job.slow_ranks) {
    if (lines.size() == kMaxSlowLines) {
      lines.push_back("and " +
                      std::to_string(job.slow_ranks.size() - kMaxSlowLines) +
                      " more");
      break;
    }
    char ratio[32];
    std::snprintf(ratio, sizeof(ratio), "%.2f", slow.ratio);
    lines.push_back(
        "rank " + std::to_string(slow.rank) + " (" + Name(slow.host) +
        ", local rank " + std::to_string(slow.local_rank) +
        (slow.gpu.empty() ? "" : ", GPU " + Name(slow.gpu)) +
        "): " + rendezvous::PhaseText(slow.phase) + ", " + ratio + " x " +
        rendezvous::ComparedText(slow.phase) + MaxGainText(slow) +
        (slow.is_persistent ? "" : ", for now"));
  }
  if (!has_gain) return lines;
  char gain[64];
  std::snprintf(gain, sizeof(gain), "without them a step is %.0f %% shorter",
                100 * job.slow_ranks_gain);
  lines.push_back(gain);
  return lines;
}

}  // namespace

std::string StatusTable(const rendezvous::JobStatus& job,
                        const TextTarget& target) {
  FramedText text(target);
  text.Title("job " + PrintableLine(job.run_id) + ": " + StateText(job),
             PhaseInk(job), "");
  text.Field("round", {std::to_string(job.round) + ", " + PhaseText(job.phase) +
                       " for " + DurationText(job.phase_age) + "; the job is " +
                       DurationText(job.age) + " old"});
  text.Field("reason", PrintableLines(job.reason));
  text.Field("world", {WorldLine(job)});
  if (LongWaits(job)) text.Field("hint", {kAbsentHint});
  if (!job.master_address.empty()) {
    text.Field("master", {PrintableLine(job.master_address) + ":" +
                          std::to_string(job.master_port)});
  }
  text.Field("restarts", {std::to_string(job.restarts_used) + " of " +
                          std::to_string(job.spec.max_restarts) + " used"});
  if (job.preemption && !job.verdict) {
    text.Field("preempted",
               {rendezvous::SignalName(job.preemption->signal) + " at " +
                PrintableLine(job.preemption->host) + ", " +
                DurationText(job.preemption->left) + " left"});
  }
  if (!job.not_durable.empty()) {
    text.Field("journal",
               {"not durable for " + DurationText(job.not_durable_for) + ": " +
                PrintableLine(job.not_durable)});
  }
  if (job.time.total_s() > 0) {
    text.Field("time", {TimeLine(job.time), ActivitiesLine(job.time)});
  }
  const std::string progress = ProgressLine(job);
  if (!progress.empty()) text.Field("progress", {progress});
  if (!job.slow_ranks.empty()) text.Field("slow ranks", SlowRankLines(job));
  if (job.verdict) {
    text.Field("verdict",
               {"exit code " + std::to_string(job.verdict->exit_code)});
  }
  std::string result = text.Take();
  if (job.nodes.empty()) return result;
  result += "\n";
  for (const std::string& line : AlignRows(NodeRows(job))) {
    result += line + "\n";
  }
  const std::string ranks = ProgressTable(job, target);
  return ranks.empty() ? result : result + "\n" + ranks;
}

std::string JobListTable(const std::vector<rendezvous::JobStatus>& jobs,
                         const TextTarget& target) {
  if (jobs.empty()) return "no jobs\n";
  std::vector<std::vector<std::string>> rows = {
      {"JOB", "PHASE", "ROUND", "WORLD", "RESTARTS", "AGE", "REASON"}};
  for (const rendezvous::JobStatus& job : jobs) {
    rows.push_back({Name(job.run_id), StateText(job), std::to_string(job.round),
                    std::to_string(job.world_size),
                    std::to_string(job.restarts_used) + "/" +
                        std::to_string(job.spec.max_restarts),
                    DurationText(job.age),
                    Shorten(PrintableLine(job.reason), kMaxReasonColumns)});
  }
  std::string text;
  for (const std::string& line : AlignRows(rows)) {
    text += Shorten(line, target.columns) + "\n";
  }
  return text;
}

std::string HostTable(const std::vector<rendezvous::HostStatus>& hosts) {
  if (hosts.empty()) return "no node has faults\n";
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "ADDRESS", "STATE", "SCORE", "FAULTS", "AGE", "JOB", "REASON"}};
  for (const rendezvous::HostStatus& host : hosts) {
    char score[32];
    std::snprintf(score, sizeof(score), "%.1f", host.judgement.score);
    rows.push_back({Name(host.key.host),
                    host.key.ip.empty() ? "-" : Name(host.key.ip),
                    rendezvous::HostStateText(host.judgement.state), score,
                    std::to_string(host.faults), DurationText(host.age),
                    host.run_id.empty() ? "-" : Name(host.run_id),
                    PrintableLine(host.judgement.reason)});
  }
  std::string text;
  for (const std::string& line : AlignRows(rows)) text += line + "\n";
  return text;
}

}  // namespace muster::launcher
