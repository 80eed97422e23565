// Fuzzes the parsers of bytes that arrive at a trainer: frames of other ranks
// over TCP; texts that other ranks have written to the store (signatures of
// operations, causes of failures, names of peers, lists of texts); and replies
// of a store. The first byte selects the kind. The rest is the bytes
// themselves, or edits (edited_bytes.h) of valid ones. The bytes arrive in
// pieces.
//
// Aborts if accepted input changes when it is written and read again. Aborts if
// a reply is parsed differently when it arrives in pieces of other sizes. Also
// aborts if a receive operation completes before it has begun. AddressSanitizer
// finds writes outside of a buffer.

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/little_endian.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "store/wire/reply.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/store_exchange.h"
#include "trainer_sdk/tcp/frame_connection.h"
#include "trainer_sdk/tcp/frame_inbox.h"

namespace muster {
namespace {

constexpr int64_t kKeepBytes = 256;

OperationSignature AllReduceOf(uint64_t sequence) {
  OperationSignature signature;
  signature.sequence = sequence;
  signature.kind = OperationKind::kAllReduce;
  signature.count = 4;
  return signature;
}

std::string Frame(const FrameHeader& header, std::string_view data) {
  const EncodedFrameHeader encoded = EncodeFrameHeader(header);
  return std::string(encoded.data(), encoded.size()) + std::string(data);
}

std::string Part(uint64_t sequence, std::string_view data) {
  return Frame({.signature = AllReduceOf(sequence),
                .bytes = static_cast<int64_t>(data.size())},
               data);
}

std::string Message(int tag, std::string_view data) {
  const auto bytes = static_cast<int64_t>(data.size());
  return Frame({.type = FrameType::kMessage,
                .label = {tag, DType::kInt8, bytes},
                .bytes = bytes},
               data);
}

// Returns the valid frames of a peer that match the receive operations of class
// Receives.
std::string SoundFrames() {
  return Frame({.type = FrameType::kAnnounce, .signature = AllReduceOf(1)},
               "") +
         Message(7, "early") + Part(1, "01234567") + Part(1, "89abcdef") +
         Message(3, "xyz") +
         Frame({.type = FrameType::kAnnounce, .signature = AllReduceOf(2)},
               "") +
         Part(2, "ABCDEFGH") + Frame({.type = FrameType::kGoodbye}, "");
}

void CheckHeaders(std::string_view bytes) {
  for (; bytes.size() >= kFrameHeaderBytes;
       bytes.remove_prefix(kFrameHeaderBytes)) {
    const auto header = DecodeFrameHeader(bytes.data());
    if (!header.ok()) continue;
    MUSTER_CHECK(header->bytes >= 0);
    const EncodedFrameHeader once = EncodeFrameHeader(*header);
    const auto again = DecodeFrameHeader(once.data());
    MUSTER_CHECK(again.ok() && EncodeFrameHeader(*again) == once);
    MUSTER_CHECK(!Describe(header->signature).empty());
  }
}

// The receive operations of a rank: two collectives and two messages. Each
// operation has a buffer of exactly its size, so AddressSanitizer finds an
// access outside of the buffer.
class Receives {
 public:
  Receives() : inbox_(0, {{0, "here", 10}, {1, "there", 20}}, kKeepBytes) {
    int fds[2];
    MUSTER_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    connection_ = std::make_unique<FrameConnection>(
        1, StreamSocket{.fd = OwnedFd(fds[0])});
    peer_ = OwnedFd(fds[1]);
  }

  // Sends `bytes` from the peer, and lets the receiving rank read them. Returns
  // false once the connection has failed.
  bool Arrive(std::string_view bytes) {
    MUSTER_CHECK(send(peer_.get(), bytes.data(), bytes.size(),
                      MSG_NOSIGNAL | MSG_DONTWAIT) ==
                 static_cast<ssize_t>(bytes.size()));
    return Read();
  }

  // Begins an operation: collective 1 if `which` is 0, collective 2 if it is 1,
  // and otherwise the receive of a message. Does nothing if an earlier
  // operation is incomplete. Returns false on an error.
  bool Begin(size_t which) {
    for (const auto& [ticket, buffer] : posted_) {
      // this receive of the earlier operation is not complete: begin nothing
      if (!inbox_.done(ticket)) return true;
    }
    posted_.clear();
    OperationSignature signature = AllReduceOf(which + 1);
    if (which >= 2) signature.kind = OperationKind::kReceive;
    if (!inbox_.Begin(signature).ok()) return false;
    if (which < 2) {
      for (size_t parts = 2 - which; parts > 0; --parts) {
        auto buffer = std::make_unique<char[]>(8);
        const Ticket ticket = inbox_.Post(1, buffer.get(), 8);
        posted_.emplace_back(ticket, std::move(buffer));
      }
    } else {
      const int tag = which % 2 == 0 ? 7 : 3;
      const int64_t count = tag == 7 ? 5 : 3;
      auto buffer = std::make_unique<char[]>(static_cast<size_t>(count));
      const Ticket ticket =
          inbox_.PostMessage(1, {tag, DType::kInt8, count}, buffer.get());
      posted_.emplace_back(ticket, std::move(buffer));
    }
    for (const auto& [ticket, buffer] : posted_) {
      if (!inbox_.status(ticket).ok()) return false;
    }
    return Read();
  }

 private:
  bool Read() {
    const auto read = connection_->Read(inbox_);
    if (!read.ok()) {
      MUSTER_CHECK(!read.status().message().empty());
      return false;
    }
    for (const auto& [ticket, buffer] : posted_) {
      if (!inbox_.status(ticket).ok()) return false;
      MUSTER_CHECK(inbox_.peer(ticket) == 1);
    }
    MUSTER_CHECK(inbox_.AwaitedBytes(1) >= 0 && inbox_.AwaitedBytes(1) <= 16);
    return !connection_->ended();
  }

  FrameInbox inbox_;
  std::unique_ptr<FrameConnection> connection_;
  OwnedFd peer_;
  std::vector<std::pair<Ticket, std::unique_ptr<char[]>>> posted_;
};

// Lets a peer's frames arrive in pieces. The first bytes of `input` select the
// sizes of the pieces. They also select the receive operations that the rank
// begins in between.
void FuzzFrames(std::string_view input) {
  constexpr size_t kTurns = 8;
  if (input.size() < kTurns) return;
  const std::string_view turns = input.substr(0, kTurns);
  const std::string stream = EditedBytes(SoundFrames(), input.substr(kTurns));
  CheckHeaders(stream);
  std::string_view bytes = stream;
  Receives receives;
  for (size_t i = 0; i < kTurns; ++i) {
    const auto turn = static_cast<unsigned char>(turns[i]);
    const size_t size = i + 1 == kTurns ? bytes.size() : turn;
    if (!receives.Begin(turn % 4)) return;
    if (!receives.Arrive(bytes.substr(0, size))) return;
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
}

void FuzzTexts(std::string_view input) {
  const std::string text(input);
  if (const auto signature = DecodeSignature(text); signature.ok()) {
    MUSTER_CHECK(!Describe(*signature).empty());
    const auto again = DecodeSignature(Encoded(*signature));
    MUSTER_CHECK(again.ok() && *again == *signature) << text;
  }
  const absl::Status failure = DecodeFailure(text, 1);
  MUSTER_CHECK(!failure.ok());
  MUSTER_CHECK(DecodeFailure(EncodeFailure(1, failure), 1).code() ==
               failure.code());
  if (const auto texts = DecodeTexts(text, 2); texts.ok()) {
    const auto again = DecodeTexts(EncodeTexts(*texts), 2);
    MUSTER_CHECK(texts->size() == 2 && again.ok() && *again == *texts) << text;
  }
  if (const auto name = DecodePeerName(3, text); name.ok()) {
    MUSTER_CHECK(name->host.size() <= 255);
    const auto again = DecodePeerName(3, Encoded(*name));
    MUSTER_CHECK(again.ok() && Describe(*again) == Describe(*name)) << text;
  }
}

// Parses one reply of a store that arrives byte by byte. Returns its length, 0
// if it is incomplete, or -1 if it is invalid.
int64_t ReadByBytes(store::StoreCommand command, std::string_view bytes,
                    store::StoreReply* reply) {
  store::ReplyParser parser(command, 2);
  for (size_t end = 0; end <= bytes.size(); ++end) {
    const auto length = parser.Parse(bytes.substr(0, end), reply);
    if (!length.ok()) return -1;
    MUSTER_CHECK(*length <= end);
    if (*length > 0) return static_cast<int64_t>(*length);
  }
  return 0;
}

void FuzzReply(std::string_view input) {
  if (input.empty()) return;
  constexpr store::StoreCommand kCommands[] = {
      store::StoreCommand::kAdd,      store::StoreCommand::kGet,
      store::StoreCommand::kMultiGet, store::StoreCommand::kQueuePop,
      store::StoreCommand::kListKeys, store::StoreCommand::kWait,
      store::StoreCommand::kPing};
  const auto command =
      kCommands[static_cast<unsigned char>(input[0]) % std::size(kCommands)];
  std::string sound;
  AppendInteger(int64_t{2}, &sound);
  AppendString("ab", &sound);
  AppendString("", &sound);
  const std::string bytes = EditedBytes(sound, input.substr(1));
  store::StoreReply pieces, whole;
  const int64_t by_byte = ReadByBytes(command, bytes, &pieces);
  store::ReplyParser parser(command, 2);
  const auto at_once = parser.Parse(bytes, &whole);
  MUSTER_CHECK((at_once.ok() ? static_cast<int64_t>(*at_once) : -1) == by_byte);
  if (by_byte <= 0) return;
  MUSTER_CHECK(whole.number == pieces.number &&
               whole.strings == pieces.strings);
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const int kind = static_cast<unsigned char>(input[0]) % 8;
  input.remove_prefix(1);
  switch (kind) {
    case 0:
      return CheckHeaders(EditedBytes(SoundFrames(), input));
    case 1:
      return CheckHeaders(input);
    case 2:
      FuzzTexts(EditedBytes(Encoded(AllReduceOf(3)), input));
      FuzzTexts(EditedBytes("4711 node7", input));
      FuzzTexts(EditedBytes("14 0 rank 3 has died", input));
      return FuzzTexts(EditedBytes(EncodeTexts({"ab", "c"}), input));
    case 3:
      return FuzzReply(input);
    default:
      return FuzzFrames(input);
  }
}

}  // namespace muster
