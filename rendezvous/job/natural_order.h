#ifndef MUSTER_RENDEZVOUS_JOB_NATURAL_ORDER_H_
#define MUSTER_RENDEZVOUS_JOB_NATURAL_ORDER_H_

#include <string>

namespace muster::rendezvous {

// Compares `a` and `b` for sorting; returns a number below, equal to or above
// 0. Digit runs compare as numbers of any length, so that node2 sorts before
// node10 (plain string order scatters a ring's neighbours over the machine
// room: pytorch/pytorch#191190). Only equal strings compare equal: node02 sorts
// after node2.
int CompareNaturally(const std::string& a, const std::string& b);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_NATURAL_ORDER_H_
