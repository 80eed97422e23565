#include "trainer_sdk/ddp/power_sgd_hook.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>

#include "base/check.h"
#include "trainer_sdk/ddp/low_rank.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

absl::Status Reduced(std::vector<float>* values, ReduceOp op,
                     ProcessGroup& group) {
  return group.Run(AllReduce(values->data(), values->data(),
                             static_cast<int64_t>(values->size()),
                             DType::kFloat32, op));
}

}  // namespace

PowerSgdHook::PowerSgdHook(const PowerSgdOptions& options) : options_(options) {
  MUSTER_CHECK(options.rank >= 1)
      << "an approximation of rank " << options.rank;
}

PowerSgdHook::State PowerSgdHook::MakeState(
    const GradientBucket& bucket) const {
  State state;
  const int64_t rank = options_.rank;
  int64_t p = 0;
  int64_t q = 0;
  int64_t e = 0;
  int64_t rest = 0;
  for (const GradientBucket::Part& part : bucket.parts) {
    const int64_t columns = part.count / part.rows;
    const bool worth_it = part.rows > 1 && columns > 1 &&
                          static_cast<double>((part.rows + columns) * rank) *
                                  options_.least_rate <
                              static_cast<double>(part.count);
    if (!worth_it) {
      state.rest.emplace_back(part.offset, part.count);
      rest += part.count;
      continue;
    }
    state.matrices.push_back({part.offset, part.rows, columns, p, q, e});
    p += part.rows * rank;
    q += columns * rank;
    e += part.count;
  }
  state.p.resize(static_cast<size_t>(p));
  state.q.resize(static_cast<size_t>(q));
  state.error.resize(static_cast<size_t>(e));
  state.flat.resize(static_cast<size_t>(rest));
  std::mt19937_64 engine(options_.seed + static_cast<uint64_t>(bucket.index));
  std::normal_distribution<float> normal;
  for (float& value : state.q) value = normal(engine);
  return state;
}

absl::Status PowerSgdHook::ReduceRest(const State& state, float* data,
                                      ProcessGroup& group,
                                      std::vector<float>* flat) const {
  if (flat->empty()) return absl::OkStatus();
  float* to = flat->data();
  for (const auto& [offset, count] : state.rest) {
    to = std::copy_n(data + offset, count, to);
  }
  absl::Status status = Reduced(flat, ReduceOp::kAvg, group);
  if (!status.ok()) return status;
  const float* from = flat->data();
  for (const auto& [offset, count] : state.rest) {
    std::copy_n(from, count, data + offset);
    from += count;
  }
  return absl::OkStatus();
}

absl::Status PowerSgdHook::Reduce(GradientBucket& bucket, ProcessGroup& group) {
  if (bucket.dtype != DType::kFloat32) {
    return AllReduceHook().Reduce(bucket, group);
  }
  const auto [at, is_new] = states_.try_emplace(bucket.index);
  State& state = at->second;
  if (is_new) state = MakeState(bucket);
  if (state.steps++ < options_.exact_steps || state.matrices.empty()) {
    return AllReduceHook().Reduce(bucket, group);
  }
  float* const data = static_cast<float*>(bucket.data);
  absl::Status status = ReduceRest(state, data, group, &state.flat);
  if (!status.ok()) return status;
  const int64_t rank = options_.rank;
  for (const Matrix& matrix : state.matrices) {
    float* const m = data + matrix.offset;
    float* const error = state.error.data() + matrix.e;
    const int64_t count = matrix.rows * matrix.columns;
    for (int64_t i = 0; i < count; ++i) {
      // `error` keeps the gradient as it is to be sent, until it is known what
      // of it arrives.
      m[i] += error[i];
      error[i] = m[i];
    }
    float* const q = state.q.data() + matrix.q;
    Orthogonalize(q, matrix.columns, rank);
    TimesThin(m, q, matrix.rows, matrix.columns, rank,
              state.p.data() + matrix.p);
  }
  status = Reduced(&state.p, ReduceOp::kSum, group);
  if (!status.ok()) return status;
  for (const Matrix& matrix : state.matrices) {
    float* const p = state.p.data() + matrix.p;
    Orthogonalize(p, matrix.rows, rank);
    TransposedTimesThin(data + matrix.offset, p, matrix.rows, matrix.columns,
                        rank, state.q.data() + matrix.q);
  }
  status = Reduced(&state.q, ReduceOp::kAvg, group);
  if (!status.ok()) return status;
  for (const Matrix& matrix : state.matrices) {
    float* const m = data + matrix.offset;
    TimesTransposed(state.p.data() + matrix.p, state.q.data() + matrix.q,
                    matrix.rows, matrix.columns, rank, m);
    float* const error = state.error.data() + matrix.e;
    for (int64_t i = 0; i < matrix.rows * matrix.columns; ++i) {
      error[i] -= m[i];
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
