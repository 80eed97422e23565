#include "rendezvous/events/time_text.h"

#include <chrono>
#include <cmath>
#include <cstdio>

namespace muster::rendezvous {
namespace {

constexpr double kEndOf9999 = 253402300800.0;

struct Civil {
  int year;
  unsigned month, day;
  int hour, minute, second, millisecond;
};

bool IsDate(double unix_seconds) {
  return unix_seconds > 0 && unix_seconds < kEndOf9999;  // false for NaN
}

Civil ToCivil(double unix_seconds) {
  namespace chrono = std::chrono;
  auto since_1970 = chrono::milliseconds(
      static_cast<int64_t>(std::floor(unix_seconds * 1000)));
  auto days = chrono::floor<chrono::days>(since_1970);
  chrono::year_month_day date{chrono::sys_days(days)};
  chrono::hh_mm_ss time{since_1970 - days};
  return {static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()),
          static_cast<int>(time.hours().count()),
          static_cast<int>(time.minutes().count()),
          static_cast<int>(time.seconds().count()),
          static_cast<int>(time.subseconds().count())};
}

}  // namespace

std::string UtcText(double unix_seconds) {
  if (!IsDate(unix_seconds)) return "unknown";
  Civil t = ToCivil(unix_seconds);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d UTC", t.year,
                t.month, t.day, t.hour, t.minute, t.second);
  return text;
}

std::string IsoText(double unix_seconds) {
  if (!IsDate(unix_seconds)) return "unknown";
  Civil t = ToCivil(unix_seconds);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                t.year, t.month, t.day, t.hour, t.minute, t.second,
                t.millisecond);
  return text;
}

}  // namespace muster::rendezvous
