#ifndef MUSTER_MODELS_GPT_GPT_STAGE_H_
#define MUSTER_MODELS_GPT_GPT_STAGE_H_

#include <cstdint>
#include <vector>

#include "models/gpt/gpt_block.h"
#include "models/gpt/gpt_weights.h"

namespace muster {

// One micro-batch on its way through a stage. After its backward pass it has
// its tokens and targets alone: the stage keeps the memory for its next ones.
struct GptMicroBatch {
  // batch * time each; the first stage needs tokens, the last targets. Below
  // the size of the vocabulary.
  std::vector<int32_t> tokens = {};
  std::vector<int32_t> targets = {};

  // What the forward pass keeps for the backward pass.
  std::vector<GptBlockActivations> blocks = {};
  std::vector<float> final_input = {};
  NormActivations final_norm = {};
  // Become their own gradient.
  std::vector<float> logits = {};
  // Of the stage's input.
  std::vector<float> input_gradient = {};
};

// Some layers of a transformer and what belongs to them: the whole model, or a
// pipeline's stage. Passes may be mixed as a schedule wants, for micro-batches
// apart. Single-threaded but for what OpenBLAS does.
class GptStage {
 public:
  // Whether blocks keep all that their backward pass needs, or only their
  // input, and compute the rest again (Chen et al., 2016).
  enum class Checkpointing { kNone, kBlocks };

  // `weights` must outlive it.
  GptStage(GptWeights& weights, int64_t batch, int64_t time,
           Checkpointing checkpointing = Checkpointing::kNone);

  // Elements of the stream between stages: batch * time * width.
  int64_t stream_count() const;

  // `stream` is the last stage's output, or anything for the first, and becomes
  // this one's.
  void Forward(GptMicroBatch* micro_batch, std::vector<float>* stream) const;

  // The last stage's: from its output to the mean loss over the micro-batch.
  // Gradients will be the loss's times `factor`.
  double Loss(GptMicroBatch* micro_batch, const std::vector<float>& stream,
              float factor) const;
  // The same without a backward pass; logits are what they say.
  double LossOnly(GptMicroBatch* micro_batch,
                  const std::vector<float>& stream) const;

  // `gradient`, that of the stage's output, or anything for the last, becomes
  // that of its input.
  void BackwardInput(GptMicroBatch* micro_batch,
                     std::vector<float>* gradient) const;

  // Adds to the gradients of all weights; each tensor's index is told once,
  // when nothing more will be added in this pass.
  void BackwardWeight(GptMicroBatch* micro_batch,
                      const GradientReady& ready) const;

  // Both, layer by layer, so that gradients are ready as early as can be.
  void Backward(GptMicroBatch* micro_batch, std::vector<float>* gradient,
                const GradientReady& ready) const;

  bool has_embeddings() const { return weights_.layers().first == 0; }
  bool has_head() const {
    return weights_.layers().last == weights_.config().layers;
  }

 private:
  int64_t rows() const { return batch_ * time_; }
  void TakeMemory(GptMicroBatch* micro_batch) const;
  void GiveBackMemory(GptMicroBatch* micro_batch) const;
  int64_t width() const { return weights_.config().width; }
  void Logits(GptMicroBatch* micro_batch,
              const std::vector<float>& stream) const;
  void HeadBackwardInput(GptMicroBatch* micro_batch,
                         std::vector<float>* gradient) const;
  void HeadBackwardWeight(GptMicroBatch* micro_batch,
                          const GradientReady& ready) const;
  void BlockBackwardInput(GptMicroBatch* micro_batch, int64_t layer,
                          std::vector<float>* gradient) const;
  void EmbeddingsBackward(const GptMicroBatch& micro_batch,
                          const std::vector<float>& gradient,
                          const GradientReady& ready) const;

  GptWeights& weights_;
  const int64_t batch_;
  const int64_t time_;
  const Checkpointing checkpointing_;
  const GptBlock block_;
  // Of micro-batches that are done: as many as were ever on their way at once.
  // New memory would cost a page fault for each 4 KiB in each step.
  mutable std::vector<GptMicroBatch> spare_;
  // Working memory, of no meaning between calls. The gradients are lent to one
  // block after the other: they stay in the processor's cache.
  mutable std::vector<float> inner_;
  mutable GptBlockGradients gradients_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_GPT_STAGE_H_
