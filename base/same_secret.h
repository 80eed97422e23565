#ifndef MUSTER_BASE_SAME_SECRET_H_
#define MUSTER_BASE_SAME_SECRET_H_

#include <cstddef>
#include <string_view>

namespace muster {

// Whether `given` equals `expected`. The time depends only on the length of
// `given`, so that an attacker cannot guess a secret piece by piece.
inline bool IsSameSecret(std::string_view given, std::string_view expected) {
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? 0 : expected[i % expected.size()];
    // `step` is volatile, so that the compiler cannot end the loop at the first
    // difference.
    volatile unsigned step = static_cast<unsigned char>(given[i] ^ other);
    difference |= step;
  }
  return difference == 0;
}

}  // namespace muster

#endif  // MUSTER_BASE_SAME_SECRET_H_
