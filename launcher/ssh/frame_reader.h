#ifndef MUSTER_LAUNCHER_SSH_FRAME_READER_H_
#define MUSTER_LAUNCHER_SSH_FRAME_READER_H_

#include <optional>
#include <string>
#include <string_view>

#include "launcher/ssh/messages.h"

namespace muster::launcher {

// What a started `launch` prints first on the connection, its protocol's number
// behind it and then a line end. What comes before is not ours: start-up files
// of a shell may print.
inline constexpr char kGreeting[] = "\x01muster-ssh ";
std::string GreetingLine();

// Whether frames follow a greeting.
enum class Greeting { kExpected, kNone };

// Takes frames out of a stream of bytes that comes in any pieces. Pure.
class FrameReader {
 public:
  explicit FrameReader(Greeting greeting)
      : greeted_(greeting == Greeting::kNone) {}

  void Append(std::string_view bytes);

  // The next whole frame's payload, valid until the next call; nullopt: more
  // bytes are needed, or error() says why none will come.
  std::optional<std::string_view> Next();

  bool greeted() const { return greeted_; }
  // One clause; empty while all is well.
  const std::string& error() const { return error_; }
  // What came before the greeting, its end at most.
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
