#include "models/kernels/product_avx512.h"

#include <cstddef>
#include <vector>

#if defined(__x86_64__)

// The compiler may use AVX-512 up to pop_options. All of this code is static,
// so that the linker cannot use it in files that must also run without AVX-512.
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,fma")
#pragma GCC target("prefer-vector-width=512")
#include <immintrin.h>

namespace muster::models {
namespace {

// Number of floats in a vector register.
//
// The product in this file follows Goto and van de Geijn (Anatomy of
// High-Performance Matrix Multiplication, 2008): panels of `b` are packed to
// fit the L1 cache, and a tile of `c` is summed in registers. `a` is packed
// only if it is stored by columns.
constexpr int64_t kLanes = 16;
// Number of rows in a tile of `c`. The sums of a tile, 12 x 2 vectors, use 24
// of the 32 registers.
constexpr int kTileRows = 12;
constexpr int kTileVectors = 2;
constexpr int64_t kPanel = kTileVectors * kLanes;
// While a row of `b` is packed, the row of `b` that comes this number of rows
// later is prefetched.
constexpr int64_t kAhead = 16;
// Number of rows in a packed panel of `b`. With this number, the panel has 32
// KiB.
constexpr int64_t kDepth = 256;

struct Tile {
  int64_t depth;
  float alpha;
  // The tile's part of matrix `a`: the address of its first element, the
  // distance from one row to the next (a_row), and from one column to the next
  // (a_column).
  const float* a;
  int64_t a_row;
  int64_t a_column;
  const float* panel;
  // The factor by which the current contents of `c` are multiplied.
  float beta;
  float* c;
  int64_t stride;
  // Mask of the columns of `c` that the last vector of a tile's row covers.
  __mmask16 mask;
  // The next tile's part of matrix `a`, which is prefetched during this tile.
  // `next`: the first element of this part. `lines`: the number of cache lines
  // per row of the part, or of the whole part if it is packed. `all_lines`: the
  // number of cache lines of the whole part; 0: nothing is prefetched.
  const float* next;
  int64_t lines;
  int64_t all_lines;
};

// Prefetches the part of `a` for the next tile, one cache line in each step of
// the current tile's loop. The rows of this part are too short for the
// processor's own prefetcher.
struct Ahead {
  const float* stream;
  int64_t step;
  int64_t lines;
  int64_t line = 0;

  inline __attribute__((always_inline)) void Fetch() {
    _mm_prefetch(stream + line * kLanes, _MM_HINT_T0);
    if (++line == lines) {
      line = 0;
      stream += step;
    }
  }
};

template <int kRows, int kVectors, bool kBetaIsZero>
inline __attribute__((always_inline)) void MultiplyTile(const Tile& tile) {
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sums[row][v] = _mm512_setzero_ps();
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    for (int v = 0; v < kVectors; ++v) {
      __builtin_prefetch(tile.c + row * tile.stride + v * kLanes, 1);
    }
  }
  Ahead ahead = {tile.next, tile.a_row, tile.lines};
  const float* left = tile.a;
  const float* right = tile.panel;
  for (int64_t k = 0; k < tile.depth; ++k) {
    if (k < tile.all_lines) ahead.Fetch();
    __m512 b[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      b[v] = _mm512_load_ps(right + v * kLanes);
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const __m512 value = _mm512_set1_ps(left[row * tile.a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums[row][v] = _mm512_fmadd_ps(value, b[v], sums[row][v]);
      }
    }
    left += tile.a_column;
    right += kPanel;
  }
  const __m512 alpha = _mm512_set1_ps(tile.alpha);
  const __m512 beta = _mm512_set1_ps(tile.beta);
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      float* const to = tile.c + row * tile.stride + v * kLanes;
      const __mmask16 mask =
          v + 1 == kVectors ? tile.mask : static_cast<__mmask16>(0xffff);
      __m512 value = _mm512_mul_ps(alpha, sums[row][v]);
      if constexpr (!kBetaIsZero) {
        value = _mm512_fmadd_ps(beta, _mm512_maskz_loadu_ps(mask, to), value);
      }
      _mm512_mask_storeu_ps(to, mask, value);
    }
  }
}

template <int kRows, int kVectors>
void MultiplyRows(const Tile& tile) {
  if (tile.beta == 0) {
    MultiplyTile<kRows, kVectors, true>(tile);
  } else {
    MultiplyTile<kRows, kVectors, false>(tile);
  }
}

// Computes all rows of `c` for one panel of `b`. `tile_step`: the distance
// between the first elements, in `a`, of two consecutive tiles.
template <int kVectors>
void MultiplyPanel(int64_t rows, int64_t tile_step, Tile tile) {
  int64_t i = 0;
  const float* const first = tile.a;
  const auto advance = [&](int64_t count) {
    i += count;
    tile.a += count == kTileRows ? tile_step : count * tile.a_row;
    tile.c += count * tile.stride;
  };
  while (i + kTileRows <= rows) {
    // Prefetch the part of `a` for the next tile. During the last whole tile,
    // prefetch the part for the first tile, because the caller continues with
    // the first tile for the next panel of `b`.
    tile.next = i + 2 * kTileRows <= rows ? tile.a + tile_step : first;
    MultiplyRows<kTileRows, kVectors>(tile);
    advance(kTileRows);
  }
  tile.all_lines = 0;
  if (i + 8 <= rows) {
    MultiplyRows<8, kVectors>(tile);
    advance(8);
  }
  if (i + 4 <= rows) {
    MultiplyRows<4, kVectors>(tile);
    advance(4);
  }
  while (i < rows) {
    MultiplyRows<1, kVectors>(tile);
    advance(1);
  }
}

// Packs a panel of `b`, if `b` is stored by rows.
void PackRows(const float* b, int64_t step, int64_t depth, int64_t columns,
              float* panel) {
  const auto low =
      static_cast<__mmask16>(columns >= kLanes ? 0xffff : (1u << columns) - 1);
  const auto high = static_cast<__mmask16>(
      columns >= kPanel   ? 0xffff
      : columns <= kLanes ? 0
                          : (1u << (columns - kLanes)) - 1);
  for (int64_t k = 0; k < depth; ++k) {
    const float* const from = b + k * step;
    _mm_prefetch(from + kAhead * step, _MM_HINT_T0);
    _mm_prefetch(from + kAhead * step + kLanes, _MM_HINT_T0);
    _mm512_store_ps(panel, _mm512_maskz_loadu_ps(low, from));
    _mm512_store_ps(panel + kLanes, _mm512_maskz_loadu_ps(high, from + kLanes));
    panel += kPanel;
  }
}

// Transposes 16 x 16 elements in registers. Used to pack a panel of `b` if `b`
// is stored by columns.
void Transpose16(__m512* r) {
  __m512 t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    const auto pair = [&](int j) { return _mm512_castps_pd(t[i + j]); };
    r[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(pair(0), pair(2)));
    r[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(pair(0), pair(2)));
    r[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(pair(1), pair(3)));
    r[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(pair(1), pair(3)));
  }
  for (int half = 0; half < 16; half += 8) {
    for (int i = 0; i < 4; ++i) {
      const __m512 a = r[half + i];
      const __m512 b = r[half + i + 4];
      t[half + i] = _mm512_shuffle_f32x4(a, b, 0x88);
      t[half + i + 4] = _mm512_shuffle_f32x4(a, b, 0xdd);
    }
  }
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
  }
}

void PackColumns(const float* b, int64_t step, int64_t depth, int64_t columns,
                 float* panel) {
  for (int64_t from = 0; from < kPanel; from += kLanes) {
    const int64_t here = columns - from < kLanes ? columns - from : kLanes;
    for (int64_t k = 0; k < depth; k += kLanes) {
      const int64_t left = depth - k < kLanes ? depth - k : kLanes;
      const auto mask =
          static_cast<__mmask16>(left == kLanes ? 0xffff : (1u << left) - 1);
      __m512 block[kLanes];
      for (int64_t j = 0; j < kLanes; ++j) {
        block[j] = j < here
                       ? _mm512_maskz_loadu_ps(mask, b + (from + j) * step + k)
                       : _mm512_setzero_ps();
      }
      Transpose16(block);
      for (int64_t j = 0; j < left; ++j) {
        _mm512_store_ps(panel + (k + j) * kPanel + from, block[j]);
      }
    }
  }
}

// Packs rows of matrix `a`, which is stored by columns, into tiles. In `a`
// itself the elements of a row are so far apart in memory that they evict each
// other from the cache. `packed` must have PackedCount elements.
void PackTiles(const float* a, int64_t step, int64_t rows, int64_t depth,
               float* packed) {
  for (int64_t i = 0; i < rows; i += kTileRows) {
    const int64_t here = rows - i < kTileRows ? rows - i : kTileRows;
    const auto mask = static_cast<__mmask16>((1u << here) - 1);
    for (int64_t k = 0; k < depth; ++k) {
      // The store writes 16 elements for a tile of 12 rows. The last four are
      // overwritten by the next store, or are beyond the end of the tile.
      _mm512_storeu_ps(packed, _mm512_maskz_loadu_ps(mask, a + k * step + i));
      packed += kTileRows;
    }
  }
}

void Multiply(int64_t rows, int64_t columns, int64_t inner, float alpha,
              const ProductFactor& a, const ProductFactor& b, float beta,
              float* c, int64_t stride, float* packed) {
  alignas(64) float panel[kDepth * kPanel];
  const bool pack = a.column != 1;
  for (int64_t k = 0; k == 0 || k < inner; k += kDepth) {
    const int64_t depth = inner - k < kDepth ? inner - k : kDepth;
    if (pack) {
      PackTiles(a.data + k * a.column, a.column, rows, depth, packed);
    }
    for (int64_t j = 0; j < columns; j += kPanel) {
      const int64_t here = columns - j < kPanel ? columns - j : kPanel;
      const float* const from = b.data + k * b.row + j * b.column;
      if (b.column == 1) {
        PackRows(from, b.row, depth, here, panel);
      } else {
        PackColumns(from, b.column, depth, here, panel);
      }
      const int64_t last = (here - 1) % kLanes + 1;
      const int64_t tile_step = kTileRows * (pack ? depth : a.row);
      const int64_t lines = kTileRows * depth / kLanes;
      const Tile tile = {
          .depth = depth,
          .alpha = alpha,
          .a = pack ? packed : a.data + k,
          .a_row = pack ? 1 : a.row,
          .a_column = pack ? kTileRows : 1,
          .panel = panel,
          .beta = k == 0 ? beta : 1,
          .c = c + j,
          .stride = stride,
          .mask = static_cast<__mmask16>((1u << last) - 1),
          .next = nullptr,
          .lines = pack ? lines : depth / kLanes,
          .all_lines = pack ? lines : depth / kLanes * kTileRows,
      };
      if (here > kLanes) {
        MultiplyPanel<2>(rows, tile_step, tile);
      } else {
        MultiplyPanel<1>(rows, tile_step, tile);
      }
    }
  }
}

}  // namespace
}  // namespace muster::models

#pragma GCC pop_options

namespace muster::models {
namespace {

size_t PackedCount(int64_t rows, int64_t inner) {
  const int64_t depth = inner < kDepth ? inner : kDepth;
  const int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  return static_cast<size_t>(tiles * kTileRows * depth + kLanes - kTileRows);
}

void Product(int64_t rows, int64_t columns, int64_t inner, float alpha,
             const ProductFactor& a, const ProductFactor& b, float beta,
             float* c, int64_t stride) {
  // The memory is kept between calls, because new memory would cost a page
  // fault per 4 KiB in each product.
  thread_local std::vector<float> packed;
  if (a.column != 1 && packed.size() < PackedCount(rows, inner)) {
    packed.resize(PackedCount(rows, inner));
  }
  Multiply(rows, columns, inner, alpha, a, b, beta, c, stride, packed.data());
}

}  // namespace

SingleProduct Avx512Product() { return Product; }

}  // namespace muster::models

#else

namespace muster::models {

SingleProduct Avx512Product() { return nullptr; }

}  // namespace muster::models

#endif
