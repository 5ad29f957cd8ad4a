// Flags of `rankscope synth`: the size of a sweep, and the program of a server.
#pragma once

#include "cli/command.h"
#include "synth/synth.h"
#include "synth/synth_inference.h"

#include <string>

namespace rankscope {

struct SynthServer {
  std::string program = "training"; ///< "training" or "inference"; the options apply to the latter
  synth::InferenceOptions options;
};

/// Declare the flags; the second argument must outlive parsing.
void add_synth_size(FlagSet& app, synth::Options& options);
void add_synth_server(FlagSet& app, SynthServer& server);

/// Writes the trace of a server with the layers, seed and vendor of `size` into the folder `out`.
/// Errors: kOutput.
Result<void> write_synth_server(Context& ctx, const SynthServer& server, const synth::Options& size,
                                const std::string& out);

} // namespace rankscope
