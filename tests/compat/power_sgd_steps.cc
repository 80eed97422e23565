// Reads lines RANKS R STEPS ROWS COLUMNS... with the shapes of some matrices.
// For each line, runs PowerSgdHook on RANKS ranks, with approximations of rank
// R, over buckets that contain a vector and these matrices. Prints the results
// of each step in order. The values are computed by the same formulas as in
// power_sgd_oracle.py.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/ddp/power_sgd_hook.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

constexpr int64_t kVector = 7;

struct Case {
  int ranks = 0;
  int approximation = 0;
  int steps = 0;
  // numbers of rows and columns of each matrix, alternating
  std::vector<int64_t> shapes;
};

void SetFirstQ(PowerSgdHook& hook) {
  int matrix = 0;
  for (const CheckpointSlice& slice : hook.State()) {
    if (!absl::StartsWith(slice.tensor.name, "power_sgd/q/")) continue;
    auto* const q = static_cast<float*>(slice.data);
    for (int64_t i = slice.begin; i < slice.end; ++i) {
      q[i - slice.begin] = static_cast<float>(
          std::cos(1.7 * static_cast<double>(i * i) + matrix));
    }
    ++matrix;
  }
}

absl::Status Run(const Case& test, ProcessGroup& group,
                 std::vector<float>* arrived) {
  PowerSgdHook hook(
      {.rank = test.approximation, .exact_steps = 2, .least_rate = 2});
  std::vector<Tensor> parameters = {{.name = "v", .shape = {kVector}}};
  GradientBucket bucket;
  bucket.parts = {{0, 0, kVector, 1}};
  bucket.count = kVector;
  for (size_t m = 0; m < test.shapes.size(); m += 2) {
    const int64_t rows = test.shapes[m];
    const int64_t count = rows * test.shapes[m + 1];
    const auto index = static_cast<int>(parameters.size());
    parameters.push_back({.name = absl::StrCat("m", index),
                          .shape = {rows, test.shapes[m + 1]}});
    bucket.parts.push_back({index, bucket.count, count, rows});
    bucket.count += count;
  }
  hook.OnParameters(parameters, group);
  SetFirstQ(hook);
  std::vector<float> values(static_cast<size_t>(bucket.count));
  bucket.data = values.data();
  for (int step = 0; step < test.steps; ++step) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<double>(i);
      values[i] = static_cast<float>(std::sin(0.7 * at * at + group.rank()) +
                                     0.3 * std::cos(at + step));
    }
    absl::Status status = hook.Reduce(bucket, group);
    if (!status.ok()) return status;
    if (group.rank() == 0) {
      arrived->insert(arrived->end(), values.begin(), values.end());
    }
  }
  return absl::OkStatus();
}

int Main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    Case test;
    words >> test.ranks >> test.approximation >> test.steps;
    for (int64_t length = 0; words >> length;) test.shapes.push_back(length);
    std::vector<float> arrived;
    const absl::Status status =
        FirstFailure(RunWorld(test.ranks, [&](ProcessGroup& group) {
          return Run(test, group, &arrived);
        }));
    if (!status.ok()) {
      std::cerr << status << "\n";
      return 1;
    }
    for (const float value : arrived) {
      std::printf("%.9g ", static_cast<double>(value));
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace
}  // namespace muster

int main() { return muster::Main(); }
