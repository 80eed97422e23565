#include "base/net/tls_stream.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/channel_key.h"
#include "base/check.h"
#include "base/poll.h"

namespace muster {
namespace {

constexpr size_t kRecordBytes = TlsStream::kMaxRecordBytes;
// Sizes in bytes of a stream's read buffer and write buffer. Each holds several
// TLS records, so that one system call reads or sends several. Measured: an
// all_reduce of 64 MB takes longer with 128 KiB than with 64 KiB, and longest
// with 512 KiB.
constexpr size_t kReadBufferBytes = 64 << 10;
constexpr size_t kWriteBufferBytes = 64 << 10;
constexpr std::array<unsigned char, 2> kAes128GcmSha256 = {0x13, 0x01};
constexpr char kSalt[] = "muster channel key";

// The pre-shared key for one purpose (the protocol of a connection), and the
// identity that names the key in the handshake.
struct PresharedKey {
  std::array<unsigned char, kChannelKeyBytes> bytes;
  std::string identity;

  ~PresharedKey() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

// Derives the pre-shared key for `purpose` from `key` with HKDF-SHA256 (RFC
// 5869).
bool Derive(std::string_view key, std::string_view purpose,
            PresharedKey* derived) {
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> hkdf(
      EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr), &EVP_PKEY_CTX_free);
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  size_t length = derived->bytes.size();
  return hkdf != nullptr && EVP_PKEY_derive_init(hkdf.get()) == 1 &&
         EVP_PKEY_CTX_set_hkdf_md(hkdf.get(), EVP_sha256()) == 1 &&
         EVP_PKEY_CTX_set1_hkdf_salt(hkdf.get(), bytes(kSalt),
                                     sizeof(kSalt) - 1) == 1 &&
         EVP_PKEY_CTX_set1_hkdf_key(hkdf.get(), bytes(key),
                                    static_cast<int>(key.size())) == 1 &&
         EVP_PKEY_CTX_add1_hkdf_info(hkdf.get(), bytes(purpose),
                                     static_cast<int>(purpose.size())) == 1 &&
         EVP_PKEY_derive(hkdf.get(), derived->bytes.data(), &length) == 1 &&
         length == derived->bytes.size();
}

const PresharedKey& KeyOf(SSL* ssl) {
  return *static_cast<const PresharedKey*>(
      SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

// Returns a TLS session that holds the pre-shared key; null: out of memory.
SSL_SESSION* NewSession(SSL* ssl) {
  const PresharedKey& key = KeyOf(ssl);
  SSL_SESSION* const session = SSL_SESSION_new();
  if (session == nullptr) return nullptr;
  const SSL_CIPHER* const cipher =
      SSL_CIPHER_find(ssl, kAes128GcmSha256.data());
  if (cipher != nullptr &&
      SSL_SESSION_set1_master_key(session, key.bytes.data(),
                                  key.bytes.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  SSL_SESSION_free(session);
  return nullptr;
}

// Callback of OpenSSL in a client: returns the key that the client offers.
int OfferKey(SSL* ssl, const EVP_MD* hash, const unsigned char** identity,
             size_t* identity_bytes, SSL_SESSION** session) {
  *session = nullptr;
  // The pre-shared key can be used only with SHA-256, so no key is offered if
  // the TLS handshake uses another hash. OpenSSL passes null while the hash is
  // not known.
  if (hash != nullptr && EVP_MD_get_type(hash) != NID_sha256) return 0;
  *session = NewSession(ssl);
  if (*session == nullptr) return 0;
  const PresharedKey& key = KeyOf(ssl);
  *identity = reinterpret_cast<const unsigned char*>(key.identity.data());
  *identity_bytes = key.identity.size();
  return 1;
}

// Callback of OpenSSL in a server: looks up the key whose identity the client
// offers.
int FindKey(SSL* ssl, const unsigned char* identity, size_t identity_bytes,
            SSL_SESSION** session) {
  *session = nullptr;
  const std::string_view offered(reinterpret_cast<const char*>(identity),
                                 identity_bytes);
  // The client offers another key. The result 1 without a session makes OpenSSL
  // refuse the client; 0 would report an internal error.
  if (offered != KeyOf(ssl).identity) return 1;
  *session = NewSession(ssl);
  return *session != nullptr ? 1 : 0;
}

std::string LastReason() {
  const unsigned long error = ERR_peek_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "unknown error";
}

absl::Status OpenSslError(const char* what) {
  return absl::InternalError(
      absl::StrCat("OpenSSL: ", what, ": ", LastReason()));
}

}  // namespace

absl::StatusOr<TlsContext> TlsContext::Make(std::string_view key,
                                            std::string_view purpose) {
  if (key.size() != kChannelKeyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a channel key has ", kChannelKeyBytes, " bytes, not ", key.size()));
  }
  ERR_clear_error();
  auto preshared = std::make_unique<PresharedKey>();
  preshared->identity = std::string(purpose);
  if (!Derive(key, purpose, preshared.get())) return OpenSslError("HKDF");
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  if (context == nullptr) return OpenSslError("no context");
  // When the last copy of this TlsContext is destroyed, the deleter below frees
  // the SSL_CTX and deletes `owned`, the pre-shared key.
  PresharedKey* const owned = preshared.release();
  std::shared_ptr<SSL_CTX> shared(context, [owned](SSL_CTX* ctx) {
    SSL_CTX_free(ctx);
    delete owned;
  });
  SSL_CTX_set_app_data(context, owned);
  SSL_CTX_set_psk_use_session_callback(context, OfferKey);
  SSL_CTX_set_psk_find_session_callback(context, FindKey);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1 ||
      SSL_CTX_set1_groups_list(context, "X25519:P-256") != 1 ||
      SSL_CTX_set_num_tickets(context, 0) != 1) {
    return OpenSslError("TLS 1.3 with AES-128-GCM");
  }
  return TlsContext(std::move(shared));
}

// The socket in the form that OpenSSL uses (a BIO). Never blocks and raises no
// SIGPIPE. The bytes that OpenSSL writes are buffered until Flush.
struct TlsStream::Socket {
  int fd = -1;
  int error = 0;       // errno of the last failure that is not EAGAIN
  bool ended = false;  // whether the peer has closed its sending direction
  std::vector<char> out;
  size_t sent = 0;  // number of bytes of `out` that have been sent

  static int Send(BIO* bio, const char* data, int bytes) {
    auto* const socket = static_cast<Socket*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    socket->out.insert(socket->out.end(), data, data + bytes);
    return bytes;
  }

  static int Receive(BIO* bio, char* data, int bytes) {
    auto* const socket = static_cast<Socket*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    ssize_t count;
    do {
      count = recv(socket->fd, data, static_cast<size_t>(bytes), MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count > 0) return static_cast<int>(count);
    if (count == 0) {
      socket->ended = true;
      return 0;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      BIO_set_retry_read(bio);
    } else {
      socket->error = errno;
    }
    return -1;
  }

  static long Control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF) {
      return static_cast<Socket*>(BIO_get_data(bio))->ended ? 1 : 0;
    }
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static const BIO_METHOD* Method() {
    static const BIO_METHOD* const method = [] {
      BIO_METHOD* const made = BIO_meth_new(
          BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "muster socket");
      MUSTER_CHECK(made != nullptr) << "no memory";
      BIO_meth_set_write(made, Send);
      BIO_meth_set_read(made, Receive);
      BIO_meth_set_ctrl(made, Control);
      return made;
    }();
    return method;
  }
};

TlsStream::TlsStream(const TlsContext& context, Side side, int fd)
    : TlsStream(context, side, fd, Options()) {}

TlsStream::TlsStream(const TlsContext& context, Side side, int fd,
                     const Options& options)
    : context_(context),
      options_(options),
      socket_(std::make_unique<Socket>()) {
  socket_->fd = fd;
  ssl_ = SSL_new(context.context_.get());
  BIO* const bio = BIO_new(Socket::Method());
  MUSTER_CHECK(ssl_ != nullptr && bio != nullptr) << "no memory";
  BIO_set_data(bio, socket_.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  if (options.buffering == Buffering::kAhead) {
    SSL_set_read_ahead(ssl_, 1);
    SSL_set_default_read_buffer_len(ssl_, kReadBufferBytes);
  }
  if (side == Side::kClient) {
    SSL_set_connect_state(ssl_);
    // A server without the pre-shared key could only present a certificate. The
    // client trusts no certificate authority, so it refuses every certificate.
    SSL_set_verify(ssl_, SSL_VERIFY_PEER, nullptr);
  } else {
    SSL_set_accept_state(ssl_);
  }
}

TlsStream::~TlsStream() { SSL_free(ssl_); }

bool TlsStream::Flush() {
  std::vector<char>& out = socket_->out;
  while (socket_->sent < out.size()) {
    const ssize_t count =
        send(socket_->fd, out.data() + socket_->sent,
             out.size() - socket_->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      if (errno != EAGAIN) broken_ = errno;
      return false;
    }
    socket_->sent += static_cast<size_t>(count);
  }
  if (options_.buffering == Buffering::kAhead) {
    out.clear();
  } else {
    out = std::vector<char>();
  }
  socket_->sent = 0;
  return true;
}

absl::StatusOr<short> TlsStream::Handshake() {
  if (established_) return short{0};
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  // Send OpenSSL's output even if the handshake has failed: the output may be a
  // TLS alert that tells the peer the reason.
  const bool is_sent = Flush();
  if (result != 1) {
    switch (SSL_get_error(ssl_, result)) {
      case SSL_ERROR_WANT_READ:
        if (broken_ != 0) {
          return absl::UnavailableError(
              absl::StrCat("TLS handshake: ", std::strerror(broken_)));
        }
        return is_sent ? short{POLLIN} : short{POLLOUT};
      case SSL_ERROR_SYSCALL:
        broken_ = EPROTO;
        return absl::UnavailableError(
            absl::StrCat("TLS handshake: ", std::strerror(socket_->error)));
      default:
        broken_ = EPROTO;
        return socket_->ended
                   ? absl::UnavailableError(
                         "it closed the connection during the TLS handshake")
                   : absl::PermissionDeniedError(absl::StrCat(
                         "TLS handshake: ", LastReason(),
                         "; it does not have the key of this round"));
    }
  }
  if (SSL_session_reused(ssl_) != 1) {
    return absl::PermissionDeniedError("it did not show the round's key");
  }
  if (!is_sent) return short{POLLOUT};
  established_ = true;
  return short{0};
}

absl::Status TlsStream::FinishHandshake(Instant deadline) {
  while (true) {
    const absl::StatusOr<short> events = Handshake();
    if (!events.ok()) return events.status();
    if (*events == 0) return absl::OkStatus();
    if (!PollUntil(socket_->fd, *events, deadline)) {
      return absl::DeadlineExceededError("the TLS handshake gets no answer");
    }
  }
}

ssize_t TlsStream::Failed(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_SYSCALL:
      broken_ = socket_->error != 0 ? socket_->error : EPROTO;
      break;
    default:
      // The stream has ended if the peer has closed its sending direction, or
      // if the TLS session was shut down. After any other TLS error the stream
      // is broken.
      if (socket_->ended || SSL_get_shutdown(ssl_) != 0) {
        ended_ = true;
        return 0;
      }
      broken_ = EBADMSG;
      break;
  }
  errno = broken_;
  return -1;
}

ssize_t TlsStream::Read(std::span<const iovec> pieces) {
  size_t total = 0;
  for (const iovec& piece : pieces) {
    for (size_t filled = 0; filled < piece.iov_len;) {
      const bool is_full =
          total >= kMaxReadBytes ||
          (total > 0 && options_.buffering == Buffering::kNone &&
           piece.iov_len - filled < kMaxRecordBytes);
      if (is_full) return static_cast<ssize_t>(total);
      if (broken_ != 0 || ended_) {
        if (total > 0) return static_cast<ssize_t>(total);
        errno = broken_;
        return ended_ ? 0 : -1;
      }
      ERR_clear_error();
      size_t count = 0;
      const int result =
          SSL_read_ex(ssl_, static_cast<char*>(piece.iov_base) + filled,
                      piece.iov_len - filled, &count);
      if (result != 1) {
        const ssize_t failure = Failed(result);
        return total > 0 ? static_cast<ssize_t>(total) : failure;
      }
      filled += count;
      total += count;
    }
  }
  return static_cast<ssize_t>(total);
}

ssize_t TlsStream::Read(void* data, size_t bytes) {
  const iovec piece = {data, bytes};
  return Read({&piece, 1});
}

size_t TlsStream::EncryptRecord(const void* data, size_t bytes) {
  ERR_clear_error();
  if (records_ >= options_.records_per_key) {
    // OpenSSL sends the key update message, which announces the new sending key
    // of this end, before the next record.
    MUSTER_CHECK(SSL_key_update(ssl_, SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
        << LastReason();
    records_ = 0;
  }
  size_t count = 0;
  if (SSL_write_ex(ssl_, data, bytes, &count) != 1) {
    // OpenSSL failed to encrypt the record. The failure is permanent: it cannot
    // be a lack of space, because the output buffer accepts a record of any
    // size.
    broken_ = EPROTO;
    errno = broken_;
    return 0;
  }
  ++records_;
  return count;
}

namespace {

// A position in a list of buffers.
class Cursor {
 public:
  explicit Cursor(std::span<const iovec> pieces) : pieces_(pieces) { Settle(); }

  bool at_end() const { return next_ == pieces_.size(); }

  void Skip(size_t bytes) {
    while (bytes > 0 && !at_end()) {
      const size_t step = std::min(bytes, pieces_[next_].iov_len - offset_);
      bytes -= step;
      offset_ += step;
      Settle();
    }
  }

  // Returns the bytes that the next TLS record will contain: at most
  // kRecordBytes, from the current position on. If the current buffer has fewer
  // bytes left and is not the last buffer, copies these bytes and bytes of the
  // next buffers into `joined`, and returns the content of `joined`.
  std::span<const char> Record(std::vector<char>& joined) const {
    const char* const data = At(next_) + offset_;
    const size_t bytes = pieces_[next_].iov_len - offset_;
    if (bytes >= kRecordBytes || next_ + 1 == pieces_.size()) {
      return {data, std::min(bytes, kRecordBytes)};
    }
    joined.assign(data, data + bytes);
    for (size_t i = next_ + 1;
         i < pieces_.size() && joined.size() < kRecordBytes; ++i) {
      joined.insert(
          joined.end(), At(i),
          At(i) + std::min(pieces_[i].iov_len, kRecordBytes - joined.size()));
    }
    return joined;
  }

 private:
  const char* At(size_t i) const {
    return static_cast<const char*>(pieces_[i].iov_base);
  }
  void Settle() {
    while (next_ < pieces_.size() && offset_ == pieces_[next_].iov_len) {
      ++next_;
      offset_ = 0;
    }
  }

  std::span<const iovec> pieces_;
  size_t next_ = 0;
  size_t offset_ = 0;
};

}  // namespace

ssize_t TlsStream::Write(std::span<const iovec> pieces) {
  if (broken_ != 0 || ended_) {
    errno = broken_ != 0 ? broken_ : EPIPE;
    return -1;
  }
  if (!Flush()) return -1;
  size_t total = std::exchange(held_back_, 0);
  Cursor cursor(pieces);
  cursor.Skip(total);
  while (!cursor.at_end()) {
    size_t batch = 0;
    while (!cursor.at_end() && socket_->out.size() < kWriteBufferBytes) {
      const std::span<const char> record = cursor.Record(record_);
      const size_t count = EncryptRecord(record.data(), record.size());
      if (count == 0) return -1;
      cursor.Skip(count);
      batch += count;
    }
    if (!Flush()) {
      held_back_ = batch;
      return total > 0 ? static_cast<ssize_t>(total) : -1;
    }
    total += batch;
  }
  return static_cast<ssize_t>(total);
}

ssize_t TlsStream::Write(const void* data, size_t bytes) {
  const iovec piece = {const_cast<void*>(data), bytes};
  return Write({&piece, 1});
}

}  // namespace muster
