#include "trainer_sdk/flight_recorder/flight_deaths.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

constexpr size_t kMostSentences = 8;

const char* VerbOf(HowEnded how) {
  return how == HowEnded::kNotStarted ? "could not be started" : InAWord(how);
}

// " in barrier #2 in group world", or the last completed operation.
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
  // The recording process may be a child of the one that the agent started.
  const int64_t pid = log == nullptr ? end.pid : log->pid;
  return absl::StrCat("rank ", end.rank, " (", end.host, ", pid ", pid, ") ",
                      VerbOf(end.how),
                      end.how == HowEnded::kNotStarted ? ""
                      : log == nullptr ? " before its first group"
                                       : WhereWas(*log, moment),
                      ": ", end.message);
}

// Whether a process that its agent neither stopped nor found silent is a cause.
bool IsCause(const FlightLog* log) {
  return log == nullptr || log->reason.empty();
}

}  // namespace

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
    if (deaths.sentences.size() == kMostSentences) {
      deaths.sentences.push_back(absl::StrCat("and ",
                                              causes.size() - kMostSentences,
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

}  // namespace muster
