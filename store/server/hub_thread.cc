#include "store/server/hub_thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::store {

HubThread::~HubThread() { Join(); }

absl::Status HubThread::Start(const std::string& name,
                              std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A thread inherits the signal mask of its creator.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Status status;
  try {
    thread_ = std::thread(std::move(body));
    pthread_setname_np(thread_.native_handle(), name.c_str());
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("starting the thread ", name, ": ", error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

void HubThread::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace muster::store
