#include "trainer_sdk/flight_recorder/flight_analysis.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rank_ranges.h"
#include "trainer_sdk/flight_recorder/flight_deaths.h"
#include "trainer_sdk/flight_recorder/flight_groups.h"
#include "trainer_sdk/flight_recorder/flight_words.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

using GroupKey = FlightGroupKey;

struct Call {
  const FlightLog* log;
  const FlightRecord* record;
};

// A group's collectives by number, with who called them.
using Calls = std::map<uint64_t, std::vector<Call>>;

// Whether the call failed, and its group has been made again since.
bool IsOver(const Call& call) {
  return call.record->ended != 0 &&
         call.record->status != absl::StatusCode::kOk &&
         !IsStuck(*call.log, *call.record);
}

class Analysis {
 public:
  Analysis(const std::vector<FlightLog>& logs,
           const std::vector<FlightEnd>& ends) {
    for (const FlightLog& log : logs) {
      result_.world_size = std::max(result_.world_size, log.world_size);
      logs_[log.rank] = &log;
      now_ = std::max(now_, log.written);
      if (!log.reason.empty()) somebody_failed_ = true;
    }
    for (const FlightEnd& end : ends) {
      ends_[end.rank] = &end;
      somebody_failed_ = true;
    }
    for (const auto& [rank, log] : logs_) Collect(*log);
    result_.groups = static_cast<int>(groups_.size());
  }

  FlightAnalysis Take() {
    FindDead();
    for (const auto& [key, calls] : groups_) FindMismatch(calls);
    for (const auto& [key, calls] : groups_) FindBehind(key, calls);
    for (const auto& [rank, log] : logs_) FindDeserted(*log);
    FindMissing();
    FindSilent();
    if (result_.findings.empty() && somebody_failed_) {
      for (const auto& [key, calls] : groups_) FindShort(key, calls);
    }
    if (result_.findings.empty()) FindWhatIsLeft();
    TellReasons();
    TellPositions();
    return std::move(result_);
  }

 private:
  void Find(const std::string& sentence) {
    result_.findings.push_back(sentence);
  }

  // What their agents saw is surer than what the others' logs say of them.
  void FindDead() {
    FlightDeaths deaths = FindDeaths(logs_, ends_, now_);
    for (const std::string& sentence : deaths.sentences) Find(sentence);
    blamed_ = std::move(deaths.excused);
    blamed_.insert(deaths.dead.begin(), deaths.dead.end());
    if (!deaths.stopped.empty()) result_.stopped = RankRanges(deaths.stopped);
  }

  void Collect(const FlightLog& log) {
    std::vector<GroupKey>& keys = keys_[log.rank];
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

  static std::vector<int> RanksOf(const std::vector<Call>& calls) {
    std::vector<int> ranks;
    for (const Call& call : calls) ranks.push_back(call.log->rank);
    return ranks;
  }

  // The first number under which ranks called different things.
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

  // Of the first number that somebody waits in vain in: who has not come to it.
  void FindBehind(const GroupKey& key, const Calls& calls) {
    std::map<int, uint64_t> last = LastCalls(calls);
    for (const auto& [sequence, called] : calls) {
      std::vector<Call> waiting;
      for (const Call& call : called) {
        if (IsStuck(*call.log, *call.record)) waiting.push_back(call);
      }
      if (waiting.empty()) continue;
      bool found = false;
      for (const auto& [place, member] : members_.at(key)) {
        const auto log = logs_.find(member);
        if (log == logs_.end() || blamed_.count(member) > 0 ||
            last[member] >= sequence) {
          continue;
        }
        const FlightRecord* const stuck = StuckRecord(*log->second);
        // Who is held up in another group is not to blame; who is still in
        // what the others have done is.
        if (stuck != nullptr && !IsOf(key, *log->second, *stuck)) continue;
        blamed_.insert(member);
        found = true;
        Find(absl::StrCat(
            RankName(*log->second), " is behind: it did not call ",
            Describe(waiting.front().record->signature), " in group ",
            LabelOf(waiting), ", where ", RankRanges(RanksOf(waiting)),
            waiting.size() == 1 ? " waits; " : " wait; ",
            stuck == nullptr ? LastDone(*log->second, now_)
                             : absl::StrCat("it never came out of ",
                                            Describe(stuck->signature))));
      }
      if (found) return;
    }
  }

  bool IsOf(const GroupKey& key, const FlightLog& log,
            const FlightRecord& record) const {
    return !IsPointToPoint(record.signature.kind) &&
           keys_.at(log.rank)[record.group] == key;
  }

  static std::string LabelOf(const std::vector<Call>& calls) {
    return GroupName(*calls.front().log, *calls.front().record);
  }

  // A transport that only launches (NCCL's) has nobody waiting in its records:
  // who has called less than the others is behind.
  void FindShort(const GroupKey& key, const Calls& calls) {
    // What its ranks left when it was made again says nothing.
    if (replaced_.count(key) > 0) return;
    std::map<int, uint64_t> last = LastCalls(calls);
    const uint64_t front = calls.empty() ? 0 : calls.rbegin()->first;
    std::vector<int> shorter;
    for (const auto& [place, member] : members_.at(key)) {
      if (logs_.count(member) > 0 && last[member] < front) {
        shorter.push_back(member);
      }
    }
    if (shorter.empty()) return;
    const std::vector<Call>& leading = calls.rbegin()->second;
    for (const int member : shorter) {
      Find(absl::StrCat(
          RankName(*logs_[member]), " is behind: it did not call ",
          Describe(leading.front().record->signature), " in group ",
          LabelOf(leading), ", which ", RankRanges(RanksOf(leading)), " did; ",
          LastDone(*logs_[member], now_)));
    }
  }

  // The last number that each rank called.
  static std::map<int, uint64_t> LastCalls(const Calls& calls) {
    std::map<int, uint64_t> last;
    for (const auto& [sequence, called] : calls) {
      for (const Call& call : called) last[call.log->rank] = sequence;
    }
    return last;
  }

  // Whoever messages were to go to or come from, and is in nothing.
  void FindDeserted(const FlightLog& log) {
    const FlightRecord* const stuck = StuckRecord(log);
    if (stuck == nullptr || !IsPointToPoint(stuck->signature.kind)) return;
    if (stuck->status == absl::StatusCode::kFailedPrecondition) {
      Find(absl::StrCat(RankName(log), " and its peers disagree about ",
                        Describe(stuck->signature), " in group ",
                        GroupName(log, *stuck), ": see what it said"));
      return;
    }
    const GroupKey& key = keys_.at(log.rank)[stuck->group];
    const uint64_t sequence = stuck->signature.sequence;
    std::vector<const FlightLog*> idle, short_of_messages;
    for (const int peer : PeersOf(log, *stuck)) {
      const auto other = logs_.find(peer);
      if (other == logs_.end() || other->second == &log ||
          StuckRecord(*other->second) != nullptr) {
        continue;
      }
      idle.push_back(other->second);
      if (Messages(*other->second, log, key, sequence) <
          Messages(log, *other->second, key, sequence)) {
        short_of_messages.push_back(other->second);
      }
    }
    // Of several some may have done their part, and gone on.
    if (!short_of_messages.empty()) idle = std::move(short_of_messages);
    for (const FlightLog* const other : idle) {
      if (!blamed_.insert(other->rank).second) continue;
      Find(absl::StrCat(RankName(*other), " did not answer ",
                        Describe(stuck->signature), " of rank ", log.rank,
                        " in group ", GroupName(log, *stuck), "; ",
                        LastDone(*other, now_)));
    }
  }

  // The world ranks that `record`'s messages are with, as far as is known; of a
  // batch with many, everybody.
  std::vector<int> PeersOf(const FlightLog& log,
                           const FlightRecord& record) const {
    const std::map<int, int>& members =
        members_.at(keys_.at(log.rank)[record.group]);
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

  // How many messages or batches `log` has with `other` in a group, after its
  // collective of that number.
  int Messages(const FlightLog& log, const FlightLog& other,
               const GroupKey& key, uint64_t sequence) const {
    int messages = 0;
    for (const FlightRecord& candidate : log.records) {
      if (!IsPointToPoint(candidate.signature.kind) ||
          candidate.signature.sequence != sequence ||
          keys_.at(log.rank)[candidate.group] != key) {
        continue;
      }
      const std::vector<int> peers = PeersOf(log, candidate);
      messages += std::count(peers.begin(), peers.end(), other.rank) > 0;
    }
    return messages;
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
                      ": died before its first group, or its file is "
                      "elsewhere"));
  }

  // Ended without a word, where others say that they failed.
  void FindSilent() {
    if (!somebody_failed_) return;
    for (const auto& [rank, log] : logs_) {
      if (!log->reason.empty() || log->closed || blamed_.count(rank) > 0 ||
          ends_.count(rank) > 0) {
        continue;
      }
      const FlightRecord* const stuck = StuckRecord(*log);
      Find(absl::StrCat(
          RankName(*log), " ended without a word while others failed: killed, ",
          "or still running; ",
          stuck == nullptr
              ? LastDone(*log, now_)
              : absl::StrCat("it was in ", Describe(stuck->signature),
                             " in group ", GroupName(*log, *stuck))));
    }
  }

  // Nobody is to blame, but somebody waits.
  void FindWhatIsLeft() {
    std::vector<Standstill> places;
    for (const auto& [rank, log] : logs_) {
      const FlightRecord* const stuck = StuckRecord(*log);
      if (stuck == nullptr) continue;
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
        Find("ranks failed, though all called the same: see what they said");
      }
      return;
    }
    if (places.size() == 1) {
      const Standstill& all = places.front();
      Find(absl::StrCat(RankRanges(all.ranks),
                        all.ranks.size() == 1 ? " was" : " were", " in ",
                        PlaceOf(all),
                        ", and nobody is behind: what carries the data is slow "
                        "or broken",
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

  // An operation that some ranks do not come out of.
  struct Standstill {
    Call call;  // the first's
    std::string what;
    std::vector<int> ranks;
  };

  // Whether ranks may rightly ask for different counts.
  static bool MayDiffer(const OperationSignature& signature) {
    return signature.kind == OperationKind::kBatch ||
           (signature.kind == OperationKind::kAllToAll &&
            signature.counts_hash != 0);
  }

  bool IsOne(const Standstill& a, const Standstill& b) const {
    const auto key = [this](const Call& call) {
      return keys_.at(call.log->rank)[call.record->group];
    };
    if (key(a.call) != key(b.call)) return false;
    const OperationSignature& signature = b.call.record->signature;
    // Two that send to each other are in different operations.
    return MayDiffer(signature) || !IsPointToPoint(signature.kind)
               ? SameCollective(a.call.record->signature, signature)
               : a.what == b.what;
  }

  // "all_to_all #3", of which each asks for other counts.
  static std::string BriefOf(const OperationSignature& signature) {
    return absl::StrCat(Name(signature.kind),
                        IsPointToPoint(signature.kind) ? " after #" : " #",
                        signature.sequence);
  }

  static std::string PlaceOf(const Standstill& place) {
    return absl::StrCat(place.what, " in group ",
                        GroupName(*place.call.log, *place.call.record));
  }

  void TellReasons() {
    std::map<std::string, std::vector<int>> ranks_by_reason;
    for (const auto& [rank, log] : logs_) {
      if (!log->reason.empty()) {
        ranks_by_reason[log->reason].push_back(rank);
      } else if (!log->request.empty()) {
        ranks_by_reason[absl::StrCat("a dump was asked for: ", log->request)]
            .push_back(rank);
      }
    }
    std::vector<std::pair<std::vector<int>, std::string>> reasons;
    for (auto& [reason, ranks] : ranks_by_reason) {
      reasons.emplace_back(std::move(ranks), reason);
    }
    std::sort(reasons.begin(), reasons.end());
    for (const auto& [ranks, reason] : reasons) {
      result_.reasons.emplace_back(RankRanges(ranks), reason);
    }
  }

  FlightPosition PositionOf(const FlightLog& log) const {
    FlightPosition position;
    const FlightRecord* record = StuckRecord(log);
    if (record == nullptr && !log.records.empty()) {
      record = &log.records.back();
    }
    if (record == nullptr) {
      position.state = "called nothing";
      return position;
    }
    position.operation = Describe(record->signature);
    position.group = GroupName(log, *record);
    if (record->in_progress()) {
      position.state =
          absl::StrCat("in it for ", SecondsText(now_ - record->started));
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

  void TellPositions() {
    std::vector<std::pair<FlightPosition, std::vector<int>>> places;
    for (const auto& [rank, log] : logs_) {
      FlightPosition position = PositionOf(*log);
      if (const auto end = ends_.find(rank); end != ends_.end()) {
        position.state += absl::StrCat(", then ", InAWord(end->second->how));
      }
      auto same = std::find_if(places.begin(), places.end(), [&](auto& p) {
        return p.first.operation == position.operation &&
               p.first.group == position.group &&
               p.first.state == position.state;
      });
      if (same == places.end()) {
        same = places.insert(same, {std::move(position), {}});
      }
      same->second.push_back(rank);
    }
    for (auto& [position, ranks] : places) {
      position.ranks = RankRanges(ranks);
      result_.positions.push_back(std::move(position));
    }
  }

  FlightAnalysis result_;
  std::map<int, const FlightLog*> logs_;
  std::map<int, const FlightEnd*> ends_;
  std::map<int, std::vector<GroupKey>> keys_;  // of each log's groups, by rank
  std::map<GroupKey, Calls> groups_;
  std::set<GroupKey> replaced_;
  // World ranks by rank in the group: all, or of the logs that there are.
  std::map<GroupKey, std::map<int, int>> members_;
  std::set<int> blamed_;
  double now_ = 0;  // the latest thing recorded anywhere
  bool somebody_failed_ = false;
};

}  // namespace

FlightAnalysis AnalyseFlight(const std::vector<FlightLog>& logs,
                             const std::vector<FlightEnd>& ends) {
  return Analysis(logs, ends).Take();
}

}  // namespace muster
