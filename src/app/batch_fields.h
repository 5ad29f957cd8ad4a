// The fields of the facts that batch needs of a rank, as parts (core/part.h). After a change to
// them, raise kBatchPartVersion.
#pragma once

#include "analyses/batch/batch_part.h"
#include "analyses/collectives/collective_part.h"
#include "app/analyze_parts.h"

namespace rankscope {

inline constexpr std::uint32_t kBatchPartVersion = 2;

/// Returns the static text of a category's name; "" for any other name.
[[nodiscard]] inline std::string_view category_text(std::string_view name) {
  for (auto c = Category::kCpuOp; c <= Category::kOther;
       c = static_cast<Category>(static_cast<std::uint8_t>(c) + 1))
    if (category_name(c) == name)
      return category_name(c);
  return {};
}

template <class Archive, PartOf<BatchCall> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.time_ns, r.compute_ns, r.flops, r.bytes, r.kernels);
}

template <class Archive, PartOf<BatchCalls> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.params, r.input_dims, r.input_types, r.input_strides, r.concrete_inputs,
          r.first_uid, r.kernels, r.calls, r.kernel_ns);
}

template <class Archive, PartOf<BatchGroupCalls> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rows, r.events, r.without_kernel, r.unfit);
}

template <class Archive, PartOf<BatchLaunchers> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.count, r.time_ns, r.without_copy_ns);
}

template <class Archive, PartOf<BatchDurations> Row> void part_fields(Archive& archive, Row& r) {
  std::string category(r.category);
  archive(r.name, category, r.count, r.min_ns, r.max_ns, r.sum_ns);
  if constexpr (Archive::kReads) {
    r.category = category_text(category);
    if (r.category.empty())
      archive.fail("a category that is not known");
  }
}

template <class Archive, PartOf<BatchLinks> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.linked, r.unlinked, r.short_linked, r.short_unlinked);
}

template <class Archive, PartOf<BatchShapedRoot> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.uid, r.dur_ms, r.children_ms, r.children);
}

template <class Archive, PartOf<BatchPart> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rank, r.path, r.texts);
  for (auto& group : r.groups)
    archive(group);
  archive(r.launchers, r.timeline, r.links, r.unlinked, r.short_ops, r.runtime, r.collectives,
          r.shaped, r.gpu_events, r.gpu_linked);
  const std::size_t texts = r.texts.size();
  archive.list(r.kernels, [&](auto& k) {
    archive(k.uid, k.ts_ns, k.dur_ns, k.stream, k.has_parent, k.parent_uid, k.parent_ns,
            k.parent_kernels);
    for (auto* text :
         {&k.name, &k.parent, &k.dims, &k.types, &k.strides, &k.concrete, &k.kernel_file})
      archive.below(*text, texts);
  });
}

} // namespace rankscope
