#include "trainer_sdk/process_group/testing/run_case.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/element_values.h"
#include "trainer_sdk/process_group/testing/guarded_buffer.h"

namespace muster {
namespace {

// Far more than any operation takes: with it only a broken transport ends.
constexpr auto kPatience = std::chrono::seconds(30);

absl::Status With(const std::string& what, const RankUnderTest& rank,
                  const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat(what, ", rank ", rank.rank, " of ", rank.size, ", #",
                   rank.sequence, ": ", std::string(status.message())));
}

OperationContext ContextOf(const RankUnderTest& rank) {
  OperationContext context;
  context.sequence = rank.sequence;
  context.deadline = MonotonicNow() + kPatience;
  return context;
}

std::vector<double> TestValues(uint64_t seed, int rank, int64_t length,
                               ReduceOp op) {
  std::vector<double> values;
  values.reserve(length);
  for (int64_t i = 0; i < length; i++) {
    values.push_back(TestValue(seed, rank, i, op));
  }
  return values;
}

// The buffers of one rank's part in a case.
class Buffers {
 public:
  Buffers(const CollectiveCase& test, const RankPart& part,
          const RankUnderTest& rank)
      : part_(part) {
    if (part.in_place >= 0) {
      both_.emplace(*rank.memory, test.dtype,
                    std::max(part.input, part.output));
      input_at_ = part.input < part.output ? part.in_place : 0;
      output_at_ = part.output < part.input ? part.in_place : 0;
    } else {
      if (part.input >= 0) input_.emplace(*rank.memory, test.dtype, part.input);
      if (part.output >= 0) {
        output_.emplace(*rank.memory, test.dtype, part.output);
      }
    }
    if (part.input < 0) return;
    given_ = TestValues(test.seed, rank.rank, part.input, test.op);
    (both_ ? *both_ : *input_).Write(input_at_, given_);
  }

  void PutInto(Operation& operation) const {
    if (part_.input >= 0) {
      operation.input = (both_ ? *both_ : *input_).at(input_at_);
    }
    if (part_.output >= 0) {
      operation.output = (both_ ? *both_ : *output_).at(output_at_);
    }
  }

  absl::Status Expect(const std::vector<double>& expected,
                      double tolerance) const {
    if (part_.output >= 0) {
      const absl::Status status =
          (both_ ? *both_ : *output_).Expect(output_at_, expected, tolerance);
      if (!status.ok()) return status;
    }
    if (input_) {
      const absl::Status status = input_->Expect(0, given_, 0);
      if (!status.ok()) {
        return absl::InternalError(absl::StrCat("the input was changed: ",
                                                std::string(status.message())));
      }
    }
    for (const auto* buffer : {&both_, &input_, &output_}) {
      if (!*buffer) continue;
      const absl::Status status = (*buffer)->ExpectBorders();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  const RankPart& part_;
  std::optional<GuardedBuffer> both_, input_, output_;
  int64_t input_at_ = 0, output_at_ = 0;
  std::vector<double> given_;
};

std::string Describe(const MessageCase& test) {
  return absl::StrCat("message of ", test.count, " ", Name(test.dtype),
                      " from rank ", test.from, " to rank ", test.to, ", tag ",
                      test.tag);
}

}  // namespace

absl::Status RunCase(const CollectiveCase& test, RankUnderTest& rank) {
  rank.sequence++;
  RankPart part = PartOf(test, rank.rank, rank.size);
  const Buffers buffers(test, part, rank);
  buffers.PutInto(part.operation);
  absl::Status status =
      rank.transport->Execute(part.operation, ContextOf(rank));
  if (status.ok()) {
    status = buffers.Expect(ExpectedOutput(test, rank.rank, rank.size),
                            Tolerance(test, rank.size));
  }
  return status.ok() ? status : With(Describe(test), rank, status);
}

absl::Status RunMessage(const MessageCase& test, RankUnderTest& rank) {
  if (rank.rank != test.from && rank.rank != test.to) return absl::OkStatus();
  const std::vector<double> values =
      TestValues(test.seed, test.from, test.count, ReduceOp::kSum);
  GuardedBuffer buffer(*rank.memory, test.dtype, test.count);
  Operation operation;
  if (rank.rank == test.from) {
    buffer.Write(0, values);
    operation = Send(buffer.at(0), test.count, test.dtype, test.to, test.tag);
  } else {
    operation =
        Receive(buffer.at(0), test.count, test.dtype, test.from, test.tag);
  }
  absl::Status status = rank.transport->Execute(operation, ContextOf(rank));
  if (status.ok()) status = buffer.Expect(0, values, 0);
  if (status.ok()) status = buffer.ExpectBorders();
  return status.ok() ? status : With(Describe(test), rank, status);
}

absl::Status RunBatch(const std::vector<MessageCase>& messages,
                      RankUnderTest& rank) {
  std::vector<PointToPoint> batch;
  std::vector<std::pair<MessageCase, std::unique_ptr<GuardedBuffer>>> buffers;
  for (const MessageCase& message : messages) {
    if (rank.rank != message.from && rank.rank != message.to) continue;
    auto buffer = std::make_unique<GuardedBuffer>(*rank.memory, message.dtype,
                                                  message.count);
    if (rank.rank == message.from) {
      buffer->Write(0, TestValues(message.seed, message.from, message.count,
                                  ReduceOp::kSum));
      batch.push_back(BatchSend(buffer->at(0), message.count, message.dtype,
                                message.to, message.tag));
    } else {
      batch.push_back(BatchReceive(buffer->at(0), message.count, message.dtype,
                                   message.from, message.tag));
    }
    buffers.emplace_back(message, std::move(buffer));
  }
  absl::Status status =
      rank.transport->Execute(Batch(std::move(batch)), ContextOf(rank));
  if (!status.ok()) return With("batch", rank, status);
  for (const auto& [message, buffer] : buffers) {
    status = buffer->Expect(
        0,
        TestValues(message.seed, message.from, message.count, ReduceOp::kSum),
        0);
    if (status.ok()) status = buffer->ExpectBorders();
    if (!status.ok()) return With(Describe(message), rank, status);
  }
  return absl::OkStatus();
}

}  // namespace muster
