#include "agent/binding/binding_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

BindingPlan Of(const std::vector<std::vector<int>>& cpus) {
  BindingPlan plan;
  for (const std::vector<int>& one : cpus) {
    plan.workers.emplace_back().cpus = one;
  }
  plan.how = "by the GPUs' NUMA nodes";
  return plan;
}

TEST(BindingText, OneLine) {
  EXPECT_EQ(BindingText(Binding::kNode, Of({{0, 1}, {2, 3}}), 200),
            "node: 0-1 | 2-3");
  EXPECT_EQ(
      BindingText(Binding::kSocket, Of({{0, 1}, {0, 1}, {2}, {0, 1}}), 200),
      "socket: 0-1 x2 | 2 | 0-1");
  EXPECT_EQ(BindingText(Binding::kCoreComplex, Of({{7}}), 200),
            "core-complex: 7");
}

TEST(BindingText, IsCutBehindAWorkerAndNeverLongerThanItMayBe) {
  std::vector<std::vector<int>> many;
  for (int i = 0; i < 128; ++i) many.push_back({i * 2});
  for (size_t most = 40; most < 60; ++most) {
    const std::string text = BindingText(Binding::kExclusive, Of(many), most);
    EXPECT_LE(text.size(), most);
    EXPECT_EQ(text.substr(0, 22), "exclusive: 0 | 2 | 4 |") << text;
    EXPECT_EQ(text.substr(text.size() - 6), " | ...") << text;
  }
  std::vector<int> odd;
  for (int i = 1; i < 100; i += 2) odd.push_back(i);
  EXPECT_EQ(BindingText(Binding::kNode, Of({odd}), 40), "node: ...");
  EXPECT_EQ(BindingText(Binding::kNode, Of({{0}, {1}}), 40), "node: 0 | 1");
}

TEST(BindingText, TheRemarkSaysWhy) {
  EXPECT_EQ(BindingRemark(Binding::kNode, Of({{0, 1}, {2, 3}})),
            "workers are bound to CPUs: node: 0-1 | 2-3 (by the GPUs' NUMA "
            "nodes)");
}

}  // namespace
}  // namespace muster
