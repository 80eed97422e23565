#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_GPT_STAGE_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_GPT_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/cuda/device_arrays.h"
#include "models/gpt_cuda/cuda_gpt_block.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"

namespace muster::cuda {

// One micro-batch on its way through a stage, and the device memory for it. It
// may be used for one micro-batch after the other.
template <typename T>
class CudaGptMicroBatch {
 public:
  // batch * time each; the first stage needs tokens, the last targets. Below
  // the size of the vocabulary. Read until the backward pass.
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;

 private:
  template <typename>
  friend class CudaGptStage;

  explicit CudaGptMicroBatch(Device& device) : arrays(device) {}

  DeviceArrays arrays;
  // tokens, and how RowsOfTokens sorts them.
  int32_t* tokens_there = nullptr;
  int32_t* tokens_found = nullptr;
  int32_t* begins = nullptr;
  int32_t* rows = nullptr;
  int32_t* targets_there = nullptr;
  // Each block's input, and behind the last its output, the final norm's input.
  std::vector<T*> stream;
  // As many as there are blocks, or one that they all use.
  std::vector<CudaBlockActivations<T>> blocks;
  CudaNormActivations<T> final_norm;
  // Become their own gradient.
  T* logits = nullptr;
  float* losses = nullptr;
  double* mean_loss = nullptr;
};

// Some layers of a transformer on a GPU; GptStage's contract, with these
// differences: all calls but ReadLoss return when their work is on the device's
// stream; errors are the device's status(); streams are arrays of
// stream_count() elements in device memory. T: float, Bfloat16.
template <typename T>
class CudaGptStage {
 public:
  // As GptStage::Checkpointing.
  enum class Checkpointing { kNone, kBlocks };

  // Both must outlive it. ResourceExhausted: the device's memory is full.
  static absl::StatusOr<std::unique_ptr<CudaGptStage>> Create(
      Device& device, CudaGptWeights<T>& weights, int64_t batch, int64_t time,
      Checkpointing checkpointing = Checkpointing::kNone);

  // The device must outlive it. ResourceExhausted: its memory is full.
  absl::StatusOr<std::unique_ptr<CudaGptMicroBatch<T>>> NewMicroBatch() const;

  int64_t stream_count() const { return rows() * width(); }

  // `input` is the last stage's output, or null for the first. The output
  // stays where Output says until the micro-batch's next forward pass.
  void Forward(CudaGptMicroBatch<T>* micro_batch, const T* input) const;
  static const T* Output(const CudaGptMicroBatch<T>& micro_batch) {
    return micro_batch.stream.back();
  }

  // The last stage's. Gradients will be the loss's times `factor`.
  void Loss(CudaGptMicroBatch<T>* micro_batch, float factor) const;
  // The same without a backward pass.
  void LossOnly(CudaGptMicroBatch<T>* micro_batch) const;
  // The mean loss over the micro-batch. Waits for it.
  double ReadLoss(const CudaGptMicroBatch<T>& micro_batch) const;
  // The same to *to in device memory, without waiting.
  void CopyLoss(const CudaGptMicroBatch<T>& micro_batch, double* to) const;

  // `gradient`, that of the stage's output, or anything for the last, becomes
  // that of its input. Adds to the gradients of all weights; each tensor's
  // index is told once, when nothing more will be added in this pass.
  void Backward(CudaGptMicroBatch<T>* micro_batch, T* gradient,
                const CudaGradientReady& ready) const;

  bool has_embeddings() const { return weights_.layers().first == 0; }
  bool has_head() const {
    return weights_.layers().last == weights_.config().layers;
  }

 private:
  CudaGptStage(Device& device, CudaGptWeights<T>& weights, int64_t batch,
               int64_t time, Checkpointing checkpointing);

  int64_t rows() const { return batch_ * time_; }
  int64_t width() const { return weights_.config().width; }
  int64_t layer_count() const {
    return weights_.layers().last - weights_.layers().first;
  }
  // Columns of the logits: those behind the vocabulary's are of no class.
  int64_t classes() const { return weights_.padded_vocabulary(); }
  const CudaBlockActivations<T>& Kept(const CudaGptMicroBatch<T>& micro_batch,
                                      int64_t block) const;
  void Logits(CudaGptMicroBatch<T>* micro_batch) const;
  void HeadBackward(CudaGptMicroBatch<T>* micro_batch, T* gradient,
                    const CudaGradientReady& ready) const;
  void EmbeddingsBackward(const CudaGptMicroBatch<T>& micro_batch,
                          const T* gradient,
                          const CudaGradientReady& ready) const;

  Device& device_;
  CudaGptWeights<T>& weights_;
  const int64_t batch_;
  const int64_t time_;
  const Checkpointing checkpointing_;
  const CudaGptBlock<T> block_;
  // Working memory, of no meaning between calls.
  DeviceArrays arrays_;
  T* inner_;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_GPT_STAGE_H_
