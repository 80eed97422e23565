#include "rendezvous/job/natural_order.h"

#include <cstddef>

namespace muster::rendezvous {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The end of the run of digits that starts at `from`.
size_t RunEnd(const std::string& text, size_t from) {
  while (from < text.size() && IsDigit(text[from])) ++from;
  return from;
}

size_t SkipZeros(const std::string& text, size_t from, size_t end) {
  while (from < end && text[from] == '0') ++from;
  return from;
}

}  // namespace

int CompareNaturally(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[j])) {
      if (a[i] != b[j]) {
        return static_cast<unsigned char>(a[i]) <
                       static_cast<unsigned char>(b[j])
                   ? -1
                   : 1;
      }
      ++i;
      ++j;
      continue;
    }
    const size_t a_end = RunEnd(a, i);
    const size_t b_end = RunEnd(b, j);
    i = SkipZeros(a, i, a_end);
    j = SkipZeros(b, j, b_end);
    // Without leading zeros, the longer number is greater; numbers of equal
    // length compare digit by digit.
    if (a_end - i != b_end - j) return a_end - i < b_end - j ? -1 : 1;
    const int order = a.compare(i, a_end - i, b, j, b_end - j);
    if (order != 0) return order;
    i = a_end;
    j = b_end;
  }
  if (i < a.size()) return 1;
  if (j < b.size()) return -1;
  return a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
}

}  // namespace muster::rendezvous
