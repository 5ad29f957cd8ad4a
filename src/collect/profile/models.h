// models.json: the commands that a tag selects.
#pragma once

#include "collect/profile/json_value.h"
#include "collect/profile/tool_table.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct Model {
  std::string name;       ///< scope/name for a model of a nested models.json
  std::string scope;      ///< folder of a nested models.json; "" at the top
  std::string dockerfile; ///< as written, relative to the folder of models.json
  std::string script;     ///< file to run, absolute
  std::vector<std::string> arguments;
  std::vector<std::string> tags;
  int n_gpus = -1; ///< -1 = all
  std::optional<double> timeout_s;
  EnvPairs env_vars;
  std::string results_csv; ///< multiple_results; may be empty
  std::string precision;   ///< training_precision
};

struct ModelSearch {
  std::string file = "models.json"; ///< or the folder that contains the file
  std::vector<std::string> tags;    ///< name, tag, all, scope/..., tag:k=v; commas separate several
  bool allow_python = false;        ///< scripts/*/get_models_json.py may be run
};

/// Returns the models of models.json and scripts/*/models.json that the tags select, per tag in the
/// order of the files. A model that two tags select is in the list twice. Errors: kUnreadable;
/// kUsage for a wrong type (with a JSON pointer), a tag that selects nothing (with the nearest
/// tag), a folder with both kinds of lists, or a list that needs Python without permission.
Result<std::vector<Model>> find_models(const ModelSearch& search, std::vector<std::string>& notes);

} // namespace rankscope
