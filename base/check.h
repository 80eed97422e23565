#ifndef MUSTER_BASE_CHECK_H_
#define MUSTER_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace muster {

// The message of a MUSTER_CHECK that failed. The destructor prints the message
// to stderr and aborts the process.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition) {
    message_ << file << ":" << line << ": broken invariant: " << condition
             << " ";
  }
  [[noreturn]] ~CheckFailure() {
    std::fprintf(stderr, "%s\n", message_.str().c_str());
    std::fflush(stderr);
    std::abort();
  }
  std::ostream& stream() { return message_; }

 private:
  std::ostringstream message_;
};

// Converts the message stream of a CheckFailure to void. Both branches of `?:`
// in MUSTER_CHECK are then void, and a caller can append a message with `<<`.
struct CheckVoidify {
  void operator&(std::ostream&) const {}
};

}  // namespace muster

// Aborts with a message if `condition` is false. For errors in the code only;
// all other errors are returned as absl::Status.
#define MUSTER_CHECK(condition)    \
  (condition)                      \
      ? (void)0                    \
      : ::muster::CheckVoidify() & \
            ::muster::CheckFailure(__FILE__, __LINE__, #condition).stream()

#endif  // MUSTER_BASE_CHECK_H_
