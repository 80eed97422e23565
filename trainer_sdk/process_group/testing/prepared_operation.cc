#include "trainer_sdk/process_group/testing/prepared_operation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"
#include "trainer_sdk/process_group/testing/element_values.h"

namespace muster {
namespace {

// Elements in the memory of the transport under test, between two guard borders
// that must not be overwritten.
class GuardedBuffer {
 public:
  // The elements are filled with a pattern that no test value has.
  GuardedBuffer(ConformanceMemory& memory, DType dtype, int64_t length);

  void* at(int64_t element) const;
  void Write(int64_t begin, const std::vector<double>& values);

  // Returns Internal with the element's index if an element differs from
  // `expected` by more than `tolerance`.
  absl::Status Expect(int64_t begin, const std::vector<double>& expected,
                      double tolerance) const;
  // Returns Internal if one of the two guard borders, the bytes just before and
  // after the elements, was overwritten.
  absl::Status ExpectBorders() const;

 private:
  ConformanceMemory& memory_;
  const DType dtype_;
  const int64_t bytes_;
  const std::shared_ptr<void> block_;
};

// Length of a guard border in bytes, a multiple of malloc's alignment.
constexpr int64_t kBorder = 64;
constexpr uint8_t kPattern = 0xA5;

GuardedBuffer::GuardedBuffer(ConformanceMemory& memory, DType dtype,
                             int64_t length)
    : memory_(memory),
      dtype_(dtype),
      bytes_(length * SizeOf(dtype)),
      block_(memory.Allocate(bytes_ + 2 * kBorder)) {
  const std::vector<uint8_t> pattern(bytes_ + 2 * kBorder, kPattern);
  memory_.Write(block_.get(), pattern.data(), bytes_ + 2 * kBorder);
}

void* GuardedBuffer::at(int64_t element) const {
  return static_cast<uint8_t*>(block_.get()) + kBorder +
         element * SizeOf(dtype_);
}

void GuardedBuffer::Write(int64_t begin, const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * SizeOf(dtype_));
  for (size_t i = 0; i < values.size(); i++) {
    EncodeElement(values[i], dtype_, bytes.data() + i * SizeOf(dtype_));
  }
  memory_.Write(at(begin), bytes.data(), static_cast<int64_t>(bytes.size()));
}

absl::Status GuardedBuffer::Expect(int64_t begin,
                                   const std::vector<double>& expected,
                                   double tolerance) const {
  std::vector<uint8_t> bytes(expected.size() * SizeOf(dtype_));
  memory_.Read(bytes.data(), at(begin), static_cast<int64_t>(bytes.size()));
  for (size_t i = 0; i < expected.size(); i++) {
    const double found =
        DecodeElement(dtype_, bytes.data() + i * SizeOf(dtype_));
    if (!(std::fabs(found - expected[i]) <= tolerance)) {
      return absl::InternalError(
          absl::StrCat("element ", begin + static_cast<int64_t>(i), " is ",
                       found, ", not ", expected[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status GuardedBuffer::ExpectBorders() const {
  std::vector<uint8_t> bytes(bytes_ + 2 * kBorder);
  memory_.Read(bytes.data(), block_.get(), bytes_ + 2 * kBorder);
  for (int64_t i = 0; i < kBorder; i++) {
    if (bytes[i] != kPattern || bytes[kBorder + bytes_ + i] != kPattern) {
      return absl::InternalError("bytes beside a buffer were written");
    }
  }
  return absl::OkStatus();
}

std::string At(const std::string& what, const PreparedPlace& place) {
  return absl::StrCat(what, ", rank ", place.rank, " of ", place.size, ", #",
                      place.sequence);
}

std::string Describe(const MessageCase& test) {
  return absl::StrCat("message of ", test.count, " ", Name(test.dtype),
                      " from rank ", test.from, " to rank ", test.to, ", tag ",
                      test.tag);
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

std::vector<double> ValuesOf(const MessageCase& message) {
  return TestValues(message.seed, message.from, message.count, ReduceOp::kSum);
}

class PreparedCase : public PreparedOperation {
 public:
  PreparedCase(const CollectiveCase& test, const PreparedPlace& place)
      : PreparedOperation(At(muster::Describe(test), place)),
        test_(test),
        rank_(place.rank),
        size_(place.size),
        part_(PartOf(test, place.rank, place.size)) {
    if (part_.in_place >= 0) {
      both_.emplace(place.memory, test.dtype,
                    std::max(part_.input, part_.output));
      input_at_ = part_.input < part_.output ? part_.in_place : 0;
      output_at_ = part_.output < part_.input ? part_.in_place : 0;
    } else {
      if (part_.input >= 0) {
        input_.emplace(place.memory, test.dtype, part_.input);
      }
      if (part_.output >= 0) {
        output_.emplace(place.memory, test.dtype, part_.output);
      }
    }
    if (part_.input >= 0) {
      given_ = TestValues(test.seed, place.rank, part_.input, test.op);
      GuardedBuffer& input = both_ ? *both_ : *input_;
      input.Write(input_at_, given_);
      part_.operation.input = input.at(input_at_);
    }
    if (part_.output >= 0) {
      part_.operation.output = (both_ ? *both_ : *output_).at(output_at_);
    }
  }

  const Operation& operation() const override { return part_.operation; }

 private:
  absl::Status CheckBuffers() const override {
    if (part_.output >= 0) {
      absl::Status status =
          (both_ ? *both_ : *output_)
              .Expect(output_at_, ExpectedOutput(test_, rank_, size_),
                      Tolerance(test_, size_));
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
      absl::Status status = (*buffer)->ExpectBorders();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const CollectiveCase test_;
  const int rank_;
  const int size_;
  RankPart part_;
  std::optional<GuardedBuffer> both_, input_, output_;
  int64_t input_at_ = 0, output_at_ = 0;
  std::vector<double> given_;
};

// The buffer of one message on one rank. The sender's buffer is filled with the
// message; the receiver's is not.
class MessageBuffer {
 public:
  MessageBuffer(const MessageCase& test, const PreparedPlace& place)
      : test_(test), buffer_(place.memory, test.dtype, test.count) {
    if (place.rank == test.from) buffer_.Write(0, ValuesOf(test));
  }

  const MessageCase& test() const { return test_; }
  void* data() const { return buffer_.at(0); }
  absl::Status Check() const {
    const absl::Status status = buffer_.Expect(0, ValuesOf(test_), 0);
    return status.ok() ? buffer_.ExpectBorders() : status;
  }

 private:
  const MessageCase test_;
  GuardedBuffer buffer_;
};

class PreparedMessage : public PreparedOperation {
 public:
  PreparedMessage(const MessageCase& test, const PreparedPlace& place)
      : PreparedOperation(At(Describe(test), place)), buffer_(test, place) {
    operation_ =
        place.rank == test.from
            ? Send(buffer_.data(), test.count, test.dtype, test.to, test.tag)
            : Receive(buffer_.data(), test.count, test.dtype, test.from,
                      test.tag);
  }

  const Operation& operation() const override { return operation_; }

 private:
  absl::Status CheckBuffers() const override { return buffer_.Check(); }

  const MessageBuffer buffer_;
  Operation operation_;
};

class PreparedBatch : public PreparedOperation {
 public:
  PreparedBatch(const std::vector<MessageCase>& messages,
                const PreparedPlace& place)
      : PreparedOperation(At("batch", place)) {
    std::vector<PointToPoint> batch;
    for (const MessageCase& test : messages) {
      if (place.rank != test.from && place.rank != test.to) continue;
      void* const data =
          buffers_.emplace_back(std::make_unique<MessageBuffer>(test, place))
              ->data();
      batch.push_back(
          place.rank == test.from
              ? BatchSend(data, test.count, test.dtype, test.to, test.tag)
              : BatchReceive(data, test.count, test.dtype, test.from,
                             test.tag));
    }
    operation_ = Batch(std::move(batch));
  }

  const Operation& operation() const override { return operation_; }

 private:
  absl::Status CheckBuffers() const override {
    for (const auto& buffer : buffers_) {
      const absl::Status status = buffer->Check();
      if (status.ok()) continue;
      return absl::Status(status.code(),
                          absl::StrCat(Describe(buffer->test()), ": ",
                                       std::string(status.message())));
    }
    return absl::OkStatus();
  }

  std::vector<std::unique_ptr<MessageBuffer>> buffers_;
  Operation operation_;
};

}  // namespace

PreparedOperation::PreparedOperation(std::string what)
    : what_(std::move(what)) {}

absl::Status PreparedOperation::CheckResult(const absl::Status& ended) const {
  absl::Status status = ended.ok() ? CheckBuffers() : ended;
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(what_, ": ", std::string(status.message())));
}

std::unique_ptr<PreparedOperation> PrepareCase(const CollectiveCase& test,
                                               const PreparedPlace& place) {
  return std::make_unique<PreparedCase>(test, place);
}

std::unique_ptr<PreparedOperation> PrepareMessage(const MessageCase& test,
                                                  const PreparedPlace& place) {
  if (place.rank != test.from && place.rank != test.to) return nullptr;
  return std::make_unique<PreparedMessage>(test, place);
}

std::unique_ptr<PreparedOperation> PrepareBatch(
    const std::vector<MessageCase>& messages, const PreparedPlace& place) {
  return std::make_unique<PreparedBatch>(messages, place);
}

namespace {

// The timeout of each operation, much longer than the operation takes, so that
// only a broken transport reaches it.
constexpr auto kOperationTimeout = std::chrono::seconds(30);

PreparedPlace PlaceOf(const RankUnderTest& rank) {
  return {*rank.memory, rank.rank, rank.size, rank.sequence};
}

absl::Status Perform(const PreparedOperation& prepared,
                     const RankUnderTest& rank) {
  OperationContext context;
  context.sequence = rank.sequence;
  context.deadline = MonotonicNow() + kOperationTimeout;
  return prepared.CheckResult(
      rank.transport->Execute(prepared.operation(), context));
}

}  // namespace

absl::Status RunCase(const CollectiveCase& test, RankUnderTest& rank) {
  rank.sequence++;
  return Perform(*PrepareCase(test, PlaceOf(rank)), rank);
}

absl::Status RunMessage(const MessageCase& test, RankUnderTest& rank) {
  const auto prepared = PrepareMessage(test, PlaceOf(rank));
  return prepared == nullptr ? absl::OkStatus() : Perform(*prepared, rank);
}

absl::Status RunBatch(const std::vector<MessageCase>& messages,
                      RankUnderTest& rank) {
  return Perform(*PrepareBatch(messages, PlaceOf(rank)), rank);
}

}  // namespace muster
