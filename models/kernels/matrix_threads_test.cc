#include "models/kernels/matrix_threads.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "models/kernels/linear.h"

namespace muster {
namespace {

TEST(MatrixThreadsTest, FitTheCoresThatAreTheProcess) {
  struct Case {
    const char* what;
    MatrixThreadFacts facts;
    int expected;
  };
  const Case cases[] = {
      {"nothing is known", {}, 1},
      {"alone on a machine", {.allotted_cores = 16, .machine_cores = 16}, 16},
      {"four ranks share a machine",
       {.allotted_cores = 16, .machine_cores = 16, .processes = 4},
       4},
      {"a share that is no whole number",
       {.allotted_cores = 16, .machine_cores = 16, .processes = 5},
       3},
      {"more ranks than cores",
       {.allotted_cores = 2, .machine_cores = 2, .processes = 4},
       1},
      {"bound to cores, whose they are alone",
       {.allotted_cores = 4, .machine_cores = 16, .processes = 4},
       4},
      {"launch has dealt out the cores",
       {.omp = 3, .allotted_cores = 16, .machine_cores = 16, .processes = 4},
       3},
      {"OpenMP's number is of a larger machine",
       {.omp = 64, .allotted_cores = 16, .machine_cores = 16},
       16},
      {"what was set for this library is meant",
       {.openblas = 5, .omp = 3, .allotted_cores = 2, .machine_cores = 2},
       5},
      {"a container's share of a large machine",
       {.allotted_cores = 64, .machine_cores = 64, .quota = 8},
       8},
      {"two ranks in such a container",
       {.allotted_cores = 64, .machine_cores = 64, .quota = 8, .processes = 2},
       4},
      {"less than a core for each",
       {.allotted_cores = 64, .machine_cores = 64, .quota = 1, .processes = 2},
       1},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ChooseMatrixThreads(c.facts), c.expected) << c.what;
  }
}

TEST(MatrixThreadsTest, FactsAreThisMachines) {
  const MatrixThreadFacts facts = ReadMatrixThreadFacts(3);
  EXPECT_GE(facts.allotted_cores, 1);
  EXPECT_GE(facts.machine_cores, facts.allotted_cores);
  EXPECT_EQ(facts.processes, 3);
}

// The shapes of a small transformer's products.
TEST(MatrixThreadsTest, ChangeNoBit) {
  constexpr int64_t kRows = 768;
  constexpr int64_t kIn = 128;
  constexpr int64_t kOut = 65;
  const auto numbers = [](int64_t count, int seed) {
    std::vector<float> made;
    for (int64_t i = 0; i < count; ++i) {
      made.push_back(static_cast<float>((i * i + seed) % 1009) / 1009 - 0.5f);
    }
    return made;
  };
  const std::vector<float> input = numbers(kRows * kIn, 1);
  const std::vector<float> weight = numbers(kIn * kOut, 2);
  const auto all = [&](int threads) {
    UseMatrixThreads(threads);
    std::vector<float> output(kRows * kOut);
    LinearForward<float>(input.data(), weight.data(), nullptr, kRows, kIn, kOut,
                         output.data());
    std::vector<float> back(kRows * kIn);
    LinearBackwardInput(output.data(), weight.data(), kRows, kIn, kOut,
                        back.data());
    std::vector<float> gradient(kIn * kOut);
    LinearBackwardWeight<float>(input.data(), output.data(), kRows, kIn, kOut,
                                gradient.data(), nullptr);
    output.insert(output.end(), back.begin(), back.end());
    output.insert(output.end(), gradient.begin(), gradient.end());
    return output;
  };
  const std::vector<float> alone = all(1);
  for (const int threads : {2, 3, 4}) EXPECT_EQ(all(threads), alone) << threads;
}

}  // namespace
}  // namespace muster
