#ifndef MUSTER_TESTS_FUZZ_EDITED_BYTES_H_
#define MUSTER_TESTS_FUZZ_EDITED_BYTES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace muster {

// `sound` with the edits that `input` tells, one behind the other: two bytes of
// place, one of how much is removed there, one of how much is put there, and
// what. So what a fuzzer draws is nearly sound, and reaches what lies behind
// the first checks.
std::string EditedBytes(std::string_view sound, std::string_view input);

// How wild the edits are that a test draws.
struct EditBounds {
  int most_edits = 3;  // from one to as many
  int places = 256;    // from the first byte on
  int removed = 5;     // fewer bytes than that
};

// Such an input: edits that put one of `pieces` each, the same for each seed.
std::string DrawnEdits(uint64_t seed, std::span<const std::string_view> pieces,
                       const EditBounds& bounds);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_EDITED_BYTES_H_
