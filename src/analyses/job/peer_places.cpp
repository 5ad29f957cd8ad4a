#include "analyses/job/peer_places.h"

#include "base/statistics.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope {

PeerPlaces::PeerPlaces(const JobRun& run, std::span<const std::uint32_t> outstanding,
                       const Contention* contention)
    : run_(run), contention_(contention), peer_(run.ranks.size(), true), peers_(run.ranks.size()),
      places_(places_of(run, PlaceIn::kEachStep)), operators_(places_by_operator(run)),
      at_place_(places_), at_operator_(operators_) {
  if (run.ranks.size() >= outstanding.size() + kFewestRanks - 1) {
    peers_ -= outstanding.size();
    for (const std::uint32_t rank : outstanding)
      peer_[rank] = false;
  }
  compare_inputs(outstanding);
}

void PeerPlaces::compare_inputs(std::span<const std::uint32_t> outstanding) {
  constexpr auto kNotOutstanding = static_cast<std::size_t>(-1);
  std::vector<std::size_t> position(run_.ranks.size(), kNotOutstanding);
  for (std::size_t k = 0; k < outstanding.size(); ++k)
    position[outstanding[k]] = k;
  inputs_differ_.assign(outstanding.size(), std::vector<bool>(operators_.count));
  for (std::uint32_t place = 0; place < operators_.count; ++place) {
    const std::span<const NodeId> at = at_operator_.at(place);
    if (run_.activity(at.front()).op == kEmptyStr)
      continue;
    const auto shapes = [&](NodeId n) { return run_.text(n, run_.activity(n).shapes); };
    std::map<std::string_view, std::size_t> peer_kernels; // number of kernels by shapes
    std::size_t peers = 0;
    for (const NodeId n : at)
      if (peer_[run_.rank_of[n]]) {
        ++peers;
        ++peer_kernels[shapes(n)];
      }
    for (const NodeId n : at) {
      const std::size_t k = position[run_.rank_of[n]];
      if (k == kNotOutstanding)
        continue;
      const auto same = peer_kernels.find(shapes(n));
      const std::size_t alike = same == peer_kernels.end() ? 0 : same->second;
      if (2 * (peers - alike) > peers)
        inputs_differ_[k][place] = true;
    }
  }
}

PeerComparison PeerPlaces::compare(NodeId n) const {
  using Kind = PeerComparison::Kind;
  const std::uint32_t rank = run_.rank_of[n];
  const std::size_t others = peers_ - (peer_[rank] ? 1 : 0);
  const auto is_other_peer = [&](NodeId at) {
    return run_.rank_of[at] != rank && peer_[run_.rank_of[at]];
  };
  const Activity& activity = run_.activity(n);
  const auto contention = [this](NodeId at) {
    return contention_ == nullptr ? 0 : contention_->added_ns(at);
  };
  const auto alone_ns = [&](NodeId at) {
    return static_cast<double>(places_.time_ns(run_.graph, at) - contention(at));
  };
  const std::int64_t own = contention(n);
  std::vector<double> peers;
  const auto median = [&] {
    return static_cast<std::int64_t>(quantile_of(std::move(peers), 0.5)) + own;
  };
  const NodeId first = places_.first(n);
  for (const NodeId at : at_place_.at(places_.place[first]))
    if (is_other_peer(at))
      peers.push_back(alone_ns(at));
  if (2 * peers.size() >= others)
    return {Kind::kSame, first == n ? median() : 0, own};
  if (!on_gpu(activity.kind))
    return {};
  // Most peers do not have this kernel with these shapes. Their operator at this place has other
  // inputs, or uses another kernel.
  peers.clear();
  std::size_t other_shapes = 0;
  if (activity.op != kEmptyStr)
    for (const NodeId at : at_operator_.at(operators_.place[n]))
      if (is_other_peer(at)) {
        peers.push_back(alone_ns(at));
        if (run_.text(at, run_.activity(at).shapes) != run_.text(n, activity.shapes))
          ++other_shapes;
      }
  if (2 * peers.size() < others)
    return {Kind::kExtra, 0, own};
  const bool larger = 2 * other_shapes > peers.size();
  return {larger ? Kind::kLargerInputs : Kind::kSame, median(), own};
}

} // namespace rankscope
