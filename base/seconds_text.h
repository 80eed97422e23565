#ifndef MUSTER_BASE_SECONDS_TEXT_H_
#define MUSTER_BASE_SECONDS_TEXT_H_

#include <string>

#include "base/time.h"

namespace muster {

// Formats a duration for people: "0.0135 s", "4.99 s", "600 s". Three
// significant digits; whole seconds above 100.
std::string SecondsText(Duration length);

}  // namespace muster

#endif  // MUSTER_BASE_SECONDS_TEXT_H_
