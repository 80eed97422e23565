#ifndef MUSTER_BASE_DYNAMIC_LIBRARY_H_
#define MUSTER_BASE_DYNAMIC_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// A shared library that is loaded at run time. It is never unloaded, because
// its own threads (NCCL has some) may run its code until the process ends.
// Copyable.
class DynamicLibrary {
 public:
  // NotFound, with the loader's message: the file or a dependency is missing.
  static absl::StatusOr<DynamicLibrary> Load(const std::string& name);

  // Sets `*function` to the address of `symbol`. If this version of the library
  // has no such function, sets null and returns false.
  template <typename Function>
  bool Find(const char* symbol, Function* function) const {
    *function = reinterpret_cast<Function>(Address(symbol));
    return *function != nullptr;
  }

  const std::string& name() const { return name_; }

 private:
  DynamicLibrary(std::string name, void* handle)
      : name_(std::move(name)), handle_(handle) {}
  void* Address(const char* symbol) const;

  std::string name_;
  void* handle_;
};

}  // namespace muster

#endif  // MUSTER_BASE_DYNAMIC_LIBRARY_H_
