#include "trainer_sdk/flight_recorder/flight_positions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/rank_ranges.h"
#include "trainer_sdk/flight_recorder/flight_deaths.h"
#include "trainer_sdk/flight_recorder/flight_words.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

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

}  // namespace muster
