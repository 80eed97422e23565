#ifndef MUSTER_TESTS_FUZZ_EDITED_BYTES_H_
#define MUSTER_TESTS_FUZZ_EDITED_BYTES_H_

#include <string>
#include <string_view>

namespace muster {

// `sound` with the edits that `input` tells, one behind the other: two bytes of
// place, one of how much is removed there, one of how much is put there, and
// what. So what a fuzzer draws is nearly sound, and reaches what lies behind
// the first checks.
std::string EditedBytes(std::string_view sound, std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_EDITED_BYTES_H_
