#ifndef MUSTER_RENDEZVOUS_JOB_NATURAL_ORDER_H_
#define MUSTER_RENDEZVOUS_JOB_NATURAL_ORDER_H_

#include <string>

namespace muster {

// Less than 0, 0 or more than 0 as `a` comes before, with or after `b`: digit
// runs compare as numbers of any length, so node2 comes before node10 (a plain
// comparison scatters rings over the machine room: pytorch/pytorch#191190).
// Different texts never compare equal: node02 comes after node2.
int CompareNaturally(const std::string& a, const std::string& b);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_NATURAL_ORDER_H_
