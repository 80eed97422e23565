#include "trainer_sdk/checkpoint/exchange.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

constexpr int64_t kMaxMessageBytes = int64_t{1} << 30;

std::string Written(const RankMessage& message) {
  std::string text;
  AppendInteger<int64_t>(static_cast<int64_t>(message.status.code()), &text);
  AppendString(std::string(message.status.message()), &text);
  AppendString(message.bytes, &text);
  return text;
}

}  // namespace

absl::StatusOr<std::vector<RankMessage>> Exchange(ProcessGroup& group,
                                                  const RankMessage& mine,
                                                  CallOptions options) {
  const auto ranks = static_cast<size_t>(group.size());
  const std::string text = Written(mine);
  const auto length = static_cast<int64_t>(text.size());
  std::vector<int64_t> lengths(ranks);
  absl::Status status =
      group.Run(AllGather(&length, lengths.data(), 1, DType::kInt64), options);
  if (!status.ok()) return status;
  int64_t total = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    if (lengths[rank] < 0 || lengths[rank] > kMaxMessageBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "rank ", rank, " has ", lengths[rank],
          " bytes to tell of a checkpoint; at most ", kMaxMessageBytes));
    }
    total += lengths[rank];
  }
  std::string all(static_cast<size_t>(total), '\0');
  status = group.Run(AllGather(text.data(), all.data(), lengths, DType::kInt8),
                     options);
  if (!status.ok()) return status;
  std::vector<RankMessage> messages;
  std::string_view rest = all;
  for (size_t rank = 0; rank < ranks; ++rank) {
    MessageReader reader(rest.substr(0, static_cast<size_t>(lengths[rank])));
    rest.remove_prefix(static_cast<size_t>(lengths[rank]));
    const auto code = static_cast<absl::StatusCode>(reader.Number());
    const std::string message(reader.Text());
    RankMessage received = {absl::Status(code, message),
                            std::string(reader.Text())};
    if (!reader.whole() || !reader.at_end()) {
      received.status = absl::DataLossError("tells something torn");
    }
    messages.push_back(std::move(received));
  }
  return messages;
}

absl::Status FirstFailureOf(const std::vector<RankMessage>& messages) {
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    const absl::Status& status = messages[rank].status;
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat("rank ", rank, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace muster
