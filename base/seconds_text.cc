#include "base/seconds_text.h"

#include <cmath>
#include <cstdio>

namespace muster {

std::string SecondsText(Duration length) {
  const double seconds = ToSeconds(length);
  char text[64];
  std::snprintf(text, sizeof(text),
                std::fabs(seconds) < 100 ? "%.3g s" : "%.0f s", seconds);
  return text;
}

}  // namespace muster
