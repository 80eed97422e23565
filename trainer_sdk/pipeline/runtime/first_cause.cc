#include "trainer_sdk/pipeline/runtime/first_cause.h"

namespace muster {
namespace {

constexpr std::string_view kBroke = "the pipeline broke: ";

}  // namespace

std::string BrokenBecause(std::string_view message) {
  return std::string(kBroke).append(FirstCause(message));
}

std::string FirstCause(std::string_view message) {
  const size_t at = message.rfind(kBroke);
  return std::string(at == std::string_view::npos
                         ? message
                         : message.substr(at + kBroke.size()));
}

}  // namespace muster
