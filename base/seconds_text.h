#ifndef MUSTER_BASE_SECONDS_TEXT_H_
#define MUSTER_BASE_SECONDS_TEXT_H_

#include <string>

#include "base/time.h"

namespace muster {

// A length of time for people: "0.0135 s", "4.99 s", "600 s". Three digits, and
// of more than 100 seconds whole ones.
std::string SecondsText(Duration length);

}  // namespace muster

#endif  // MUSTER_BASE_SECONDS_TEXT_H_
