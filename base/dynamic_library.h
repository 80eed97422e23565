#ifndef MUSTER_BASE_DYNAMIC_LIBRARY_H_
#define MUSTER_BASE_DYNAMIC_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// A shared library that was loaded at run time and stays loaded: threads of
// NCCL's own may be inside it for as long as the process lives. Copyable.
class DynamicLibrary {
 public:
  // NotFound, in the loader's words: it is not there or lacks something.
  static absl::StatusOr<DynamicLibrary> Load(const std::string& name);

  // Sets `*function` to the function of that name; null and false where this
  // version has none.
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
