#include "trainer_sdk/ddp/power_sgd_hook.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "trainer_sdk/ddp/low_rank.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

absl::Status Reduced(std::vector<float>* values, ReduceOp op, Device& device,
                     ProcessGroup& group) {
  return RunFromHost(
      device, group,
      AllReduce(values->data(), values->data(),
                static_cast<int64_t>(values->size()), DType::kFloat32, op));
}

}  // namespace

PowerSgdHook::PowerSgdHook(const PowerSgdOptions& options) : options_(options) {
  MUSTER_CHECK(options.rank >= 1)
      << "an approximation of rank " << options.rank;
}

void PowerSgdHook::OnParameters(const std::vector<Tensor>& parameters,
                                const ProcessGroup& group) {
  plans_.clear();
  state_ = PowerSgdState({.rank = group.rank(),
                          .ranks = group.size(),
                          .approximation = options_.rank,
                          .least_rate = options_.least_rate,
                          .seed = options_.seed},
                         parameters);
}

PowerSgdHook::Plan PowerSgdHook::MakePlan(const GradientBucket& bucket) {
  Plan plan;
  int64_t p = 0;
  int64_t q = 0;
  int64_t rest = 0;
  for (const GradientBucket::Part& part : bucket.parts) {
    PowerSgdMatrix* const matrix = state_.Find(part.parameter);
    if (matrix == nullptr) {
      plan.rest.emplace_back(part.offset, part.count);
      rest += part.count;
      continue;
    }
    plan.places.push_back({matrix, part.offset, p, q});
    p += matrix->rows * options_.rank;
    q += matrix->columns * options_.rank;
  }
  plan.p.resize(static_cast<size_t>(p));
  plan.q.resize(static_cast<size_t>(q));
  plan.flat.resize(static_cast<size_t>(rest));
  return plan;
}

bool PowerSgdHook::TakeExactStep(const Plan& plan) const {
  bool exact = plan.places.empty();
  for (const Plan::Place& place : plan.places) {
    if (place.matrix->exact_steps >= options_.exact_steps) continue;
    ++place.matrix->exact_steps;
    exact = true;
  }
  return exact;
}

absl::Status PowerSgdHook::ReduceRest(Plan& plan, float* data, Device& device,
                                      ProcessGroup& group) const {
  if (plan.flat.empty()) return absl::OkStatus();
  float* to = plan.flat.data();
  for (const auto& [offset, count] : plan.rest) {
    to = std::copy_n(data + offset, count, to);
  }
  absl::Status status = Reduced(&plan.flat, ReduceOp::kAvg, device, group);
  if (!status.ok()) return status;
  const float* from = plan.flat.data();
  for (const auto& [offset, count] : plan.rest) {
    std::copy_n(from, count, data + offset);
    from += count;
  }
  return absl::OkStatus();
}

absl::Status PowerSgdHook::Reduce(GradientBucket& bucket, ProcessGroup& group) {
  if (bucket.dtype != DType::kFloat32) {
    return AllReduceHook().Reduce(bucket, group);
  }
  const auto [at, is_new] = plans_.try_emplace(bucket.index);
  Plan& plan = at->second;
  if (is_new) plan = MakePlan(bucket);
  if (TakeExactStep(plan)) return AllReduceHook().Reduce(bucket, group);
  Device& device = bucket.on();
  auto* data = static_cast<float*>(bucket.data);
  const int64_t bytes = bucket.count * SizeOf(bucket.dtype);
  if (!device.is_host()) {
    staged_.resize(static_cast<size_t>(bucket.count));
    data = staged_.data();
    device.WaitForOther(Device::Stream::kCompute);
    device.CopyOut(data, bucket.data, bytes);
  }
  absl::Status status = ReduceRest(plan, data, device, group);
  if (status.ok()) status = ReduceMatrices(plan, data, device, group);
  if (!device.is_host()) {
    device.CopyIn(bucket.data, data, bytes);
    device.WaitForOther(Device::Stream::kCommunication);
  }
  return status;
}

absl::Status PowerSgdHook::ReduceMatrices(Plan& plan, float* data,
                                          Device& device,
                                          ProcessGroup& group) const {
  const int64_t rank = options_.rank;
  for (const Plan::Place& place : plan.places) {
    PowerSgdMatrix& matrix = *place.matrix;
    float* const m = data + place.offset;
    for (size_t i = 0; i < matrix.error.size(); ++i) {
      // Add the error of the last step to the gradient. `error` keeps a copy of
      // this sum. At the end of this function the approximation is subtracted
      // from the copy, which gives the new error.
      m[i] += matrix.error[i];
      matrix.error[i] = m[i];
    }
    Orthogonalize(matrix.q.data(), matrix.columns, rank);
    TimesThin(m, matrix.q.data(), matrix.rows, matrix.columns, rank,
              plan.p.data() + place.p);
  }
  absl::Status status = Reduced(&plan.p, ReduceOp::kSum, device, group);
  if (!status.ok()) return status;
  for (const Plan::Place& place : plan.places) {
    const PowerSgdMatrix& matrix = *place.matrix;
    float* const p = plan.p.data() + place.p;
    Orthogonalize(p, matrix.rows, rank);
    TransposedTimesThin(data + place.offset, p, matrix.rows, matrix.columns,
                        rank, plan.q.data() + place.q);
  }
  status = Reduced(&plan.q, ReduceOp::kAvg, device, group);
  if (!status.ok()) return status;
  for (const Plan::Place& place : plan.places) {
    PowerSgdMatrix& matrix = *place.matrix;
    float* const m = data + place.offset;
    std::copy_n(plan.q.data() + place.q, matrix.q.size(), matrix.q.data());
    TimesTransposed(plan.p.data() + place.p, matrix.q.data(), matrix.rows,
                    matrix.columns, rank, m);
    for (size_t i = 0; i < matrix.error.size(); ++i) matrix.error[i] -= m[i];
  }
  return absl::OkStatus();
}

}  // namespace muster
