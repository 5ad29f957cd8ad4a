#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace rankscope {
namespace {

// Hashes eight bytes at a time by multiplication and folding. Texts are short field names and
// kernel names; std::hash of 150-byte kernel names took a visible part of the time of readers.
std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ (text.size() * 0xff51afd7ed558ccdULL);
  const char* p = text.data();
  std::size_t n = text.size();
  const auto mix = [&h](std::uint64_t w) {
    h ^= w;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
  };
  while (n >= 8) {
    std::uint64_t w;
    std::memcpy(&w, p, 8);
    mix(w);
    p += 8;
    n -= 8;
  }
  if (n > 0) {
    std::uint64_t w = 0;
    std::memcpy(&w, p, n);
    mix(w);
  }
  h *= 0xd6e8feb86659fd93ULL;
  return h ^ (h >> 29);
}

} // namespace

StringPool::StringPool() {
  slots_.assign(64, kNotFound);
  (void)intern("");
}

StringPool StringPool::share() const {
  StringPool out;
  out.views_ = views_;
  out.hashes_ = hashes_;
  out.slots_ = slots_;
  out.blocks_ = blocks_;
  out.block_used_ = out.block_size_ = 0; // the original pool uses the rest of the last block
  out.arena_bytes_ = arena_bytes_;
  return out;
}

std::size_t StringPool::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash);
  std::size_t slot = static_cast<std::size_t>(hash) & mask;
  while (slots_[slot] != kNotFound &&
         (hashes_[slots_[slot]] != tag || views_[slots_[slot]] != text))
    slot = (slot + 1) & mask;
  return slot;
}

StrId StringPool::find(std::string_view text) const {
  return slots_[slot_of(text, hash_text(text))];
}

StrId StringPool::intern(std::string_view text) {
  const std::uint64_t hash = hash_text(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != kNotFound)
    return slots_[slot];
  if (blocks_.empty() || block_size_ - block_used_ < text.size()) {
    // a small table of a report contains little text, but a sweep has thousands of such tables
    constexpr std::size_t kLeast = 512;
    constexpr std::size_t kMost = std::size_t{64} << 10;
    block_size_ = std::max(text.size(), std::clamp(arena_bytes_, kLeast, kMost));
    blocks_.push_back(std::make_shared_for_overwrite<char[]>(block_size_));
    block_used_ = 0;
    arena_bytes_ += block_size_;
  }
  char* const at = blocks_.back().get() + block_used_;
  if (!text.empty())
    std::memcpy(at, text.data(), text.size());
  block_used_ += text.size();
  const auto id = static_cast<StrId>(views_.size());
  views_.emplace_back(at, text.size());
  hashes_.push_back(static_cast<std::uint32_t>(hash));
  slots_[slot] = id;
  if (views_.size() * 2 > slots_.size())
    grow();
  return id;
}

void StringPool::grow() {
  slots_.assign(slots_.size() * 2, kNotFound);
  const std::size_t mask = slots_.size() - 1;
  for (StrId id = 0; id < views_.size(); ++id) {
    std::size_t slot = static_cast<std::size_t>(hash_text(views_[id])) & mask;
    while (slots_[slot] != kNotFound)
      slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

std::size_t StringPool::bytes() const {
  return arena_bytes_ + views_.capacity() * sizeof(std::string_view) +
         (hashes_.capacity() + slots_.capacity()) * sizeof(std::uint32_t);
}

} // namespace rankscope
