#include "tests/simulation/trace.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace muster::simulation {
namespace {

constexpr size_t kKept = 400;

}  // namespace

void Trace::Line(Instant when, const std::string& text) {
  // Print the time since the start of the simulation. Simulated clocks start at
  // one hour (event_queue.h), so one hour is subtracted.
  char stamp[32];
  std::snprintf(stamp, sizeof(stamp), "%9.4f ",
                ToSeconds(when.time_since_epoch()) - 3600);
  std::string line = stamp + text;
  for (char c : line) {
    hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  if (echo_ == Echo::kToStdout) std::printf("%s\n", line.c_str());
  last_.push_back(std::move(line));
  if (last_.size() > kKept) last_.pop_front();
}

std::string Trace::Tail(size_t lines) const {
  std::string text;
  const size_t skipped = last_.size() - std::min(lines, last_.size());
  for (size_t i = skipped; i < last_.size(); ++i) text += last_[i] + "\n";
  return text;
}

}  // namespace muster::simulation
