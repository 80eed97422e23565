#include "agent/inquiry_answers.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/health/within.h"
#include "agent/stacks/kernel_stacks.h"
#include "agent/stacks/stack_lines.h"
#include "agent/stacks/stack_taker.h"
#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

using rendezvous::AnswerPart;
using rendezvous::Inquiry;
using rendezvous::RankStack;

constexpr size_t kMaxRemembered = 1024;
// The interval at which a thread that sends new output (`launch logs -f`)
// checks whether its answer was cancelled. New output wakes the thread sooner.
constexpr Duration kLook = std::chrono::seconds(1);
// Time limit for reading the stacks of this node's workers; shorter than the
// coordinator's limit (kStacksTimeout).
constexpr Duration kTimeForStacks = std::chrono::seconds(15);
// The maximum number of workers' processes whose stacks are read at the same
// time for one inquiry.
constexpr size_t kStacksAtOnce = 4;
// The longest time that the destructor waits until all cancelled answers have
// ended.
constexpr Duration kTimeToEnd = std::chrono::seconds(2);

// Runs `work` in a thread of its own, in which all signals are blocked. Returns
// false if the system cannot create a thread. The coordinator then gets no
// answer, and tells the operator that this node does not answer.
bool StartThread(std::function<void()> work) {
  const BlockedSignals blocked;
  bool started = true;
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  return started;
}

// Workers' stacks, which several threads read for one answer. The threads and
// the answer share the ownership of this object: a thread that is stuck in a
// read of /proc may still use the object after the answer was sent.
struct StackReading {
  // (rank, process id) of each worker whose stack is read
  std::vector<std::pair<int, int64_t>> workers;
  NativeFrames native = NativeFrames::kOmit;
  Instant deadline;
  std::shared_ptr<OwnedFd> cancel;

  std::mutex mutex;  // guards the fields below
  std::condition_variable changed;
  size_t begun = 0;
  // lines of the stacks read so far, by rank
  std::map<int, std::vector<std::string>> read;

  void Run() {
    while (true) {
      std::pair<int, int64_t> worker;
      {
        std::lock_guard<std::mutex> lock(mutex);
        if (begun == workers.size() || MonotonicNow() >= deadline) return;
        worker = workers[begun++];
      }
      const bool is_stopped =
          ReadWorkerState(worker.second) == WorkerState::kStopped;
      std::vector<std::string> lines = MostInformativeLines(
          ReadStacks(worker.second, native, deadline, cancel->get()));
      if (is_stopped && lines.size() < rendezvous::kMaxStackLines) {
        lines.insert(lines.begin(),
                     "stopped, by a signal such as SIGSTOP or by a debugger:");
      }
      std::lock_guard<std::mutex> lock(mutex);
      read[worker.first] = std::move(lines);
      changed.notify_all();
    }
  }
};

}  // namespace

// One answer to an inquiry, that is, to an operator's `launch logs` or `launch
// stacks`. The object is shared by the thread that sends the answer and the
// InquiryAnswers that started the thread. The last owner frees it.
struct InquiryAnswers::Work {
  std::string run_id;
  Inquiry inquiry;
  // the connection to the coordinator, over which the answer is sent
  rendezvous::CoordinatorLink* link = nullptr;
  std::shared_ptr<RecentOutput> output;
  // (rank, process id) of each running worker about which the inquiry asks
  std::vector<std::pair<int, int64_t>> workers;
  std::shared_ptr<OwnedFd> cancel =
      std::make_shared<OwnedFd>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));

  std::mutex mutex;  // guards the fields below
  std::condition_variable changed;
  bool wanted = true;
  bool ended = false;
  std::unique_ptr<rendezvous::AnswerSender> sender;

  void Run();
  bool IsWanted() {
    std::lock_guard<std::mutex> lock(mutex);
    return wanted;
  }
  bool Send(AnswerPart part);
  void SendLogs();
  void SendStacks();
};

void InquiryAnswers::Work::Run() {
  auto opened = link->Answer(run_id, inquiry.id);
  bool answers = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    sender = std::move(opened);
    answers = wanted && sender != nullptr;
  }
  if (answers && inquiry.kind == Inquiry::Kind::kLogs) SendLogs();
  if (answers && inquiry.kind == Inquiry::Kind::kStacks) SendStacks();
  std::unique_ptr<rendezvous::AnswerSender> done;
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = std::move(sender);
  }
  done = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  ended = true;
  changed.notify_all();
}

// Sends `part` in messages of limited size (SplitAnswer). Returns false if the
// answer is no longer wanted or cannot be sent. Reads the field Work::sender
// without locking Work::mutex, because only this thread changes the field.
bool InquiryAnswers::Work::Send(AnswerPart part) {
  for (const AnswerPart& one : SplitAnswer(std::move(part))) {
    if (!IsWanted() || !sender->Send(one)) return false;
  }
  return true;
}

void InquiryAnswers::Work::SendLogs() {
  OutputReader reader(output, inquiry, MonotonicNow());
  const bool follows = inquiry.follow == Inquiry::Follow::kYes;
  while (true) {
    const uint64_t version = output->version();
    const bool ends = !follows || output->closed();
    AnswerPart part = reader.Take(MonotonicNow());
    part.is_last = ends;
    const bool has_news = !part.lines.empty() || !part.notes.empty();
    if ((has_news || ends) && !Send(std::move(part))) return;
    if (ends || !IsWanted()) return;
    output->WaitForMore(version, MonotonicNow() + kLook);
  }
}

void InquiryAnswers::Work::SendStacks() {
  auto reading = std::make_shared<StackReading>();
  reading->workers = workers;
  reading->native = inquiry.frames == Inquiry::Frames::kNative
                        ? NativeFrames::kRead
                        : NativeFrames::kOmit;
  reading->deadline = MonotonicNow() + kTimeForStacks;
  reading->cancel = cancel;
  bool started = true;
  const size_t threads = std::min(kStacksAtOnce, workers.size());
  for (size_t i = 0; i < threads; ++i) {
    started = StuckCalls::Start([reading] { reading->Run(); }) && started;
  }
  AnswerPart part;
  if (!started) {
    part.notes.emplace_back(
        "the stacks are incomplete: too many earlier looks at processes of "
        "this node have not ended");
  }
  if (workers.empty()) {
    part.notes.emplace_back("no worker that was asked for runs on this node");
  }
  {
    std::unique_lock<std::mutex> lock(reading->mutex);
    reading->changed.wait_until(lock, ToSteady(reading->deadline), [&] {
      return reading->read.size() == workers.size() || !IsWanted();
    });
    for (const auto& [rank, pid] : workers) {
      const auto found = reading->read.find(rank);
      RankStack stack{.rank = rank, .pid = pid, .lines = {}};
      if (found != reading->read.end()) stack.lines = found->second;
      part.stacks.push_back(std::move(stack));
    }
  }
  part.is_last = true;
  Send(std::move(part));
}

InquiryAnswers::InquiryAnswers(std::string run_id,
                               rendezvous::CoordinatorLink* link,
                               std::shared_ptr<RecentOutput> output)
    : run_id_(std::move(run_id)), link_(link), output_(std::move(output)) {}

InquiryAnswers::~InquiryAnswers() {
  for (const auto& [id, work] : works_) Cancel(*work);
  const Instant deadline = MonotonicNow() + kTimeToEnd;
  for (const auto& [id, work] : works_) {
    std::unique_lock<std::mutex> lock(work->mutex);
    work->changed.wait_until(lock, ToSteady(deadline),
                             [&] { return work->ended; });
  }
}

void InquiryAnswers::Cancel(Work& work) {
  {
    std::lock_guard<std::mutex> lock(work.mutex);
    if (!std::exchange(work.wanted, false)) return;
    if (work.sender != nullptr) work.sender->Cancel();
  }
  eventfd_write(work.cancel->get(), 1);
  output_->Wake();
}

void InquiryAnswers::ForgetEnded() {
  std::erase_if(works_, [](const auto& each) {
    std::lock_guard<std::mutex> lock(each.second->mutex);
    return each.second->ended;
  });
}

void InquiryAnswers::Follow(const std::vector<Inquiry>& open) {
  if (open.empty() && works_.empty()) return;
  std::set<uint64_t> ids;
  for (const Inquiry& inquiry : open) ids.insert(inquiry.id);
  for (const auto& [id, work] : works_) {
    if (ids.count(id) == 0) Cancel(*work);
  }
  ForgetEnded();
  for (const Inquiry& inquiry : open) {
    if (works_.size() >= rendezvous::kMaxInquiries) break;
    if (std::ranges::find(begun_, inquiry.id) != begun_.end()) continue;
    begun_.push_back(inquiry.id);
    if (begun_.size() > kMaxRemembered) begun_.pop_front();
    auto work = std::make_shared<Work>();
    work->run_id = run_id_;
    work->inquiry = inquiry;
    work->link = link_;
    work->output = output_;
    for (const auto& [rank, pid] : pids_) {
      const bool asked =
          inquiry.ranks.empty() ||
          std::ranges::find(inquiry.ranks, rank) != inquiry.ranks.end();
      if (asked) work->workers.emplace_back(rank, pid);
    }
    if (StartThread([work] { work->Run(); })) {
      works_[inquiry.id] = std::move(work);
    }
  }
}

void InquiryAnswers::Finish(Duration timeout) {
  ForgetEnded();
  const Instant deadline = MonotonicNow() + timeout;
  if (!works_.empty()) output_->WaitUntilEnded(deadline);
  output_->Close();
  for (const auto& [id, work] : works_) {
    std::unique_lock<std::mutex> lock(work->mutex);
    work->changed.wait_until(lock, ToSteady(deadline),
                             [&] { return work->ended; });
  }
}

}  // namespace muster::agent
