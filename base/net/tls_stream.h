#ifndef MUSTER_BASE_NET_TLS_STREAM_H_
#define MUSTER_BASE_NET_TLS_STREAM_H_

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

struct ssl_ctx_st;
struct ssl_st;

namespace muster {

// The key that both ends of an encrypted connection know, prepared for TLS.
// Copies of the object share the key. Thread-safe.
class TlsContext {
 public:
  // `key`: kChannelKeyBytes random bytes. `purpose`: names the protocol that
  // the connections carry. Each purpose has a pre-shared key of its own,
  // derived from `key` with HKDF-SHA256. So two ends with different purposes
  // refuse each other.
  //   InvalidArgument  the key has another length
  //   Internal         OpenSSL lacks an algorithm
  static absl::StatusOr<TlsContext> Make(std::string_view key,
                                         std::string_view purpose);

 private:
  friend class TlsStream;
  explicit TlsContext(std::shared_ptr<ssl_ctx_st> context)
      : context_(std::move(context)) {}

  std::shared_ptr<ssl_ctx_st> context_;
};

// One end of a connection that is encrypted and authenticated with TLS 1.3 and
// a pre-shared key (TLS_AES_128_GCM_SHA256, with an ephemeral Diffie-Hellman
// exchange). Never blocks, whatever the mode of the socket, and raises no
// SIGPIPE. The caller polls the socket, and keeps the socket open while this
// object lives. Not thread-safe.
//
// The closing of the connection is not authenticated: an attacker can cut the
// connection off, which the protocol above TLS must detect.
class TlsStream {
 public:
  enum class Side { kClient, kServer };

  // The handling of bytes that have arrived at the socket, but that the current
  // Read does not need.
  enum class Buffering {
    // Read takes all bytes that have arrived, with few system calls. This
    // object keeps the bytes that the caller did not ask for. The socket does
    // not poll as readable for these bytes, so poll it only after Read has
    // failed with EAGAIN.
    kAhead,
    // Read leaves bytes that it does not need in the socket, which then polls
    // as readable. A Read must ask for kMaxRecordBytes or more. An idle stream
    // holds little memory.
    kNone,
  };

  struct Options {
    Buffering buffering = Buffering::kAhead;
    // Number of records after which this end changes its sending key. AES-GCM
    // may protect at most 2^24.5 records with one key (RFC 8446, section 5.5).
    uint64_t records_per_key = uint64_t{1} << 22;
  };

  // `fd`: a connected stream socket.
  TlsStream(const TlsContext& context, Side side, int fd,
            const Options& options);
  TlsStream(const TlsContext& context, Side side, int fd);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // Continues the handshake. Returns the poll events to wait for before the
  // next call; 0: the handshake is complete, and the peer has proved that it
  // knows the key.
  //   PermissionDenied  the peer has another key, another purpose, or does not
  //                     speak TLS
  //   Unavailable       the connection broke or was closed
  absl::StatusOr<short> Handshake();
  // Waits for the handshake. DeadlineExceeded: the peer does not answer.
  absl::Status FinishHandshake(Instant deadline);

  // Reads as recvmsg does: fills `pieces` in order. The result is below the
  // size of `pieces` in three cases: no more data has arrived, kMaxReadBytes
  // were read, or (with Buffering::kNone) less than kMaxRecordBytes of `pieces`
  // is left. 0: the peer closed the connection. -1 with errno: EAGAIN, EBADMSG
  // (the data was forged or damaged; the connection is lost), or an error of
  // the socket.
  ssize_t Read(std::span<const iovec> pieces);
  ssize_t Read(void* data, size_t bytes);

  // Like sendmsg: returns the number of bytes that the socket has accepted. -1
  // with errno: EAGAIN or an error of the socket. If bytes remain, the next
  // call must pass all of them again, possibly at another address and with more
  // bytes after them.
  ssize_t Write(std::span<const iovec> pieces);
  ssize_t Write(const void* data, size_t bytes);

  // Maximum number of bytes that one call of Read returns.
  static constexpr size_t kMaxReadBytes = size_t{1} << 20;
  // The largest number of bytes in one record of TLS.
  static constexpr size_t kMaxRecordBytes = size_t{16} << 10;

 private:
  struct Socket;

  // Converts a failed OpenSSL operation to the result of Read or Write: -1 with
  // errno, or 0 at the end of the connection. `result`: what OpenSSL returned.
  ssize_t Failed(int result);
  // Encrypts bytes from the start of `data` as one TLS record, which is stored
  // in the output buffer of socket_. Returns the number of bytes taken from
  // `data`; 0 with errno: the connection is no longer usable.
  size_t EncryptRecord(const void* data, size_t bytes);
  // Sends the bytes in the buffer of socket_. Returns false with errno if the
  // socket does not accept all of them.
  bool Flush();

  const TlsContext context_;
  const Options options_;
  std::unique_ptr<Socket> socket_;
  ssl_st* ssl_ = nullptr;
  // The errno of a failure after which the connection is unusable; 0: none.
  int broken_ = 0;
  bool ended_ = false;
  bool established_ = false;
  // number of TLS records that this end has sent with its current key
  uint64_t records_ = 0;
  // Number of bytes that Write has encrypted but not yet counted in a result,
  // because the socket has not taken all of them.
  size_t held_back_ = 0;
  // buffer in which small pieces are joined into one record
  std::vector<char> record_;
};

// A connected stream socket, in clear text or encrypted.
struct StreamSocket {
  OwnedFd fd;
  // null: the connection is in clear text
  std::unique_ptr<TlsStream> tls;

  bool open() const { return fd.open(); }

  // Send and Receive are like sendmsg and recvmsg, but never block and cause no
  // SIGPIPE. If Send returns less than the size of `pieces`, the caller must
  // call Send again with the remaining bytes.
  ssize_t Send(std::span<iovec> pieces) {
    if (tls != nullptr) return tls->Write(pieces);
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return sendmsg(fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  ssize_t Receive(std::span<iovec> pieces) {
    if (tls != nullptr) return tls->Read(pieces);
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return recvmsg(fd.get(), &message, MSG_DONTWAIT);
  }
};

}  // namespace muster

#endif  // MUSTER_BASE_NET_TLS_STREAM_H_
