#ifndef MUSTER_TESTS_FUZZ_STORE_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_STORE_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Lets four clients send pieces of `input` to a store core, directly and
// through a relay core; the input determines the order and the sizes. Aborts if
// an invariant is broken: memory is bounded and freed, clients that are gone
// get no replies, and each reply answers a request of its client.
void RunStoreFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_STORE_FUZZ_CASE_H_
