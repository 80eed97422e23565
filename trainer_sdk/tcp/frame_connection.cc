#include "trainer_sdk/tcp/frame_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/net/connect.h"

namespace muster {
namespace {

static_assert(std::endian::native == std::endian::little,
              "headers and elements go over the wire as they are in memory");

// the characters "MUTF"; marks a frame header
constexpr uint32_t kMagic = 0x4d555446;

// The layout of a frame header on the wire. Every field is at a multiple of its
// size, so there is no padding.
struct Wire {
  uint32_t magic;
  uint8_t type;
  uint8_t kind;
  uint8_t dtype;
  uint8_t reduce_op;
  uint64_t sequence;
  int64_t count;
  uint64_t counts_hash;
  int64_t bytes;
  int32_t root;
  int32_t tag;
  uint64_t reserved[2];
};
static_assert(sizeof(Wire) == kFrameHeaderBytes);

}  // namespace

EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header) {
  const bool message = header.type == FrameType::kMessage;
  Wire wire{};
  wire.magic = kMagic;
  wire.type = static_cast<uint8_t>(header.type);
  wire.kind = static_cast<uint8_t>(header.signature.kind);
  wire.dtype = static_cast<uint8_t>(message ? header.label.dtype
                                            : header.signature.dtype);
  wire.reduce_op = static_cast<uint8_t>(header.signature.reduce_op);
  wire.sequence = header.signature.sequence;
  wire.count = message ? header.label.count : header.signature.count;
  wire.counts_hash = header.signature.counts_hash;
  wire.bytes = header.bytes;
  wire.root = header.signature.root;
  wire.tag = header.label.tag;
  EncodedFrameHeader encoded;
  std::memcpy(encoded.data(), &wire, sizeof(wire));
  return encoded;
}

absl::StatusOr<FrameHeader> DecodeFrameHeader(const char* bytes) {
  Wire wire;
  std::memcpy(&wire, bytes, sizeof(wire));
  if (wire.magic != kMagic ||
      wire.type > static_cast<uint8_t>(FrameType::kGoodbye) ||
      wire.kind >= kSignatureKinds || wire.dtype >= kDTypes ||
      wire.reduce_op >= kReduceOps || wire.bytes < 0 || wire.count < 0) {
    return absl::InvalidArgumentError("what arrived is no frame");
  }
  FrameHeader header;
  header.type = static_cast<FrameType>(wire.type);
  header.bytes = wire.bytes;
  const bool has_data =
      header.type == FrameType::kPart || header.type == FrameType::kMessage;
  const int64_t element = SizeOf(static_cast<DType>(wire.dtype));
  if ((!has_data && wire.bytes != 0) ||
      (header.type == FrameType::kMessage &&
       (wire.bytes % element != 0 || wire.bytes / element != wire.count))) {
    return absl::InvalidArgumentError("a frame with a wrong length arrived");
  }
  if (header.type == FrameType::kMessage) {
    header.label =
        MessageLabel{wire.tag, static_cast<DType>(wire.dtype), wire.count};
    return header;
  }
  header.signature.kind = static_cast<OperationKind>(wire.kind);
  header.signature.dtype = static_cast<DType>(wire.dtype);
  header.signature.reduce_op = static_cast<ReduceOp>(wire.reduce_op);
  header.signature.sequence = wire.sequence;
  header.signature.count = wire.count;
  header.signature.counts_hash = wire.counts_hash;
  header.signature.root = wire.root;
  return header;
}

namespace {

// The size of the staging buffer. A small frame is read into this buffer
// together with its header, and then the frame's data is copied to the
// destination.
constexpr size_t kStagingBytes = 16 << 10;
// The maximum number of iovecs per system call. A frame needs two: header and
// data.
constexpr int kMaxPieces = 32;
// The number of bytes that are read from one connection before the caller gets
// the chance to check its other connections.
constexpr int64_t kReadAtOnce = 1 << 20;

void SetOption(int fd, int level, int option, int value) {
  // An error of setsockopt is ignored: without the option, data is still
  // transferred correctly. Only transfers or the detection of failures may be
  // slower.
  (void)setsockopt(fd, level, option, &value, sizeof(value));
}

// Whether the loss of a frame of this type is an error, if the frame is
// discarded because the peer accepts no more data. Such a peer has left the
// group, and needs neither kAnnounce nor kGoodbye.
bool Matters(FrameType type) {
  return type != FrameType::kAnnounce && type != FrameType::kGoodbye;
}

}  // namespace

FrameConnection::FrameConnection(int peer, StreamSocket socket)
    : peer_(peer), socket_(std::move(socket)), staged_(kStagingBytes) {
  const int fd = socket_.fd.get();
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  // Keepalive probes detect a vanished host after 30 s, even if the operation's
  // deadline is later.
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
  LimitRetransmissionInterval(fd);
}

void FrameConnection::Send(const FrameHeader& header, const void* data) {
  if (lost_frames_ || ended_) {
    lost_frames_ |= Matters(header.type);
    return;
  }
  queue_.push_back(Outgoing{EncodeFrameHeader(header),
                            static_cast<const char*>(data), header.bytes,
                            header.type});
  outgoing_bytes_ += kFrameHeaderBytes + header.bytes;
  if (queue_.size() == 1) Write();
}

bool FrameConnection::Write() {
  bool any = false;
  while (!queue_.empty()) {
    std::array<iovec, kMaxPieces> pieces;
    int count = 0;
    int64_t skip = sent_of_first_, asked = 0;
    for (const Outgoing& frame : queue_) {
      if (count + 2 > kMaxPieces) break;
      if (skip < kFrameHeaderBytes) {
        pieces[count++] = {const_cast<char*>(frame.header.data()) + skip,
                           static_cast<size_t>(kFrameHeaderBytes - skip)};
        asked += kFrameHeaderBytes - skip;
        skip = 0;
      } else {
        skip -= kFrameHeaderBytes;
      }
      if (frame.bytes > skip) {
        pieces[count++] = {const_cast<char*>(frame.data) + skip,
                           static_cast<size_t>(frame.bytes - skip)};
        asked += frame.bytes - skip;
      }
      skip = 0;
    }
    const ssize_t n = socket_.Send({pieces.data(), static_cast<size_t>(count)});
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) WriteFailed(errno);
      return any;
    }
    any = true;
    outgoing_bytes_ -= n;
    sent_of_first_ += n;
    while (!queue_.empty() &&
           sent_of_first_ >= kFrameHeaderBytes + queue_.front().bytes) {
      sent_of_first_ -= kFrameHeaderBytes + queue_.front().bytes;
      queue_.pop_front();
    }
    if (n < asked) return true;  // a part was sent: the socket's buffer is full
  }
  return any;
}

void FrameConnection::WriteFailed(int error) {
  for (const Outgoing& frame : queue_) {
    lost_frames_ |= Matters(frame.type);
  }
  if (why_.empty()) why_ = std::strerror(error);
  queue_.clear();
  outgoing_bytes_ = 0;
  sent_of_first_ = 0;
}

absl::StatusOr<bool> FrameConnection::Consume(FrameSink& sink) {
  bool any = false;
  for (;;) {
    if (!arriving_) {
      if (staged_end_ - staged_begin_ < kFrameHeaderBytes) return any;
      absl::StatusOr<FrameHeader> header =
          DecodeFrameHeader(staged_.data() + staged_begin_);
      if (!header.ok()) return header.status();
      staged_begin_ += kFrameHeaderBytes;
      arriving_ = *header;
      destination_.reset();
      placed_bytes_ = 0;
      any = true;
    }
    if (arriving_->type == FrameType::kGoodbye) {
      left_ = true;
      arriving_.reset();
      continue;
    }
    if (!destination_) {
      const absl::StatusOr<FramePlace> placement =
          sink.Place(peer_, *arriving_);
      if (!placement.ok()) return placement.status();
      held_ = placement->kind == FramePlace::Kind::kNotYet;
      if (held_) return any;
      destination_ = static_cast<char*>(placement->data);
    }
    const int64_t n =
        std::min<int64_t>(arriving_->bytes - placed_bytes_,
                          static_cast<int64_t>(staged_end_ - staged_begin_));
    if (n > 0) {
      std::memcpy(*destination_ + placed_bytes_, staged_.data() + staged_begin_,
                  n);
      staged_begin_ += n;
      placed_bytes_ += n;
    }
    if (placed_bytes_ < arriving_->bytes) return any;
    sink.Placed(peer_, *arriving_);
    arriving_.reset();
    any = true;
  }
}

absl::StatusOr<bool> FrameConnection::Read(FrameSink& sink) {
  bool any = false;
  int64_t read = 0;
  while (read < kReadAtOnce) {
    const absl::StatusOr<bool> consumed = Consume(sink);
    if (!consumed.ok()) return consumed.status();
    any |= *consumed;
    if (held_ || ended_) return any;
    std::memmove(staged_.data(), staged_.data() + staged_begin_,
                 staged_end_ - staged_begin_);
    staged_end_ -= staged_begin_;
    staged_begin_ = 0;
    // Read two pieces with one system call: the rest of the arriving frame's
    // data, directly to its destination, and the bytes that follow the frame,
    // to the staging buffer. Data in the staging buffer must be copied once
    // more. So while a long frame arrives, the staging buffer gets no data of
    // the next frame, but only its header.
    const int64_t remaining = arriving_ ? arriving_->bytes - placed_bytes_ : 0;
    const size_t stage = remaining >= static_cast<int64_t>(kStagingBytes)
                             ? kFrameHeaderBytes
                             : kStagingBytes - staged_end_;
    std::array<iovec, 2> pieces;
    int count = 0;
    if (remaining > 0) {
      pieces[count++] = {*destination_ + placed_bytes_,
                         static_cast<size_t>(remaining)};
    }
    pieces[count++] = {staged_.data() + staged_end_, stage};
    const ssize_t n =
        socket_.Receive({pieces.data(), static_cast<size_t>(count)});
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return any;
    if (n <= 0) {
      ended_ = true;
      if (why_.empty() || n == 0) {
        why_ = n == 0 ? "closed its connection" : std::strerror(errno);
      }
      return true;
    }
    any = true;
    read += n;
    const int64_t direct = std::min<int64_t>(n, remaining);
    placed_bytes_ += direct;
    staged_end_ += n - direct;
    if (n < remaining + static_cast<int64_t>(stage)) {
      // The socket had fewer bytes than were asked for, so it is empty now.
      // Pass the bytes to the sink, and do not try to read again.
      const absl::StatusOr<bool> rest = Consume(sink);
      if (!rest.ok()) return rest.status();
      return true;
    }
  }
  return any;
}

}  // namespace muster
