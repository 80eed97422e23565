#include "agent/binding/binding_text.h"

#include <gtest/gtest.h>

namespace muster::agent {
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

BindingPlan With(BindingPlan plan, const std::vector<std::string>& nics) {
  for (size_t i = 0; i < nics.size(); ++i) plan.workers[i].near_nic = nics[i];
  return plan;
}

TEST(BindingText, ACardIsShownWithItsWorkers) {
  const auto text = [](const std::vector<std::vector<int>>& cpus,
                       const std::vector<std::string>& nics) {
    return BindingText(Binding::kNode, With(Of(cpus), nics), 200);
  };
  EXPECT_EQ(text({{0, 1}, {2, 3}}, {"mlx5_0", "mlx5_1"}),
            "node: 0-1@mlx5_0 | 2-3@mlx5_1");
  EXPECT_EQ(text({{0, 1}, {2, 3}}, {"", "eth0"}), "node: 0-1 | 2-3@eth0");
  EXPECT_EQ(text({{0}, {0}, {1}, {1}}, {"eth0", "eth0", "a", "b"}),
            "node: 0 x2@eth0 | 1 x2@a,b");
  EXPECT_EQ(text({{0}, {0}, {0}}, {"", "b", ""}), "node: 0 x3@-,b,-");
  EXPECT_EQ(text({{0}, {1}}, {"e\nt\x7f", "a b"}), "node: 0@e?t? | 1@a?b");
}

// 112 cores with two threads each, eight GPUs with a network card each.
TEST(BindingText, AMachineOfEightGpusFitsInto200Bytes) {
  std::vector<std::vector<int>> cpus;
  std::vector<std::string> nics;
  for (int gpu = 0; gpu < 8; ++gpu) {
    std::vector<int>& own = cpus.emplace_back();
    for (int thread : {0, 112}) {
      for (int core = 0; core < 14; ++core) {
        own.push_back(thread + 14 * gpu + core);
      }
    }
    nics.push_back("mlx5_" + std::to_string(gpu + 4));
  }
  const BindingPlan plan = With(Of(cpus), nics);
  const std::string text = BindingText(Binding::kExclusive, plan, 200);
  EXPECT_EQ(text.substr(text.size() - 25), " | 98-111,210-223@mlx5_11") << text;
  for (size_t most = 40; most < 200; ++most) {
    EXPECT_LE(BindingText(Binding::kExclusive, plan, most).size(), most);
  }
}

TEST(BindingText, TheRemarkSaysWhy) {
  EXPECT_EQ(
      BindingRemark(Binding::kNode, With(Of({{0, 1}, {2, 3}}), {"mlx5_0", ""})),
      "workers are bound to CPUs: node: 0-1@mlx5_0 | 2-3 (by the GPUs' "
      "NUMA nodes; @: the network card near the GPU)");
  EXPECT_EQ(BindingRemark(Binding::kNode, Of({{0, 1}, {2, 3}})),
            "workers are bound to CPUs: node: 0-1 | 2-3 (by the GPUs' NUMA "
            "nodes)");
}

}  // namespace
}  // namespace muster::agent
