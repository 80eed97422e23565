#include "trainer_sdk/flight_recorder/flight_analysis.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/message_text.h"
#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

struct FlightCall {
  const FlightLog* log;
  const FlightRecord* record;
};

// Matches the logs of a job's ranks: finds the records that belong to one
// operation, or to one group. Pure. The logs must outlive this object.
class FlightCalls {
 public:
  // The collectives of one group. Key: a collective's sequence number; value:
  // the calls of this collective, at most one per rank.
  using OfGroup = std::map<uint64_t, std::vector<FlightCall>>;

  // `logs`: at most one log per rank.
  explicit FlightCalls(const std::vector<FlightLog>& logs);

  const std::map<int, const FlightLog*>& logs() const { return logs_; }
  const std::map<FlightGroupKey, OfGroup>& groups() const { return groups_; }
  // The members of `group`. Key: rank in the group; value: rank in the world.
  // If the logs do not list the members, contains only the ranks that have a
  // log.
  const std::map<int, int>& MembersOf(const FlightGroupKey& group) const {
    return members_.at(group);
  }
  // Whether `group`, or a group from which it was split, was created again
  // later, on any rank.
  bool WasReplaced(const FlightGroupKey& group) const {
    return replaced_.count(group) > 0;
  }
  const FlightGroupKey& GroupOf(const FlightLog& log,
                                const FlightRecord& record) const {
    return keys_.at(log.rank)[record.group];
  }

  // Returns all ranks' calls of the collective to which `record`, a record of
  // `log`, belongs.
  const std::vector<FlightCall>& With(const FlightLog& log,
                                      const FlightRecord& record) const;

  // Returns the ranks that have finished `stuck`, a collective in which the
  // rank of `log` is stuck. Leaves out ranks that finished it less than
  // FlightMoment::timeout ago. A rank can finish only after all ranks have
  // called the collective. So if the result is not empty, the rank of `log`
  // itself causes the delay. Returns no ranks if `stuck` is a collective that a
  // rank can finish before the others call it, such as a broadcast.
  std::vector<int> RanksThatFinished(const FlightLog& log,
                                     const FlightRecord& stuck,
                                     const FlightMoment& moment) const;

  // The world ranks of the peers with which the operation of `record` exchanges
  // messages, as far as they are known. For a batch with too many peers to
  // record, all ranks of the group.
  std::vector<int> PeersOf(const FlightLog& log,
                           const FlightRecord& record) const;

  // Returns the number of sends, receives and batches in `log` whose peers
  // include the rank of `other`. A batch counts once. Counts only operations of
  // the group `key` that were called after collective number `sequence` and
  // before the next collective.
  int Messages(const FlightLog& log, const FlightLog& other,
               const FlightGroupKey& key, uint64_t sequence) const;

 private:
  void Collect(const FlightLog& log);

  std::map<int, const FlightLog*> logs_;
  // Key: rank; value: the keys of the groups in the rank's log.
  std::map<int, std::vector<FlightGroupKey>> keys_;
  std::map<FlightGroupKey, OfGroup> groups_;
  std::set<FlightGroupKey> replaced_;
  std::map<FlightGroupKey, std::map<int, int>> members_;
};

// Whether a rank can finish the operation only after every rank has called it,
// because every rank needs every rank's data.
bool NeedsAll(const OperationSignature& signature) {
  if (signature.counts_hash != 0) return false;
  switch (signature.kind) {
    case OperationKind::kAllReduce:
    case OperationKind::kReduceScatter:
    case OperationKind::kAllGather:
    case OperationKind::kAllToAll:
    case OperationKind::kBarrier:
    case OperationKind::kSplit:
      return true;
    default:
      return false;
  }
}

FlightCalls::FlightCalls(const std::vector<FlightLog>& logs) {
  for (const FlightLog& log : logs) logs_[log.rank] = &log;
  for (const auto& [rank, log] : logs_) Collect(*log);
}

void FlightCalls::Collect(const FlightLog& log) {
  std::vector<FlightGroupKey>& keys = keys_[log.rank];
  keys = KeysOf(log);
  for (size_t i = 0; i < keys.size(); i++) {
    const FlightGroup& group = log.groups[i];
    groups_[keys[i]];
    std::map<int, int>& members = members_[keys[i]];
    if (group.members.empty()) members[group.rank] = log.rank;
    for (size_t j = members.size(); j < group.members.size(); j++) {
      members[static_cast<int>(j)] = group.members[j];
    }
    if (WasMadeAgain(log, static_cast<int>(i), group.made)) {
      replaced_.insert(keys[i]);
    }
  }
  for (const FlightRecord& record : log.records) {
    if (IsPointToPoint(record.signature.kind)) continue;
    groups_[keys[record.group]][record.signature.sequence].push_back(
        {&log, &record});
  }
}

const std::vector<FlightCall>& FlightCalls::With(
    const FlightLog& log, const FlightRecord& record) const {
  return groups_.at(GroupOf(log, record)).at(record.signature.sequence);
}

std::vector<int> FlightCalls::RanksThatFinished(
    const FlightLog& log, const FlightRecord& stuck,
    const FlightMoment& moment) const {
  // Do not blame the rank of `log` if the collective failed with another error
  // than a timeout (DeadlineExceeded). The cause may be a rank that finished
  // the collective and then died.
  if (!NeedsAll(stuck.signature) ||
      (stuck.ended != 0 &&
       stuck.status != absl::StatusCode::kDeadlineExceeded)) {
    return {};
  }
  std::vector<int> ranks;
  for (const FlightCall& call : With(log, stuck)) {
    const FlightRecord& own = *call.record;
    if (own.ended != 0 && own.status == absl::StatusCode::kOk &&
        !IsFresh(own.ended, moment) &&
        SameCollective(own.signature, stuck.signature)) {
      ranks.push_back(call.log->rank);
    }
  }
  return ranks;
}

std::vector<int> FlightCalls::PeersOf(const FlightLog& log,
                                      const FlightRecord& record) const {
  const std::map<int, int>& members = members_.at(GroupOf(log, record));
  std::vector<int> places = record.peers;
  if (record.signature.kind != OperationKind::kBatch) {
    places = {record.signature.root};
  } else if (places.empty()) {
    for (const auto& [place, member] : members) places.push_back(place);
  }
  std::vector<int> ranks;
  for (const int place : places) {
    const auto member = members.find(place);
    if (member != members.end()) ranks.push_back(member->second);
  }
  return ranks;
}

int FlightCalls::Messages(const FlightLog& log, const FlightLog& other,
                          const FlightGroupKey& key, uint64_t sequence) const {
  int messages = 0;
  for (const FlightRecord& candidate : log.records) {
    if (!IsPointToPoint(candidate.signature.kind) ||
        candidate.signature.sequence != sequence ||
        GroupOf(log, candidate) != key) {
      continue;
    }
    const std::vector<int> peers = PeersOf(log, candidate);
    messages += std::count(peers.begin(), peers.end(), other.rank) > 0;
  }
  return messages;
}

// One word for how a process ended: "died", "exited", "hung", "not started",
// "stopped".
const char* InAWord(HowEnded how) {
  switch (how) {
    case HowEnded::kKilled:
      return "died";
    case HowEnded::kExited:
      return "exited";
    case HowEnded::kHung:
      return "hung";
    case HowEnded::kNotStarted:
      return "not started";
    case HowEnded::kStopped:
      return "stopped";
  }
  return "";
}

// How the ranks' processes ended, as the agents report it. Processes that may
// have caused the failure are kept apart from processes that ended because of
// it.
struct FlightDeaths {
  // One sentence for each rank whose process ended by itself, the earliest
  // first: "rank 1 (node1, pid 77) died in barrier #3 in group world: killed by
  // SIGKILL (9)". At most eight ranks get a sentence; one more sentence counts
  // the remaining ranks.
  std::vector<std::string> sentences;
  std::set<int> dead;
  // Ranks that were silent for too long and were killed by their agents, each
  // with a sentence for messages. The rank that was killed first comes first.
  // Such a rank need not be the cause: a rank that waits for a late rank is
  // silent as well.
  std::vector<std::pair<int, std::string>> hung;
  // Ranks that their agents stopped because another rank's process had ended.
  std::vector<int> stopped;
  // The ranks of `stopped` that must not be blamed for being late: all of them
  // if a rank died; none if ranks only hung, because a hung rank may have
  // waited for a rank of `stopped`.
  std::set<int> excused;
};

constexpr size_t kMaxSentences = 8;

const char* VerbOf(HowEnded how) {
  return how == HowEnded::kNotStarted ? "could not be started" : InAWord(how);
}

// Describes the position of a rank: " in barrier #2 in group world" if this
// operation is stuck or failed; otherwise " in no operation", followed by the
// rank's last operation.
std::string WhereWas(const FlightLog& log, const FlightMoment& moment) {
  const FlightRecord* const stuck = StuckRecord(log, moment);
  if (stuck != nullptr) {
    return absl::StrCat(" in ", Describe(stuck->signature), " in group ",
                        GroupName(log, *stuck));
  }
  return absl::StrCat(" in no operation (", LastDone(log, moment), ")");
}

std::string SentenceOf(const FlightEnd& end, const FlightLog* log,
                       const FlightMoment& moment) {
  // Prefer the pid in the log: the process that recorded the log may be a child
  // of the process that the agent started.
  const int64_t pid = log == nullptr || log->pid == 0 ? end.pid : log->pid;
  return absl::StrCat("rank ", end.rank, " (", end.host, ", pid ", pid, ") ",
                      VerbOf(end.how),
                      end.how == HowEnded::kNotStarted ? ""
                      : log == nullptr ? " without a flight record"
                                       : WhereWas(*log, moment),
                      ": ", end.message);
}

// Whether a process that ended by itself may be the cause of the failure. It is
// not the cause if it recorded a failed operation before its exit. `log`: the
// rank's log; null if there is none.
bool IsCause(const FlightLog* log) {
  return log == nullptr || log->reason.empty();
}

// Divides the ranks whose processes have ended into three kinds: died by
// themselves, killed by their agents because they were silent, and stopped by
// their agents because another rank had ended. Leaves out ranks that recorded a
// failed operation before their process ended, because that failure ended the
// process. Pure.
FlightDeaths FindDeaths(const std::map<int, const FlightLog*>& logs,
                        const std::map<int, const FlightEnd*>& ends,
                        const FlightMoment& moment) {
  FlightDeaths deaths;
  std::vector<const FlightEnd*> causes, hung;
  const auto log_of = [&](int rank) {
    const auto log = logs.find(rank);
    return log == logs.end() ? nullptr : log->second;
  };
  for (const auto& [rank, end] : ends) {
    if (end->how == HowEnded::kStopped) {
      deaths.stopped.push_back(rank);
    } else if (end->how == HowEnded::kHung) {
      hung.push_back(end);
    } else if (IsCause(log_of(rank))) {
      causes.push_back(end);
      deaths.dead.insert(rank);
    }
  }
  for (std::vector<const FlightEnd*>* some : {&causes, &hung}) {
    std::stable_sort(some->begin(), some->end(),
                     [](const FlightEnd* a, const FlightEnd* b) {
                       return a->time < b->time;
                     });
  }
  for (const FlightEnd* end : causes) {
    if (deaths.sentences.size() == kMaxSentences) {
      deaths.sentences.push_back(absl::StrCat("and ",
                                              causes.size() - kMaxSentences,
                                              " others ended by themselves"));
      break;
    }
    deaths.sentences.push_back(SentenceOf(*end, log_of(end->rank), moment));
  }
  for (const FlightEnd* end : hung) {
    deaths.hung.emplace_back(end->rank,
                             SentenceOf(*end, log_of(end->rank), moment));
  }
  if (!deaths.dead.empty()) {
    deaths.excused.insert(deaths.stopped.begin(), deaths.stopped.end());
  }
  return deaths;
}

FlightPosition PositionOf(const FlightLog& log, const FlightMoment& moment) {
  FlightPosition position;
  const FlightRecord* record = StuckRecord(log, moment);
  if (record == nullptr && !log.records.empty()) record = &log.records.back();
  if (record == nullptr) {
    position.state = "called nothing";
    return position;
  }
  position.operation = Describe(record->signature);
  position.group = GroupName(log, *record);
  if (record->in_progress()) {
    position.state =
        absl::StrCat("in it for ", SecondsText(moment.now - record->started));
  } else if (record->ended == 0) {
    position.state = "queued";
  } else if (record->status == absl::StatusCode::kOk) {
    position.state = "done";
  } else {
    position.state =
        absl::StrCat("failed: ", absl::StatusCodeToString(record->status));
  }
  return position;
}

}  // namespace

std::vector<FlightPosition> PositionsOf(
    const std::map<int, const FlightLog*>& logs,
    const std::map<int, const FlightEnd*>& ends, const FlightMoment& moment) {
  std::vector<std::pair<FlightPosition, std::vector<int>>> places;
  for (const auto& [rank, log] : logs) {
    FlightPosition position = PositionOf(*log, moment);
    if (const auto end = ends.find(rank); end != ends.end()) {
      position.state += absl::StrCat(", then ", InAWord(end->second->how));
    }
    auto same = std::find_if(places.begin(), places.end(), [&](auto& p) {
      return p.first.operation == position.operation &&
             p.first.group == position.group && p.first.state == position.state;
    });
    if (same == places.end()) {
      same = places.emplace(same, std::move(position), std::vector<int>());
    }
    same->second.push_back(rank);
  }
  std::vector<FlightPosition> positions;
  for (auto& [position, ranks] : places) {
    position.ranks = RankRanges(ranks);
    positions.push_back(std::move(position));
  }
  return positions;
}

std::vector<std::pair<std::string, std::string>> ReasonsOf(
    const std::map<int, const FlightLog*>& logs) {
  std::map<std::string, std::vector<int>> ranks_by_reason;
  for (const auto& [rank, log] : logs) {
    if (!log->reason.empty()) {
      ranks_by_reason[log->reason].push_back(rank);
    } else if (!log->request.empty()) {
      ranks_by_reason[absl::StrCat("a dump was asked for: ", log->request)]
          .push_back(rank);
    }
  }
  std::vector<std::pair<std::vector<int>, std::string>> reasons;
  reasons.reserve(ranks_by_reason.size());
  for (auto& [reason, ranks] : ranks_by_reason) {
    reasons.emplace_back(std::move(ranks), reason);
  }
  std::sort(reasons.begin(), reasons.end());
  std::vector<std::pair<std::string, std::string>> told;
  told.reserve(reasons.size());
  for (const auto& [ranks, reason] : reasons) {
    told.emplace_back(RankRanges(ranks), reason);
  }
  return told;
}

namespace {

using GroupKey = FlightGroupKey;

constexpr int kMaxHung = 8;
// The smallest value of FlightAnalysis::longest_wait, in seconds, if a rank
// waits. It is not 0, because 0 means that no rank waits.
constexpr double kTold = 0.001;

using Call = FlightCall;
using Calls = FlightCalls::OfGroup;

class Analysis {
 public:
  Analysis(const std::vector<FlightLog>& logs,
           const std::vector<FlightEnd>& ends, std::optional<double> clock)
      : calls_(logs), moment_(MomentOf(logs, ends, clock)) {
    for (const FlightLog& log : logs) {
      result_.world_size = std::max(result_.world_size, log.world_size);
      if (!log.reason.empty()) somebody_failed_ = true;
    }
    for (const FlightEnd& end : ends) {
      ends_[end.rank] = &end;
      somebody_failed_ = true;
    }
    result_.groups = static_cast<int>(groups_.size());
  }

  FlightAnalysis Take() {
    FindDead();
    for (const auto& [key, calls] : groups_) FindMismatch(calls);
    for (const auto& [key, calls] : groups_) FindBehind(key, calls);
    for (const auto& [rank, log] : logs_) FindIdlePeers(*log);
    if (result_.findings.empty()) FindLeftAlone();
    if (!hung_.empty()) {
      if (result_.findings.empty()) FindAllRanksWithFewerCalls();
      ReportSilentRanks();
    }
    FindMissing();
    FindSilent();
    if (result_.findings.empty() && somebody_failed_) {
      FindAllRanksWithFewerCalls();
    }
    if (result_.findings.empty()) FindWhatIsLeft();
    if (result_.findings.empty()) TellLongestWait();
    result_.reasons = ReasonsOf(logs_);
    result_.positions = PositionsOf(logs_, ends_, moment_);
    return std::move(result_);
  }

 private:
  void Find(const std::string& sentence) {
    result_.findings.push_back(sentence);
  }

  // Reports the ranks that died, as seen by their agents. This is the first
  // step, because the agents' reports are more reliable than conclusions from
  // logs.
  void FindDead() {
    FlightDeaths deaths = FindDeaths(logs_, ends_, moment_);
    for (const std::string& sentence : deaths.sentences) Find(sentence);
    blamed_ = std::move(deaths.excused);
    blamed_.insert(deaths.dead.begin(), deaths.dead.end());
    hung_ = std::move(deaths.hung);
    if (!deaths.stopped.empty()) result_.stopped = RankRanges(deaths.stopped);
  }

  // Reports the ranks that were killed by their agents because they were
  // silent: only the ranks that the logs blame as well or, if the logs blame no
  // rank, all of them.
  void ReportSilentRanks() {
    const bool nobody = result_.findings.empty();
    int told = 0, further = 0;
    for (const auto& [rank, sentence] : hung_) {
      if (!nobody && blamed_.count(rank) == 0) continue;
      if (told++ < kMaxHung) {
        Find(sentence);
      } else {
        further++;
      }
    }
    if (further > 0) Find(absl::StrCat("and ", further, " others hung"));
  }

  // Whether the call failed, but its group has been created again since, so
  // that the failure no longer matters.
  bool IsOver(const Call& call) const {
    return call.record->ended != 0 &&
           call.record->status != absl::StatusCode::kOk && !IsStuckIn(call);
  }

  bool IsStuckIn(const Call& call) const {
    return IsStuck(*call.log, *call.record, moment_);
  }

  static std::vector<int> RanksOf(const std::vector<Call>& calls) {
    std::vector<int> ranks;
    ranks.reserve(calls.size());
    for (const Call& call : calls) ranks.push_back(call.log->rank);
    return ranks;
  }

  // Finds the first collective of a group, by sequence number, at which ranks
  // called different operations.
  void FindMismatch(const Calls& calls) {
    for (const auto& [sequence, called] : calls) {
      std::vector<std::pair<OperationSignature, std::vector<int>>> camps;
      for (const Call& call : called) {
        if (IsOver(call)) continue;
        const OperationSignature& signature = call.record->signature;
        auto camp = std::find_if(
            camps.begin(), camps.end(),
            [&](const auto& c) { return SameCollective(c.first, signature); });
        if (camp == camps.end()) camp = camps.insert(camp, {signature, {}});
        camp->second.push_back(call.log->rank);
      }
      if (camps.size() < 2) continue;
      std::stable_sort(camps.begin(), camps.end(),
                       [](const auto& a, const auto& b) {
                         return a.second.size() > b.second.size();
                       });
      std::string text = absl::StrCat("in group ", LabelOf(called), " ");
      for (size_t i = 0; i < camps.size(); i++) {
        absl::StrAppend(&text, i == 0 ? "" : ", but ",
                        RankRanges(camps[i].second), " called ",
                        Describe(camps[i].first));
        if (i == 0) continue;
        for (const int rank : camps[i].second) blamed_.insert(rank);
      }
      Find(text);
      return;
    }
  }

  // Finds the first of a group's collectives in which ranks are stuck because
  // other ranks never called it, and reports these other ranks.
  void FindBehind(const GroupKey& key, const Calls& calls) {
    std::map<int, uint64_t> last = LastCalls(calls);
    for (const auto& [sequence, called] : calls) {
      std::vector<Call> waiting;
      for (const Call& call : called) {
        if (IsStuckIn(call)) waiting.push_back(call);
      }
      if (waiting.empty()) continue;
      bool found = false;
      for (const auto& [place, member] : calls_.MembersOf(key)) {
        const auto log = logs_.find(member);
        if (log == logs_.end() || blamed_.count(member) > 0 ||
            last[member] >= sequence) {
          continue;
        }
        const FlightRecord* const stuck = StuckRecord(*log->second, moment_);
        // `member` did not call the collective. Do not blame `member` if it is
        // stuck in an operation of another group, where it waits for other
        // ranks. But blame `member` if other ranks have finished this other
        // operation.
        if (stuck != nullptr && !IsOf(key, *log->second, *stuck) &&
            calls_.RanksThatFinished(*log->second, *stuck, moment_).empty()) {
          continue;
        }
        blamed_.insert(member);
        found = true;
        Find(absl::StrCat(
            RankName(*log->second), " is behind: it did not call ",
            Describe(waiting.front().record->signature), " in group ",
            LabelOf(waiting), ", where ", RankRanges(RanksOf(waiting)),
            waiting.size() == 1 ? " waits; " : " wait; ",
            stuck == nullptr ? LastDone(*log->second, moment_)
                             : NeverCameOut(*log->second, *stuck)));
      }
      if (found) return;
    }
  }

  static std::string NeverCameOut(const FlightLog& log,
                                  const FlightRecord& stuck) {
    return absl::StrCat("it never came out of ", Describe(stuck.signature),
                        " in group ", GroupName(log, stuck));
  }

  // Finds ranks that are still in an operation that other ranks have finished.
  // Skips ranks that have been blamed already.
  void FindLeftAlone() {
    for (const auto& [rank, log] : logs_) {
      const FlightRecord* const stuck = StuckRecord(*log, moment_);
      if (stuck == nullptr || blamed_.count(rank) > 0) continue;
      const std::vector<int> done =
          calls_.RanksThatFinished(*log, *stuck, moment_);
      if (done.empty()) continue;
      blamed_.insert(rank);
      Find(absl::StrCat(RankName(*log),
                        " is behind: ", NeverCameOut(*log, *stuck), ", which ",
                        RankRanges(done), done.size() == 1 ? " has" : " have",
                        " done"));
    }
  }

  bool IsOf(const GroupKey& key, const FlightLog& log,
            const FlightRecord& record) const {
    return !IsPointToPoint(record.signature.kind) &&
           calls_.GroupOf(log, record) == key;
  }

  static std::string LabelOf(const std::vector<Call>& calls) {
    return GroupName(*calls.front().log, *calls.front().record);
  }

  void FindAllRanksWithFewerCalls() {
    for (const auto& [key, calls] : groups_)
      FindRanksWithFewerCalls(key, calls);
  }

  // Finds ranks that have called fewer operations of a group than other ranks.
  // This is needed for transports that only launch operations, such as NCCL's:
  // the records of these transports never show that a rank waits.
  void FindRanksWithFewerCalls(const GroupKey& key, const Calls& calls) {
    // If the group broke and was created again, ranks may have left the old
    // group after different numbers of calls. Then a missing call does not mean
    // that a rank was late.
    if (calls_.WasReplaced(key)) return;
    std::map<int, uint64_t> last = LastCalls(calls);
    const uint64_t front = calls.empty() ? 0 : calls.rbegin()->first;
    std::vector<int> shorter;
    for (const auto& [place, member] : calls_.MembersOf(key)) {
      if (logs_.count(member) > 0 && last[member] < front) {
        shorter.push_back(member);
      }
    }
    if (shorter.empty()) return;
    const std::vector<Call>& leading = calls.rbegin()->second;
    for (const int member : shorter) {
      blamed_.insert(member);
      Find(absl::StrCat(
          RankName(*logs_.at(member)), " is behind: it did not call ",
          Describe(leading.front().record->signature), " in group ",
          LabelOf(leading), ", which ", RankRanges(RanksOf(leading)), " did; ",
          LastDone(*logs_.at(member), moment_)));
    }
  }

  // Returns the number of each rank's last call. Key: rank; value: sequence
  // number.
  static std::map<int, uint64_t> LastCalls(const Calls& calls) {
    std::map<int, uint64_t> last;
    for (const auto& [sequence, called] : calls) {
      for (const Call& call : called) last[call.log->rank] = sequence;
    }
    return last;
  }

  // Does nothing unless the rank of `log` is stuck in a send, receive or batch.
  // Blames peers in this operation that are not waiting for other ranks. But if
  // the operation failed with FailedPrecondition, blames no peer, and reports
  // that the rank and its peers disagree.
  void FindIdlePeers(const FlightLog& log) {
    const FlightRecord* const stuck = StuckRecord(log, moment_);
    if (stuck == nullptr || !IsPointToPoint(stuck->signature.kind)) return;
    if (stuck->status == absl::StatusCode::kFailedPrecondition) {
      Find(absl::StrCat(RankName(log), " and its peers disagree about ",
                        Describe(stuck->signature), " in group ",
                        GroupName(log, *stuck), ": see what it said"));
      return;
    }
    const GroupKey& key = calls_.GroupOf(log, *stuck);
    const uint64_t sequence = stuck->signature.sequence;
    std::vector<const FlightLog*> idle, short_of_messages;
    for (const int peer : calls_.PeersOf(log, *stuck)) {
      const auto other = logs_.find(peer);
      if (other == logs_.end() || IsHeldUp(*other->second)) continue;
      if (calls_.Messages(*other->second, log, key, sequence) <
          calls_.Messages(log, *other->second, key, sequence)) {
        short_of_messages.push_back(other->second);
      } else if (!IsFresh(other->second->written, moment_)) {
        idle.push_back(other->second);
      }
    }
    // A peer in `short_of_messages` has called fewer sends and receives with
    // the stuck rank than the stuck rank has called with this peer. If there
    // are such peers, blame only them: the other idle peers may have done their
    // part of the exchange and continued.
    if (!short_of_messages.empty()) idle = std::move(short_of_messages);
    for (const FlightLog* const other : idle) {
      if (!blamed_.insert(other->rank).second) continue;
      Find(absl::StrCat(RankName(*other), " did not answer ",
                        Describe(stuck->signature), " of rank ", log.rank,
                        " in group ", GroupName(log, *stuck), "; ",
                        LastDone(*other, moment_)));
    }
  }

  // Whether the rank of `log` waits for other ranks itself, and so is not to
  // blame for a delay.
  bool IsHeldUp(const FlightLog& log) const {
    const FlightRecord* const stuck = StuckRecord(log, moment_);
    return stuck != nullptr &&
           calls_.RanksThatFinished(log, *stuck, moment_).empty();
  }

  void FindMissing() {
    std::vector<int> missing;
    for (int rank = 0; rank < result_.world_size; rank++) {
      if (logs_.count(rank) == 0 && ends_.count(rank) == 0) {
        missing.push_back(rank);
      }
    }
    if (missing.empty()) return;
    Find(absl::StrCat("there is no dump of ", RankRanges(missing), " of ",
                      result_.world_size,
                      ": it left none, or its file is elsewhere"));
  }

  // Finds ranks whose logs show neither a failure nor a normal end, although
  // other ranks report failures.
  void FindSilent() {
    if (!somebody_failed_) return;
    for (const auto& [rank, log] : logs_) {
      if (!log->reason.empty() || log->closed || blamed_.count(rank) > 0 ||
          ends_.count(rank) > 0) {
        continue;
      }
      const FlightRecord* const stuck = StuckRecord(*log, moment_);
      Find(absl::StrCat(
          RankName(*log), " ended without a word while others failed: killed, ",
          "or still running; ",
          stuck == nullptr
              ? LastDone(*log, moment_)
              : absl::StrCat("it was in ", Describe(stuck->signature),
                             " in group ", GroupName(*log, *stuck))));
    }
  }

  // Called if no rank is to blame: reports the operations in which ranks are
  // stuck.
  void FindWhatIsLeft() {
    std::vector<Standstill> places;
    for (const auto& [rank, log] : logs_) {
      const FlightRecord* const stuck = StuckRecord(*log, moment_);
      if (stuck == nullptr || MakesProgress(*log, *stuck)) continue;
      const Standstill own = {{log, stuck}, Describe(stuck->signature), {rank}};
      const auto same =
          std::find_if(places.begin(), places.end(),
                       [&](const Standstill& s) { return IsOne(s, own); });
      if (same == places.end()) {
        places.push_back(own);
      } else {
        same->ranks.push_back(rank);
        if (same->what != own.what) same->what = BriefOf(stuck->signature);
      }
    }
    if (places.empty()) {
      if (somebody_failed_) {
        Find(logs_.empty() ? "ranks failed, but there are no flight records: "
                             "see the job's verdict"
                           : "ranks failed, though all called the same: see "
                             "what they said");
      }
      return;
    }
    if (places.size() == 1) {
      const Standstill& all = places.front();
      Find(absl::StrCat(RankRanges(all.ranks),
                        all.ranks.size() == 1 ? " was" : " were", " in ",
                        PlaceOf(all),
                        ", and nobody is behind: what carries the data is slow "
                        "or broken, or one of them was stopped inside it",
                        MayDiffer(all.call.record->signature)
                            ? ", or what they send is not what their peers "
                              "expect"
                            : ""));
      return;
    }
    std::string text = "ranks wait for each other in different operations:";
    for (const Standstill& place : places) {
      absl::StrAppend(&text, text.back() == ':' ? " " : "; ",
                      RankRanges(place.ranks), " in ", PlaceOf(place));
    }
    Find(text);
  }

  // Whether the rank of `log` waits for a rank that has made progress in the
  // last FlightMoment::timeout seconds. If so, the wait may soon end.
  bool MakesProgress(const FlightLog& log, const FlightRecord& stuck) const {
    if (IsPointToPoint(stuck.signature.kind)) {
      for (const int peer : calls_.PeersOf(log, stuck)) {
        const auto other = logs_.find(peer);
        if (other != logs_.end() && IsFresh(other->second->written, moment_)) {
          return true;
        }
      }
      return false;
    }
    for (const Call& call : calls_.With(log, stuck)) {
      const FlightRecord& own = *call.record;
      if (IsFresh(own.ended != 0 ? own.ended : own.queued, moment_)) {
        return true;
      }
    }
    return false;
  }

  void TellLongestWait() {
    for (const auto& [rank, log] : logs_) {
      for (const FlightRecord& record : log->records) {
        if (!record.in_progress()) continue;
        result_.longest_wait = std::max(
            {result_.longest_wait, moment_.now - record.started, kTold});
      }
    }
  }

  // An operation in which ranks are stuck.
  struct Standstill {
    // the call of this operation by the lowest rank in `ranks`
    Call call;
    std::string what;
    std::vector<int> ranks;
  };

  // Whether the ranks may call the operation with different element counts.
  static bool MayDiffer(const OperationSignature& signature) {
    return signature.kind == OperationKind::kBatch ||
           (signature.kind == OperationKind::kAllToAll &&
            signature.counts_hash != 0);
  }

  bool IsOne(const Standstill& a, const Standstill& b) const {
    const auto key = [this](const Call& call) {
      return calls_.GroupOf(*call.log, *call.record);
    };
    if (key(a.call) != key(b.call)) return false;
    const OperationSignature& signature = b.call.record->signature;
    // Two sends or receives are the same operation only if their descriptions
    // are equal. For example, two ranks that send to each other are in
    // different operations.
    return MayDiffer(signature) || !IsPointToPoint(signature.kind)
               ? SameCollective(a.call.record->signature, signature)
               : a.what == b.what;
  }

  // Describes the operation without its element counts, which differ between
  // the ranks: "all_to_all #3".
  static std::string BriefOf(const OperationSignature& signature) {
    return absl::StrCat(Name(signature.kind),
                        IsPointToPoint(signature.kind) ? " after #" : " #",
                        signature.sequence);
  }

  static std::string PlaceOf(const Standstill& place) {
    return absl::StrCat(place.what, " in group ",
                        GroupName(*place.call.log, *place.call.record));
  }

  FlightAnalysis result_;
  const FlightCalls calls_;
  const std::map<int, const FlightLog*>& logs_ = calls_.logs();
  const std::map<GroupKey, Calls>& groups_ = calls_.groups();
  std::map<int, const FlightEnd*> ends_;
  std::set<int> blamed_;
  // ranks that hung, each with a sentence; see FlightDeaths::hung
  std::vector<std::pair<int, std::string>> hung_;
  const FlightMoment moment_;
  bool somebody_failed_ = false;
};

}  // namespace

FlightAnalysis AnalyseFlight(const std::vector<FlightLog>& logs,
                             const std::vector<FlightEnd>& ends,
                             std::optional<double> clock) {
  return Analysis(logs, ends, clock).Take();
}

}  // namespace muster
