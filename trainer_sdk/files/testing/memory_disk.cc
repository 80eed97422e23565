#include "trainer_sdk/files/testing/memory_disk.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// Splits a path into its components: "/a//b/" becomes {"a", "b"}.
std::vector<std::string> PartsOf(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : path + "/") {
    if (c != '/') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, ""));
    }
  }
  return parts;
}

absl::Status Missing(const std::string& path) {
  return absl::NotFoundError(absl::StrCat("there is no ", path));
}

}  // namespace

class MemoryDisk::Output : public OutputFile {
 public:
  Output(MemoryDisk& disk, std::string path, std::shared_ptr<Node> node)
      : disk_(disk), path_(std::move(path)), node_(std::move(node)) {}

  absl::Status Append(std::string_view bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    for (const char byte : bytes) {
      absl::Status status = disk_.Begin("write", path_, Room::kNeeded);
      if (!status.ok()) return status;
      node_->content.push_back(byte);
    }
    return absl::OkStatus();
  }
  absl::Status Sync() override {
    const std::lock_guard lock(disk_.mutex_);
    absl::Status status = disk_.Begin("sync", path_, Room::kNotNeeded);
    if (status.ok()) node_->synced_content = node_->content;
    return status;
  }

 private:
  MemoryDisk& disk_;
  const std::string path_;
  const std::shared_ptr<Node> node_;
};

class MemoryDisk::Input : public InputFile {
 public:
  Input(std::string path, std::string content)
      : path_(std::move(path)), content_(std::move(content)) {}

  int64_t size() const override {
    return static_cast<int64_t>(content_.size());
  }
  absl::Status ReadAt(int64_t offset, int64_t bytes, void* out) const override {
    if (offset < 0 || bytes < 0 || offset > size() - bytes) {
      return absl::DataLossError(absl::StrCat(path_, " ends before that"));
    }
    if (bytes > 0) {
      std::memcpy(out, content_.data() + offset, static_cast<size_t>(bytes));
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const std::string content_;
};

class MemoryDisk::Held : public FolderLock {
 public:
  Held(MemoryDisk& disk, std::string folder)
      : disk_(disk), folder_(std::move(folder)) {}
  ~Held() override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.locked_.erase(folder_);
  }

 private:
  MemoryDisk& disk_;
  const std::string folder_;
};

MemoryDisk::MemoryDisk() : root_(std::make_shared<Node>()) {
  root_->folder = true;
}

int64_t MemoryDisk::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

void MemoryDisk::StopAt(int64_t operation) {
  const std::lock_guard lock(mutex_);
  stop_at_ = operation;
}

void MemoryDisk::FillUp(int64_t first, int64_t count) {
  const std::lock_guard lock(mutex_);
  full_from_ = first;
  full_until_ = first + count;
}

void MemoryDisk::KeepBusy(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (path.empty()) {
    busy_.clear();
  } else {
    busy_.insert(path);
  }
}

absl::Status MemoryDisk::Begin(const std::string& doing,
                               const std::string& path, Room room) {
  if (stop_at_ >= 0 && operations_ >= stop_at_) {
    return absl::AbortedError("the process has ended");
  }
  const int64_t operation = operations_++;
  if (room == Room::kNeeded && operation >= full_from_ &&
      operation < full_until_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot ", doing, " ", path, ": No space left on device"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<MemoryDisk::Node>> MemoryDisk::Find(
    const std::string& path) const {
  std::shared_ptr<Node> node = root_;
  for (const std::string& part : PartsOf(path)) {
    const auto at = node->names.find(part);
    if (at == node->names.end()) return Missing(path);
    node = at->second;
  }
  return node;
}

absl::StatusOr<std::shared_ptr<MemoryDisk::Node>> MemoryDisk::Above(
    const std::string& path, std::string* name) const {
  std::vector<std::string> parts = PartsOf(path);
  if (parts.empty()) return absl::InvalidArgumentError("the root");
  *name = parts.back();
  parts.pop_back();
  std::string above;
  for (const std::string& part : parts) absl::StrAppend(&above, "/", part);
  auto node = Find(above);
  if (node.ok() && !(*node)->folder) return Missing(path);
  return node;
}

absl::Status MemoryDisk::Make(const std::string& path,
                              const std::shared_ptr<Node>& node) {
  const std::lock_guard lock(mutex_);
  std::string name;
  const auto above = Above(path, &name);
  if (!above.ok()) return above.status();
  if ((*above)->names.contains(name)) {
    return absl::AlreadyExistsError(absl::StrCat("there is ", path));
  }
  absl::Status status = Begin("create", path, Room::kNeeded);
  if (status.ok()) (*above)->names[name] = node;
  return status;
}

absl::Status MemoryDisk::CreateFolders(const std::string& path) {
  std::string above;
  for (const std::string& part : PartsOf(path)) {
    const std::string parent = above;
    absl::StrAppend(&above, "/", part);
    absl::Status made = CreateFolder(above);
    if (absl::IsAlreadyExists(made)) continue;
    if (made.ok()) made = SyncFolder(parent);
    if (!made.ok()) return made;
  }
  return absl::OkStatus();
}

absl::Status MemoryDisk::CreateFolder(const std::string& path) {
  auto node = std::make_shared<Node>();
  node->folder = true;
  return Make(path, node);
}

absl::StatusOr<std::unique_ptr<OutputFile>> MemoryDisk::CreateFile(
    const std::string& path) {
  auto node = std::make_shared<Node>();
  if (absl::Status made = Make(path, node); !made.ok()) return made;
  return std::make_unique<Output>(*this, path, node);
}

absl::StatusOr<std::unique_ptr<InputFile>> MemoryDisk::OpenFile(
    const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto node = Find(path);
  if (!node.ok()) return node.status();
  if ((*node)->folder) return absl::InvalidArgumentError(path + " is a folder");
  return std::make_unique<Input>(path, (*node)->content);
}

absl::StatusOr<std::vector<std::string>> MemoryDisk::List(
    const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const auto node = Find(folder);
  if (!node.ok()) return node.status();
  std::vector<std::string> names;
  for (const auto& [name, child] : (*node)->names) names.push_back(name);
  return names;
}

absl::Status MemoryDisk::Rename(const std::string& from,
                                const std::string& to) {
  const std::lock_guard lock(mutex_);
  std::string old_name;
  std::string new_name;
  const auto above = Above(from, &old_name);
  const auto target = Above(to, &new_name);
  if (!above.ok()) return above.status();
  if (!target.ok()) return target.status();
  const auto node = (*above)->names.find(old_name);
  if (*above != *target || node == (*above)->names.end()) return Missing(from);
  const auto there = (*above)->names.find(new_name);
  if (there != (*above)->names.end() &&
      (node->second->folder || there->second->folder)) {
    return absl::AlreadyExistsError(absl::StrCat("there is ", to));
  }
  absl::Status status = Begin("rename", from, Room::kNotNeeded);
  if (!status.ok()) return status;
  (*above)->names[new_name] = node->second;
  (*above)->names.erase(old_name);
  return status;
}

absl::Status MemoryDisk::SyncFolder(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto node = Find(path);
  if (!node.ok()) return node.status();
  absl::Status status = Begin("sync", path, Room::kNotNeeded);
  if (status.ok()) (*node)->synced_names = (*node)->names;
  return status;
}

absl::Status MemoryDisk::RemoveNode(const std::string& path,
                                    const std::shared_ptr<Node>& above,
                                    const std::string& name) {
  const std::shared_ptr<Node> node = above->names.at(name);
  // Remove the folder's files one by one, and then the empty folder, as a real
  // disk does. StopAt can then end the removal halfway.
  while (!node->names.empty()) {
    const std::string child = node->names.begin()->first;
    absl::Status status =
        RemoveNode(absl::StrCat(path, "/", child), node, child);
    if (!status.ok()) return status;
  }
  absl::Status status = Begin("remove", path, Room::kNotNeeded);
  if (status.ok()) above->names.erase(name);
  return status;
}

absl::Status MemoryDisk::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::string name;
  const auto above = Above(path, &name);
  if (!above.ok()) return above.status();
  if (!(*above)->names.contains(name)) return absl::OkStatus();
  if (busy_.contains(path)) {
    return absl::InternalError(
        absl::StrCat("cannot remove ", path, ": Device or resource busy"));
  }
  return RemoveNode(path, *above, name);
}

absl::StatusOr<std::unique_ptr<FolderLock>> MemoryDisk::Lock(
    const std::string& folder, LockDeadlines) {
  const std::lock_guard lock(mutex_);
  if (!locked_.insert(folder).second) {
    return absl::FailedPreconditionError(
        absl::StrCat("another job writes in ", folder));
  }
  return std::make_unique<Held>(*this, folder);
}

std::unique_ptr<MemoryDisk> MemoryDisk::AfterProcess() const {
  const std::lock_guard lock(mutex_);
  auto next = std::make_unique<MemoryDisk>();
  const std::function<std::shared_ptr<Node>(const Node&)> copy =
      [&](const Node& node) {
        auto made = std::make_shared<Node>();
        made->folder = node.folder;
        made->content = made->synced_content = node.content;
        for (const auto& [name, child] : node.names) {
          made->names[name] = copy(*child);
        }
        made->synced_names = made->names;
        return made;
      };
  next->root_ = copy(*root_);
  return next;
}

std::unique_ptr<MemoryDisk> MemoryDisk::AfterPowerLoss(uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  auto next = std::make_unique<MemoryDisk>();
  std::mt19937_64 random(seed);
  const std::function<std::shared_ptr<Node>(const Node&)> copy =
      [&](const Node& node) {
        auto made = std::make_shared<Node>();
        made->folder = node.folder;
        // A random prefix of the bytes that were appended after the last Sync
        // survives the power loss.
        const size_t synced = node.synced_content.size();
        const size_t kept =
            seed < 2 ? synced
                     : synced + random() % (node.content.size() - synced + 1);
        made->content = made->synced_content = node.content.substr(0, kept);
        // Each unsynced change of a name survives the power loss or is lost,
        // independently of all other changes.
        auto names = node.synced_names;
        for (const auto& [name, child] : node.names) {
          if (seed == 1 || (seed > 1 && random() % 2 == 0)) names[name] = child;
        }
        for (const auto& [name, child] : node.synced_names) {
          if (node.names.contains(name)) continue;
          if (seed == 1 || (seed > 1 && random() % 2 == 0)) names.erase(name);
        }
        for (const auto& [name, child] : names) {
          made->names[name] = copy(*child);
        }
        made->synced_names = made->names;
        return made;
      };
  next->root_ = copy(*root_);
  return next;
}

std::map<std::string, std::string> MemoryDisk::Contents() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> contents;
  const std::function<void(const Node&, const std::string&)> walk =
      [&](const Node& node, const std::string& path) {
        if (!node.folder) contents[path] = node.content;
        for (const auto& [name, child] : node.names) {
          walk(*child, absl::StrCat(path, "/", name));
        }
      };
  walk(*root_, "");
  return contents;
}

void MemoryDisk::Overwrite(const std::string& path, std::string content) {
  const std::lock_guard lock(mutex_);
  const auto node = Find(path);
  if (node.ok()) (*node)->content = std::move(content);
}

}  // namespace muster
