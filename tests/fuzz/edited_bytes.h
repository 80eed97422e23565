#ifndef MUSTER_TESTS_FUZZ_EDITED_BYTES_H_
#define MUSTER_TESTS_FUZZ_EDITED_BYTES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace muster {

// Applies the edits in `input` to the valid bytes `sound`, one after another,
// and returns the result. The result is nearly valid, so a fuzzer gets past the
// parser's first checks.
//
// An edit consists of two bytes for the position, one for the number of bytes
// to remove, one for the number of bytes to insert, and the inserted bytes.
std::string EditedBytes(std::string_view sound, std::string_view input);

// Limits of the random edits that DrawnEdits returns. (An edit removes and
// inserts bytes at one position of a text.)
struct EditBounds {
  int max_edits = 3;  // number of edits: 1 to max_edits
  int places = 256;   // an edit's position is at least 0 and below this number
  int removed = 5;    // an edit removes fewer than this number of bytes
};

// Returns random edits, as an input of EditedBytes. Each edit inserts one of
// `pieces`. The same seed gives the same edits.
std::string DrawnEdits(uint64_t seed, std::span<const std::string_view> pieces,
                       const EditBounds& bounds);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_EDITED_BYTES_H_
