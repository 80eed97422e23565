#include "rendezvous/network_check/measured_values.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace muster::rendezvous {

bool IsPositive(double value) { return std::isfinite(value) && value > 0; }

std::string RateText(double bytes_per_s) {
  return bytes_per_s >= 1e9 ? absl::StrFormat("%.3g GB/s", bytes_per_s / 1e9)
                            : absl::StrFormat("%.3g MB/s", bytes_per_s / 1e6);
}
std::string TimeText(double seconds) {
  return absl::StrFormat("%.3g ms", seconds * 1e3);
}

}  // namespace muster::rendezvous
