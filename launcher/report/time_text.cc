#include "launcher/report/time_text.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/message_text.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

using rendezvous::Incident;
using rendezvous::JobTime;
using rendezvous::LossCause;

// Maximum number of causes of lost time that a line names.
constexpr size_t kMaxNamed = 3;
constexpr int kMaxHostColumns = 32;
constexpr double kLeastShare = 0.0005;

std::string Seconds(double seconds) {
  // Upper bound, in seconds, of the durations that are formatted: 285 years. A
  // Duration overflows after 292 years.
  constexpr double kMaxSeconds = 9e9;
  return DurationText(std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::min(seconds, kMaxSeconds))));
}

std::string Share(double part, double all) {
  return absl::StrFormat("%.1f %%", all > 0 ? 100 * part / all : 0.0);
}

// Formats the cause of lost time: "worker on h2".
std::string CauseText(LossCause cause, const std::string& host) {
  const std::string name = Shorten(PrintableLine(host), kMaxHostColumns);
  switch (cause) {
    case LossCause::kWorker:
      return name.empty() ? "worker" : absl::StrCat("worker on ", name);
    case LossCause::kHang:
      return name.empty() ? "hang" : absl::StrCat("hang on ", name);
    case LossCause::kNode:
      return name.empty() ? "node" : absl::StrCat("node ", name);
    case LossCause::kChange:
      return "change of the nodes";
    case LossCause::kUnknown:
      return "unknown to this coordinator";
  }
  return "";
}

// Sums the incidents of `time` by cause and host, and formats the longest
// pauses and the sum of the others.
std::string Largest(const JobTime& time) {
  std::map<std::string, JobTime::Sum> losses;
  const auto add = [&](LossCause cause, const std::string& host,
                       JobTime::Sum more) {
    if (more.incidents == 0) return;
    JobTime::Sum& sum = losses[CauseText(cause, host)];
    sum.incidents += more.incidents;
    sum.pause_s += more.pause_s;
  };
  for (const JobTime::HostLosses& host : time.by_host) {
    for (size_t i = 0; i < rendezvous::kLossCauses; ++i) {
      add(static_cast<LossCause>(i), host.host, host.by_cause[i]);
    }
  }
  // An older version of Muster tells only the hosts of the newest incidents.
  if (time.by_host.empty()) {
    for (const Incident& one : time.newest) {
      add(one.cause, one.host, {.incidents = 1, .pause_s = one.pause_s()});
    }
  }
  std::vector<std::pair<std::string, JobTime::Sum>> sorted(losses.begin(),
                                                           losses.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    return a.second.pause_s > b.second.pause_s;
  });
  if (sorted.size() > kMaxNamed) sorted.resize(kMaxNamed);
  JobTime::Sum others = time.losses();
  std::vector<std::string> parts;
  for (const auto& [cause, sum] : sorted) {
    parts.push_back(absl::StrCat(cause, " ", Seconds(sum.pause_s)));
    others.incidents -= sum.incidents;
    others.pause_s -= sum.pause_s;
  }
  if (!parts.empty() && others.incidents > 0) {
    parts.push_back(
        absl::StrCat("others ", Seconds(std::max(others.pause_s, 0.0))));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

std::string TimeLine(const JobTime& time) {
  std::string text =
      absl::StrCat(Share(time.productive_s(), time.total_s()), " productive");
  const JobTime::Sum losses = time.losses();
  if (losses.incidents == 0) return text;
  const bool are_failures =
      time.by_cause[static_cast<size_t>(LossCause::kChange)].incidents == 0;
  absl::StrAppend(
      &text, "; ", Seconds(losses.pause_s), " lost to ",
      Counted(losses.incidents, are_failures ? "failure" : "interruption"));
  const std::string largest = Largest(time);
  if (!largest.empty()) absl::StrAppend(&text, ": ", largest);
  return text;
}

std::string ActivitiesLine(const JobTime& time) {
  std::vector<std::pair<double, std::string>> shares;
  for (size_t i = 0; i < rendezvous::kActivities; ++i) {
    // Omit activities whose share would be printed as 0.0 %.
    if (time.spent_s[i] < kLeastShare * time.total_s() ||
        time.spent_s[i] <= 0) {
      continue;
    }
    shares.emplace_back(time.spent_s[i],
                        NameOf(static_cast<rendezvous::Activity>(i)));
  }
  std::ranges::stable_sort(
      shares, [](const auto& a, const auto& b) { return a.first > b.first; });
  return absl::StrJoin(shares, ", ", [&](std::string* out, const auto& one) {
    absl::StrAppend(out, one.second, " ", Share(one.first, time.total_s()));
  });
}

}  // namespace muster::launcher
