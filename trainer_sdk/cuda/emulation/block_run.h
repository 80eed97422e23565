#ifndef MUSTER_TRAINER_SDK_CUDA_EMULATION_BLOCK_RUN_H_
#define MUSTER_TRAINER_SDK_CUDA_EMULATION_BLOCK_RUN_H_

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace muster::emulation {

// Like CUDA's dim3, without the third dimension.
struct Extent {
  unsigned x = 1;
  unsigned y = 1;
};

// The order in which warps and their threads run. A warp runs alone up to the
// next point at which the whole block must wait. A correct kernel gives the
// same result in both orders; one that lacks a barrier rarely does.
enum class ThreadOrder { kForward, kBackward };

// Sets the order for the calling thread while this object lives; the default is
// kForward.
class ScopedThreadOrder {
 public:
  explicit ScopedThreadOrder(ThreadOrder order);
  ~ScopedThreadOrder();
  ScopedThreadOrder(const ScopedThreadOrder&) = delete;
  ScopedThreadOrder& operator=(const ScopedThreadOrder&) = delete;

 private:
  const ThreadOrder before_;
};

// Runs a kernel's thread blocks one after another. The threads of a block are
// fibers of the calling thread, which switch only where they must wait for each
// other, so that results are deterministic. Undefined behaviour in CUDA aborts
// the process and names the place: a barrier that only some threads of the
// block reach, or that they reach at different places; an exchange in which not
// all lanes of a warp take part, or at different places.
class BlockRun {
 public:
  static constexpr unsigned kWarpSize = 32;
  // The largest number of threads in a block on GPUs.
  static constexpr unsigned kMaxThreads = 1024;

  // Runs `body` as the code of each thread.
  static void RunGrid(Extent blocks, Extent threads,
                      const std::function<void()>& body);

  // The block run that the calling fiber belongs to.
  static BlockRun& Current();

  const Extent& thread() const { return threads_at_[running_]; }
  const Extent& block() const { return block_; }
  const Extent& threads() const { return threads_; }
  const Extent& blocks() const { return blocks_; }

  // __syncthreads: blocks until all threads of the block call it.
  void Barrier(const std::source_location& here);
  // __shfl_xor_sync: the value of the lane whose number is this lane's number
  // XOR `lane_mask`.
  uint64_t Exchange(uint32_t mask, uint64_t value, int lane_mask,
                    const std::source_location& here);

 private:
  // The context for __builtin_setjmp. Unlike swapcontext, it ignores the signal
  // mask and is therefore faster. Unlike setjmp, it is not intercepted by
  // AddressSanitizer, which would take each switch for the end of the frames.
  using Context = void* [5];

  enum class State { kReady, kWaiting, kDone };

  struct Fiber {
    std::unique_ptr<char[]> stack;
    Context context;
    State state = State::kDone;
    // Number of exchanges in which the thread has taken part.
    unsigned exchanges = 0;
  };

  // The threads that wait at one place until all have arrived.
  struct Gathering {
    unsigned arrived = 0;
    std::source_location place;
  };

  struct Warp {
    Gathering gathering;
    // Values of this exchange and the previous one: a lane may write its next
    // value before all others have read this one.
    std::array<std::array<uint64_t, kWarpSize>, 2> values;
  };

  BlockRun(Extent blocks, Extent threads, const std::function<void()>& body);

  void MakeFibers();
  void RunBlock(Extent block);
  // Runs a warp until all its threads wait or are done; adds the number of
  // threads that are done to `done`. Returns whether any thread ran.
  bool RunWarp(unsigned warp, unsigned* done);
  // The main function of a fiber: runs `body` once for each block.
  static void Enter();
  // Start (the first time) and Resume (later) switch from the scheduler to the
  // fiber running_. Yield switches back.
  void Start(const ucontext_t& begin);
  void Resume();
  void Yield();
  // Waits until the `size` threads from `first` on have arrived.
  void Gather(Gathering& gathering, unsigned first, unsigned size,
              const char* what, const std::source_location& here);
  std::string Stuck() const;

  const Extent blocks_;
  const Extent threads_;
  const std::function<void()>& body_;
  Extent block_;
  unsigned running_ = 0;
  std::vector<Extent> threads_at_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  Gathering barrier_;
  Context scheduler_;
};

}  // namespace muster::emulation

#endif  // MUSTER_TRAINER_SDK_CUDA_EMULATION_BLOCK_RUN_H_
