#include "launcher/report/duration_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace muster::launcher {
namespace {

std::string Format(const char* format, int64_t large, int64_t small) {
  char text[64];
  std::snprintf(text, sizeof text, format, static_cast<long long>(large),
                static_cast<long long>(small));
  return text;
}

}  // namespace

std::string DurationText(Duration duration) {
  using std::chrono::duration_cast;
  int64_t hundredths =
      duration_cast<std::chrono::milliseconds>(duration).count() / 10;
  hundredths = std::max<int64_t>(hundredths, 0);
  int64_t seconds = hundredths / 100;
  if (seconds < 1) return Format("%lld.%02llds", 0, hundredths);
  if (seconds < 60) return Format("%lld.%llds", seconds, hundredths / 10 % 10);
  int64_t minutes = seconds / 60;
  if (minutes < 60) return Format("%lldm %02llds", minutes, seconds % 60);
  int64_t hours = minutes / 60;
  if (hours < 24) return Format("%lldh %02lldm", hours, minutes % 60);
  return Format("%lldd %02lldh", hours / 24, hours % 24);
}

}  // namespace muster::launcher
