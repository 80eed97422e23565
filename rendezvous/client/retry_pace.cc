#include "rendezvous/client/retry_pace.h"

#include <algorithm>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStartUp = seconds(10);
constexpr Duration kStartUpFirst = milliseconds(5);
constexpr Duration kMaxStartUp = milliseconds(100);
constexpr Duration kFirst = milliseconds(50);
constexpr Duration kMax = seconds(1);
constexpr Duration kGoodWhile = seconds(1);

}  // namespace

Duration RetryPace::AfterFailure(Instant now) {
  if (!reached_ && now - start_ < kStartUp) {
    return Doubled(kStartUpFirst, kMaxStartUp);
  }
  return Doubled(kFirst, kMax);
}

Duration RetryPace::AfterStream(Instant now, Duration lasted) {
  reached_ = true;
  if (lasted < kGoodWhile) return AfterFailure(now);
  last_ = Duration::zero();
  return last_;
}

Duration RetryPace::Doubled(Duration first, Duration most) {
  last_ = std::clamp(last_ * 2, first, most);
  return last_;
}

}  // namespace muster::rendezvous
