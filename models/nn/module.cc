#include "models/nn/module.h"

#include "absl/strings/str_cat.h"

namespace trencadis::nn {
namespace {

std::string Join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : absl::StrCat(prefix, ".", name);
}

}  // namespace

std::vector<NamedParameter> Module::Parameters() {
  std::vector<NamedParameter> found;
  CollectParameters("", found);
  return found;
}

void Module::CollectParameters(const std::string& prefix, std::vector<NamedParameter>& found) {
  for (const auto& [name, parameter] : parameters_)
    found.push_back({Join(prefix, name), parameter});
  for (const auto& [name, child] : children_) child->CollectParameters(Join(prefix, name), found);
}

void Module::VisitModules(
    const std::function<void(const std::string& name, Module& module)>& visit) {
  Visit("", visit);
}

void Module::Visit(const std::string& name,
                   const std::function<void(const std::string&, Module&)>& visit) {
  visit(name, *this);
  for (const auto& [child_name, child] : children_) child->Visit(Join(name, child_name), visit);
}

}  // namespace trencadis::nn
