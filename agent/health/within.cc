#include "agent/health/within.h"

#include <atomic>

namespace muster::agent {
namespace {

constexpr int kMax = 32;
std::atomic<int> under_way{0};

}  // namespace

bool StuckCalls::Begin() {
  if (under_way.fetch_add(1) < kMax) return true;
  under_way.fetch_sub(1);
  return false;
}

void StuckCalls::End() { under_way.fetch_sub(1); }

}  // namespace muster::agent
