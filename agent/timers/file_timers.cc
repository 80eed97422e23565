#include "agent/timers/file_timers.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace muster::agent {
namespace {

using Json = nlohmann::json;

constexpr int kMaxSignal = 64;

}  // namespace

bool FileTimers::Take(std::string_view bytes) {
  bool all_good = true;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (begun_.size() + part.size() > kMaxLineBytes) {
      too_long_ = true;
      begun_.clear();
    } else if (!too_long_) {
      begun_.append(part);
    }
    if (end == std::string_view::npos) break;
    if (too_long_ || !TakeLine(begun_)) all_good = false;
    too_long_ = false;
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  return all_good;
}

bool FileTimers::TakeLine(std::string_view line) {
  const Json request = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object()) return false;
  const auto pid = request.find("pid");
  const auto scope = request.find("scope_id");
  const auto time = request.find("expiration_time");
  const auto signal = request.find("signal");
  for (const auto& field : {pid, scope, time, signal}) {
    if (field == request.end()) return false;
  }
  if (!pid->is_number_integer() || !scope->is_string() || !time->is_number() ||
      !signal->is_number_integer()) {
    return false;
  }
  const auto who = pid->get<int64_t>();
  const auto number = signal->get<int64_t>();
  const auto expires = time->get<double>();
  if (who <= 0 || number > kMaxSignal || !std::isfinite(expires)) return false;
  const std::pair<int64_t, std::string> key(who, scope->get<std::string>());
  if (expires < 0) {
    timers_.erase(key);
    return true;
  }
  if (timers_.size() >= kMaxTimers && timers_.count(key) == 0) return false;
  timers_[key] = {.expires = expires,
                  .signal = static_cast<int>(std::max<int64_t>(number, 0))};
  return true;
}

std::vector<FileTimers::Expired> FileTimers::TakeExpired(double now) {
  // For each process id with expired timers: the chosen timer and its scope. A
  // timer that names a signal is chosen before a timer that names none;
  // otherwise the timer that expired first is chosen.
  std::map<int64_t, std::pair<const std::string*, Timer>> first;
  for (const auto& [key, timer] : timers_) {
    if (timer.expires > now) continue;
    auto& [scope, chosen] =
        first.try_emplace(key.first, &key.second, timer).first->second;
    const bool asks = timer.signal > 0;
    const bool asked = chosen.signal > 0;
    if (asks != asked ? asks : timer.expires < chosen.expires) {
      scope = &key.second;
      chosen = timer;
    }
  }
  std::vector<Expired> expired;
  for (const auto& [pid, found] : first) {
    expired.push_back(
        {.pid = pid, .scope = *found.first, .signal = found.second.signal});
  }
  for (const Expired& one : expired) {
    std::erase_if(timers_, [&](const auto& timer) {
      return timer.first.first == one.pid;
    });
  }
  return expired;
}

std::optional<double> FileTimers::NextExpiry() const {
  std::optional<double> next;
  for (const auto& [key, timer] : timers_) {
    if (!next.has_value() || timer.expires < *next) next = timer.expires;
  }
  return next;
}

}  // namespace muster::agent
