// Writes <tool>.md for every tool into the directory that is named:
//   bazel run //api/schema:write_reference -- $PWD/docs/reference
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/schema/catalog.h"
#include "api/schema/help.h"
#include "api/schema/tool_list.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_reference DIRECTORY\n");
    return 2;
  }
  for (const google::protobuf::Descriptor* tool : trencadis::schema::ToolList()) {
    const absl::StatusOr<std::string> page = trencadis::schema::WriteReference(tool);
    if (!page.ok()) {
      std::fprintf(stderr, "%s\n", page.status().ToString().c_str());
      return 1;
    }
    const std::string path =
        absl::StrCat(argv[1], "/", (*trencadis::schema::Catalog::Of(tool))->tool_name(), ".md");
    std::ofstream file(path, std::ios::binary);
    file << *page;
    file.close();
    if (!file) {
      std::fprintf(stderr, "%s: cannot write\n", path.c_str());
      return 1;
    }
    std::printf("%s\n", path.c_str());
  }
  return 0;
}
