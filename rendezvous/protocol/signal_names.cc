#include "rendezvous/protocol/signal_names.h"

#include <charconv>
#include <csignal>

namespace muster::rendezvous {
namespace {

struct NamedSignal {
  const char* name;
  int number;
};

// If a signal number has two names, SignalName returns the first one.
constexpr NamedSignal kSignals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},       {"QUIT", SIGQUIT},
    {"ILL", SIGILL},   {"TRAP", SIGTRAP},     {"ABRT", SIGABRT},
    {"IOT", SIGIOT},   {"BUS", SIGBUS},       {"FPE", SIGFPE},
    {"KILL", SIGKILL}, {"USR1", SIGUSR1},     {"SEGV", SIGSEGV},
    {"USR2", SIGUSR2}, {"PIPE", SIGPIPE},     {"ALRM", SIGALRM},
    {"TERM", SIGTERM}, {"STKFLT", SIGSTKFLT}, {"CHLD", SIGCHLD},
    {"CLD", SIGCHLD},  {"CONT", SIGCONT},     {"STOP", SIGSTOP},
    {"TSTP", SIGTSTP}, {"TTIN", SIGTTIN},     {"TTOU", SIGTTOU},
    {"URG", SIGURG},   {"XCPU", SIGXCPU},     {"XFSZ", SIGXFSZ},
    {"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},     {"POLL", SIGPOLL},     {"PWR", SIGPWR},
    {"SYS", SIGSYS},
};

std::optional<int> ReadNumber(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<int> InRange(std::optional<int> number, int least, int most) {
  if (!number || *number < least || *number > most) return std::nullopt;
  return number;
}

std::optional<int> RealTimeSignal(std::string_view name) {
  if (name.size() < 5) return std::nullopt;
  const std::string_view end = name.substr(0, 5);
  if (end != "RTMIN" && end != "RTMAX") return std::nullopt;
  const int base = end == "RTMIN" ? SIGRTMIN : SIGRTMAX;
  if (name.size() == 5) return base;
  const char sign = end == "RTMIN" ? '+' : '-';
  if (name[5] != sign) return std::nullopt;
  const auto offset =
      InRange(ReadNumber(name.substr(6)), 0, SIGRTMAX - SIGRTMIN);
  if (!offset) return std::nullopt;
  return sign == '+' ? base + *offset : base - *offset;
}

}  // namespace

std::string SignalName(int number) {
  for (const NamedSignal& known : kSignals) {
    if (known.number == number) return std::string("SIG") + known.name;
  }
  if (number == SIGRTMIN) return "SIGRTMIN";
  if (number > SIGRTMIN && number <= SIGRTMAX) {
    return "SIGRTMIN+" + std::to_string(number - SIGRTMIN);
  }
  return "signal " + std::to_string(number);
}

std::optional<int> SignalNumber(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  std::string_view rest = upper;
  if (const auto number = ReadNumber(rest)) {
    return InRange(number, 1, SIGRTMAX);
  }
  if (rest.substr(0, 3) == "SIG") rest.remove_prefix(3);
  for (const NamedSignal& known : kSignals) {
    if (rest == known.name) return known.number;
  }
  return RealTimeSignal(rest);
}

}  // namespace muster::rendezvous
