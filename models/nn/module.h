// Module: a tree of named parameters. Forward functions of subclasses only build graph.
//
// A module registers its parameters and children in its constructor, under Hugging Face's names. It
// is neither copied nor moved: the tree points into it.
#ifndef TRENCADIS_MODELS_NN_MODULE_H_
#define TRENCADIS_MODELS_NN_MODULE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "models/nn/parameter.h"

namespace trencadis::nn {

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // All parameters below, depth first in order of registration, with their full names.
  std::vector<NamedParameter> Parameters();
  // Calls `visit` with the full name of every module below ("" for this one).
  void VisitModules(const std::function<void(const std::string& name, Module& module)>& visit);

 protected:
  void Register(std::string name, Parameter* parameter) {
    parameters_.emplace_back(std::move(name), parameter);
  }
  void Register(std::string name, Module* child) { children_.emplace_back(std::move(name), child); }

 private:
  void CollectParameters(const std::string& prefix, std::vector<NamedParameter>& found);
  void Visit(const std::string& name,
             const std::function<void(const std::string&, Module&)>& visit);

  std::vector<std::pair<std::string, Parameter*>> parameters_;
  std::vector<std::pair<std::string, Module*>> children_;
};

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_MODULE_H_
