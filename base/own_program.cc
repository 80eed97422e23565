#include "base/own_program.h"

#include <filesystem>
#include <system_error>

namespace muster {

std::string OwnProgram() {
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/exe", unreadable).string();
}

}  // namespace muster
