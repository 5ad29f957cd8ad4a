#include "analyses/inference/graph_merge.h"

#include "analyses/inference/graph_template.h"
#include "base/counters.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>

namespace rankscope {
namespace {

struct GraphMergeLaunch {
  EventId event = kNoEvent;
  std::vector<EventId> kernels; ///< ordered by start
  std::uint32_t sequence = 0;   ///< equal numbers: equal kernels in equal order on equal streams
  std::optional<std::size_t> file{}; ///< file that the launch's step selects
  std::size_t in_step = 0;           ///< number of launches in the same step
  std::size_t place = 0;             ///< position of this launch in its step
  std::shared_ptr<const GraphTemplate> graft{};
  std::int64_t batch = 0; ///< batch size of the graft's file
  GraphLaunch fact{};
};

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// A loaded capture with its graphs and calls.
struct Capture {
  const CaptureFile* file = nullptr;
  std::uint16_t source = 0;
  std::unique_ptr<LoadedTrace> trace; ///< must not move, because `texts` refers to it
  std::unique_ptr<CaptureTexts> texts;
  std::vector<CaptureRoot> roots;
  std::vector<std::vector<GraphItem>> calls; ///< calls of each root
};

class GraphMergeMerger {
public:
  GraphMergeMerger(LoadedTrace& t, const std::vector<CaptureFile>& files, const LoadCapture& load,
                   const GraphMergeOptions& options)
      : t_(t), files_(files), load_(load), options_(options), builder_("") {
    for (FoundLaunch& l : find_graph_launches(t))
      launches_.push_back({l.event, std::move(l.kernels)});
  }

  void run() {
    if (launches_.empty())
      return;
    name_sequences();
    choose();
    builder_ = TraceBuilder::extend(std::move(t_.trace));
    match_by_step();
    if (hopeless_)
      for (GraphMergeLaunch& l : launches_) {
        l.graft.reset();
        l.fact.match = GraphMatch::kNone;
        l.fact.attributed = 0;
      }
    else if (!options_.compat)
      match_by_kernels();
    graft_all();
    note();
    t_.trace = std::move(builder_).finish().value(); // cannot fail, because the input is complete
    t_.tree.change(t_.trace, changes_);
    t_.facts = {};
  }

private:
  void name_sequences() {
    const Events& e = t_.trace.events;
    std::map<std::vector<std::pair<StrId, std::int32_t>>, std::uint32_t> known;
    for (GraphMergeLaunch& l : launches_) {
      std::vector<std::pair<StrId, std::int32_t>> names;
      for (const EventId k : l.kernels)
        names.emplace_back(e.name[k], e.stream[k]);
      const auto [at, fresh] = known.try_emplace(std::move(names), sequences_.size());
      l.sequence = at->second;
      if (!fresh)
        continue;
      std::vector<GraphItem>& items = sequences_.emplace_back();
      for (const EventId k : l.kernels) {
        items.push_back(graph_item(e.name[k], t_.trace.name(k), true));
        items.back().stream = e.stream[k];
      }
    }
  }

  void choose() {
    std::vector<FoundLaunch> found;
    for (const GraphMergeLaunch& l : launches_)
      found.push_back({l.event, {}});
    const std::vector<StepLaunches> steps = steps_with_launches(t_.trace, found);
    const char* const no_step =
        steps.empty() ? "the trace has no annotated steps" : "it is not inside an annotated step";
    for (GraphMergeLaunch& l : launches_)
      l.fact.why = no_step;
    for (const StepLaunches& step : steps) {
      std::string why;
      const auto file =
          choose_capture(files_, step.step.counts.batch_size, step.launches.size(), why);
      for (std::size_t i = 0; i < step.launches.size(); ++i) {
        GraphMergeLaunch& l = launches_[step.launches[i]];
        l.file = file;
        l.in_step = step.launches.size();
        l.place = i;
        l.fact.why = why;
      }
    }
  }

  void match_by_step() {
    for (std::size_t f = 0; f < files_.size() && !hopeless_; ++f) {
      const auto of_file = [f](const GraphMergeLaunch& l) {
        return l.file == f && !l.kernels.empty();
      };
      if (std::none_of(launches_.begin(), launches_.end(), of_file))
        continue;
      std::string why;
      std::optional<Capture> capture = open(files_[f], why);
      Grafts made;
      for (GraphMergeLaunch& l : launches_)
        if (of_file(l)) {
          if (!capture)
            l.fact.why = why;
          else
            match(*capture, made, l);
        }
    }
  }

  /// Finds captures by kernels for the launches that still have no graft.
  void match_by_kernels() {
    const auto has_no_graft = [](const GraphMergeLaunch& l) {
      return l.graft == nullptr && !l.kernels.empty();
    };
    if (std::none_of(launches_.begin(), launches_.end(), has_no_graft))
      return;
    std::vector<bool> several(launches_.size());
    std::vector<bool> unmatched(launches_.size());
    for (std::size_t i = 0; i < launches_.size(); ++i)
      unmatched[i] = has_no_graft(launches_[i]);
    for (const CaptureFile& file : files_) {
      std::string why;
      std::optional<Capture> capture = open(file, why);
      if (!capture)
        continue;
      Grafts made;
      for (std::size_t i = 0; i < launches_.size(); ++i) {
        GraphMergeLaunch& l = launches_[i];
        if (!unmatched[i] || several[i] || (l.graft != nullptr && l.batch == file.batch_size))
          continue;
        for (std::uint32_t r = 0; r < capture->roots.size(); ++r) {
          const GraphAlignment& a = aligned(*capture, made, r, l.sequence).alignment;
          if ((a.match != GraphMatch::kPosition && a.match != GraphMatch::kStreams) || a.unchecked)
            continue;
          if (l.graft != nullptr) {
            several[i] = true;
            break;
          }
          set_graft(*capture, made, r, l);
          break;
        }
      }
    }
    for (std::size_t i = 0; i < launches_.size(); ++i)
      if (several[i]) {
        launches_[i].graft.reset();
        launches_[i].fact = {};
        launches_[i].fact.why = "captures of several batch sizes have its kernels";
      }
  }

  std::optional<Capture> open(const CaptureFile& file, std::string& why) {
    Result<LoadedTrace> loaded = load_(file);
    if (!loaded) {
      why = loaded.error().message();
      return std::nullopt;
    }
    Capture out;
    out.file = &file;
    out.trace = std::make_unique<LoadedTrace>(std::move(*loaded));
    const Trace& trace = out.trace->trace;
    out.texts = std::make_unique<CaptureTexts>(builder_, trace);
    out.roots = capture_roots(*out.trace, options_.compat);
    std::vector<GraphItem> by_name(trace.strings.size()); // items by name, filled on first use
    std::vector<bool> known(trace.strings.size());
    for (const CaptureRoot& root : out.roots) {
      std::vector<GraphItem>& calls = out.calls.emplace_back();
      for (const EventId d : root.dispatches) {
        const LaunchArgs* const launch = trace.launch_arg(d);
        const StrId name = launch != nullptr ? launch->kernel : trace.events.name[d];
        if (!known[name]) {
          const std::string_view text = trace.strings.view(name);
          by_name[name] = graph_item(builder_.text(text), text, false);
          known[name] = true;
        }
        calls.push_back(by_name[name]);
        calls.back().named = launch != nullptr;
      }
    }
    if (const auto at = sources_.find(file.path); at != sources_.end())
      out.source = at->second;
    else
      out.source = sources_[file.path] = builder_.add_source({file.path, "", trace.clock()});
    return out;
  }

  struct Aligned {
    GraphAlignment alignment;
    std::shared_ptr<const GraphTemplate> graft; ///< created when it is first used
  };
  using Grafts = std::map<std::pair<std::uint32_t, std::uint32_t>, Aligned>; ///< (root, sequence)

  Aligned& aligned(const Capture& c, Grafts& made, std::uint32_t root, std::uint32_t sequence) {
    const auto [at, fresh] = made.try_emplace({root, sequence});
    if (fresh)
      at->second.alignment = align_graph(c.calls[root], sequences_[sequence], options_.compat);
    return at->second;
  }

  void match(const Capture& c, Grafts& made, GraphMergeLaunch& l) {
    const std::size_t graphs = c.roots.size();
    if (graphs == 0) {
      l.fact.why = fmt::format(
          "{} has no capture of a graph from beginning to end{}", file_name(c.file->path),
          c.trace->trace.diagnostics.data_lost() ? ": the file is damaged" : "");
      return;
    }
    if (graphs != 1 && graphs != l.in_step) {
      l.fact.why = fmt::format("{} has {} graphs, the step {} launches", file_name(c.file->path),
                               graphs, l.in_step);
      return;
    }
    set_graft(c, made, graphs == 1 ? 0 : static_cast<std::uint32_t>(l.place), l);
  }

  void set_graft(const Capture& c, Grafts& made, std::uint32_t root, GraphMergeLaunch& l) {
    Aligned& a = aligned(c, made, root, l.sequence);
    l.fact.capture = file_name(c.file->path);
    l.fact.why = a.alignment.why;
    l.fact.unchecked = a.alignment.unchecked;
    hopeless_ = hopeless_ || (options_.compat && a.alignment.hopeless);
    if (a.alignment.match == GraphMatch::kNone)
      return;
    if (a.graft == nullptr) {
      auto graph = std::make_shared<GraphTemplate>(make_graph_template(
          *c.trace, c.roots[root], a.alignment, {options_.compat}, *c.texts, builder_));
      graph->source = c.source;
      a.graft = std::move(graph);
    }
    l.graft = a.graft;
    l.batch = c.file->batch_size;
    l.fact.match = a.alignment.match;
    l.fact.attributed = a.alignment.matched;
  }

  void graft_all() {
    std::uint64_t uid = builder_.so_far().events_in_file;
    for (GraphMergeLaunch& l : launches_) {
      l.fact.launch = l.event;
      l.fact.kernels = l.kernels.size();
      if (l.graft != nullptr)
        uid = graft(l, uid);
      if (!l.kernels.empty())
        t_.graph_launches.push_back(l.fact);
    }
    // the uids from here on are for rows that reports create
    builder_.set_input(builder_.so_far().input_bytes, uid);
  }

  std::uint64_t graft(const GraphMergeLaunch& l, std::uint64_t uid) {
    std::vector<EventId> below;
    for (const EventId child : t_.tree.children(l.event))
      if (!is_gpu(builder_.so_far().events.category[child]))
        below.push_back(child);
    return put_graph(*l.graft, l.event, l.kernels, below, uid, {options_.compat}, builder_,
                     changes_);
  }

  void note() {
    std::size_t merged = 0;
    std::size_t complete = 0;
    const GraphLaunch* left = nullptr;
    for (const GraphLaunch& l : t_.graph_launches) {
      merged += l.match != GraphMatch::kNone ? 1 : 0;
      complete += l.attributed == l.kernels ? 1 : 0;
      if (left == nullptr && l.attributed < l.kernels)
        left = &l;
    }
    const std::string& where = builder_.so_far().path;
    if (merged > 0)
      builder_.diagnostics().add(counters::graphs_merged(), where, merged);
    if (left != nullptr)
      builder_.diagnostics().add(counters::graphs_not_merged(left->why), where,
                                 t_.graph_launches.size() - complete);
  }

  LoadedTrace& t_;
  const std::vector<CaptureFile>& files_;
  const LoadCapture& load_;
  GraphMergeOptions options_;
  std::vector<GraphMergeLaunch> launches_;
  std::vector<std::vector<GraphItem>> sequences_;
  TraceBuilder builder_;
  std::map<std::string, std::uint16_t> sources_;
  TreeChanges changes_;
  bool hopeless_ = false; ///< compat: a launch with GraphAlignment::hopeless cancels the merge
};

} // namespace

void merge_captures(LoadedTrace& trace, const std::vector<CaptureFile>& files,
                    const LoadCapture& load, const GraphMergeOptions& options) {
  GraphMergeMerger(trace, files, load, options).run();
}

} // namespace rankscope
