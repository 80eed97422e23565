#ifndef MUSTER_RENDEZVOUS_ETCD_TROUBLE_FILTER_H_
#define MUSTER_RENDEZVOUS_ETCD_TROUBLE_FILTER_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/time.h"

namespace muster::rendezvous {

// Rate limit for log messages about a call that is repeated several times a
// second. If etcd is down for days, the log does not fill. Admits each text
// once a minute, and at most kMaxTexts texts a minute. Pure.
class TroubleFilter {
 public:
  static constexpr Duration kInterval = std::chrono::minutes(1);
  static constexpr size_t kMaxTexts = 8;

  // Returns whether to log `text` at `now`, which must not decrease.
  bool Admit(Instant now, const std::string& text) {
    std::erase_if(
        told_, [&](const auto& one) { return now - one.second >= kInterval; });
    if (told_.size() >= kMaxTexts) return false;
    return told_.emplace(text, now).second;
  }

 private:
  // Key: a text that was logged in the last minute; value: when it was logged.
  std::map<std::string, Instant> told_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_TROUBLE_FILTER_H_
