#ifndef MUSTER_LAUNCHER_SSH_FRAME_READER_H_
#define MUSTER_LAUNCHER_SSH_FRAME_READER_H_

#include <optional>
#include <string>
#include <string_view>

#include "launcher/ssh/messages.h"

namespace muster::launcher {

// The first bytes that a started `launch` prints, followed by the protocol
// number and a newline. Text before the greeting comes from a shell's start-up
// files and is not part of the protocol.
inline constexpr char kGreeting[] = "\x01muster-ssh ";
std::string GreetingLine();

// Whether a greeting precedes the frames.
enum class Greeting { kExpected, kNone };

// Splits a byte stream, which arrives in pieces of any size, into frames. Pure.
class FrameReader {
 public:
  explicit FrameReader(Greeting greeting)
      : greeted_(greeting == Greeting::kNone) {}

  void Append(std::string_view bytes);

  // The payload of the next whole frame, valid until the next call. nullopt:
  // more bytes are needed, or error() is set.
  std::optional<std::string_view> Next();

  bool greeted() const { return greeted_; }
  // One clause; empty if there is no error.
  const std::string& error() const { return error_; }
  // The text before the greeting; only its end if it is long.
  std::string_view before_greeting() const;

 private:
  void LookForGreeting();

  bool greeted_;
  std::string buffer_;
  size_t used_ = 0;
  std::string error_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_FRAME_READER_H_
