#ifndef MUSTER_BASE_IS_DIGITS_H_
#define MUSTER_BASE_IS_DIGITS_H_

#include <cstddef>
#include <string_view>

namespace muster {

// Whether `text` is a number of 1 to `max_digits` decimal digits.
inline bool IsDigits(std::string_view text, size_t max_digits) {
  return !text.empty() && text.size() <= max_digits &&
         text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace muster

#endif  // MUSTER_BASE_IS_DIGITS_H_
