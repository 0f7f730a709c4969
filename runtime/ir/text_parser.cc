#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ir/number_text.h"
#include "runtime/ir/text.h"
#include "runtime/ir/text_lexer.h"
#include "runtime/ir/verifier.h"

namespace trencadis::ir {
namespace {

// Recursive descent; one level of recursion per nested graph, at most kMaxGraphDepth.
class Parser {
 public:
  Parser(absl::string_view text, OpLookup find_op, const ParseLimits& limits)
      : lexer_(text), find_op_(find_op), limits_(limits) {}

  absl::StatusOr<Graph> ParseAll() {
    TRENCADIS_ASSIGN_OR_RETURN(Graph graph, ParseGraph(0));
    if (lexer_.token().kind != Token::Kind::kEnd) return lexer_.Unexpected("the end of the text");
    return graph;
  }

 private:
  using Names = absl::flat_hash_map<absl::string_view, int32_t>;

  absl::StatusOr<Graph> ParseGraph(int depth);
  absl::Status ParseNode(Graph& graph, Names& names, int depth);
  absl::Status AddParsedNode(Graph& graph, const Token& name, std::vector<Value> operands,
                             Attributes attributes);
  absl::StatusOr<std::vector<Value>> ParseValues(const Graph& graph, const Names& names);
  absl::StatusOr<Value> ParseValue(const Graph& graph, const Names& names);
  absl::StatusOr<Attributes> ParseAttributes(int depth);
  absl::StatusOr<Attribute> ParseAttribute(int depth);
  absl::StatusOr<Attribute> ParseNumber();
  absl::StatusOr<Attribute> ParseInts();
  absl::StatusOr<Attribute> ParseDTypeOrLiteral();
  absl::StatusOr<Attribute> ParseLiteral(const TensorType& type, size_t offset);
  absl::StatusOr<TensorType> ParseType();
  absl::StatusOr<TypeList> ParseTypes();
  absl::StatusOr<std::string> ParseString();

  absl::Status Expect(absl::string_view text) {
    if (lexer_.Consume(text)) return absl::OkStatus();
    return lexer_.Unexpected(absl::StrCat("'", text, "'"));
  }
  absl::StatusOr<absl::string_view> ExpectWord(absl::string_view wanted) {
    if (lexer_.token().kind != Token::Kind::kWord) return lexer_.Unexpected(wanted);
    const absl::string_view word = lexer_.token().text;
    lexer_.Advance();
    return word;
  }

  Lexer lexer_;
  OpLookup find_op_;
  ParseLimits limits_;  // what is left of them
};

absl::StatusOr<Graph> Parser::ParseGraph(int depth) {
  if (depth > kMaxGraphDepth) {
    return lexer_.Error(
        absl::StrCat("graphs lie more than ", kMaxGraphDepth, " deep in one another"));
  }
  TRENCADIS_RETURN_IF_ERROR(Expect("graph"));
  TRENCADIS_RETURN_IF_ERROR(Expect("{"));
  Graph graph;
  Names names;
  while (lexer_.Is("%")) TRENCADIS_RETURN_IF_ERROR(ParseNode(graph, names, depth));
  if (!lexer_.Consume("return")) return lexer_.Unexpected("a node (%name = ...) or 'return'");
  if (!lexer_.Is("}")) {
    TRENCADIS_ASSIGN_OR_RETURN(std::vector<Value> outputs, ParseValues(graph, names));
    graph.SetOutputs(std::move(outputs));
  }
  TRENCADIS_RETURN_IF_ERROR(Expect("}"));
  return graph;
}

absl::Status Parser::ParseNode(Graph& graph, Names& names, int depth) {
  TRENCADIS_RETURN_IF_ERROR(Expect("%"));
  const size_t name_offset = lexer_.token().offset;
  if (limits_.nodes-- <= 0) return lexer_.Error("more nodes than the limit allows");
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view name, ExpectWord("a name"));
  if (name.find('.') != absl::string_view::npos) {
    return lexer_.ErrorAt(name_offset, "a node's name has no '.'");
  }
  if (!names.emplace(name, graph.num_nodes()).second) {
    return lexer_.ErrorAt(name_offset, absl::StrCat("%", name, " is defined twice"));
  }
  TRENCADIS_RETURN_IF_ERROR(Expect("="));
  const Token op = lexer_.token();
  TRENCADIS_RETURN_IF_ERROR(ExpectWord("an op").status());
  TRENCADIS_RETURN_IF_ERROR(Expect("("));
  std::vector<Value> operands;
  if (!lexer_.Is(")")) {
    TRENCADIS_ASSIGN_OR_RETURN(operands, ParseValues(graph, names));
  }
  TRENCADIS_RETURN_IF_ERROR(Expect(")"));
  TRENCADIS_ASSIGN_OR_RETURN(Attributes attributes, ParseAttributes(depth));
  return AddParsedNode(graph, op, std::move(operands), std::move(attributes));
}

// Reads types and label, which follow.
absl::Status Parser::AddParsedNode(Graph& graph, const Token& name, std::vector<Value> operands,
                                   Attributes attributes) {
  const OpDef* op = find_op_(name.text);
  if (op == nullptr) {
    return lexer_.ErrorAt(name.offset, absl::StrCat("there is no op '", name.text, "'"));
  }
  const bool is_input = op->traits.op_class == OpClass::kInput;
  if (is_input) {
    if (!operands.empty() || !attributes.entries().empty()) {
      return lexer_.ErrorAt(name.offset, "an input has neither operands nor attributes");
    }
    if (graph.num_nodes() != graph.num_inputs()) {
      return lexer_.ErrorAt(name.offset, "an input after other nodes; inputs come first");
    }
  }
  const size_t type_offset = lexer_.token().offset;
  TypeList types;
  const bool typed = lexer_.Consume(":");
  if (typed) {
    TRENCADIS_ASSIGN_OR_RETURN(types, ParseTypes());
  }
  std::string label;
  if (lexer_.Consume("@")) {
    TRENCADIS_ASSIGN_OR_RETURN(label, ParseString());
  }
  if (is_input) {
    if (types.size() != 1) return lexer_.ErrorAt(type_offset, "an input has one type");
    graph.AddInput(types[0], std::move(label));
    return absl::OkStatus();
  }
  const absl::StatusOr<int32_t> id =
      graph.AddNode(op, std::move(operands), std::move(attributes), std::move(label));
  if (!id.ok()) return lexer_.ErrorAt(name.offset, id.status().message());
  if (typed && types != graph.node(*id).results) {
    std::string inferred;
    for (const TensorType& type : graph.node(*id).results) {
      absl::StrAppend(&inferred, inferred.empty() ? "" : ", ", type.ToString());
    }
    return lexer_.ErrorAt(type_offset, absl::StrCat("the results are (", inferred, ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Value>> Parser::ParseValues(const Graph& graph, const Names& names) {
  std::vector<Value> values;
  do {
    TRENCADIS_ASSIGN_OR_RETURN(const Value value, ParseValue(graph, names));
    values.push_back(value);
  } while (lexer_.Consume(","));
  return values;
}

absl::StatusOr<Value> Parser::ParseValue(const Graph& graph, const Names& names) {
  const size_t offset = lexer_.token().offset;
  TRENCADIS_RETURN_IF_ERROR(Expect("%"));
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view text, ExpectWord("a name"));
  const absl::string_view name = text.substr(0, text.find('.'));
  int64_t output = 0;
  if (name.size() < text.size() && !ParseInt(text.substr(name.size() + 1), &output)) {
    return lexer_.ErrorAt(offset, absl::StrCat("%", text, " has no result number after its '.'"));
  }
  const auto it = names.find(name);
  if (it == names.end() || it->second >= graph.num_nodes()) {
    return lexer_.ErrorAt(offset, absl::StrCat("%", name, " is not defined before its use"));
  }
  const int64_t results = static_cast<int64_t>(graph.node(it->second).results.size());
  if (output < 0 || output >= results) {
    return lexer_.ErrorAt(offset, absl::StrCat("%", name, " has ", results, " results"));
  }
  return Value{it->second, static_cast<int32_t>(output)};
}

absl::StatusOr<Attributes> Parser::ParseAttributes(int depth) {
  Attributes attributes;
  if (!lexer_.Consume("{")) return attributes;
  do {
    const size_t offset = lexer_.token().offset;
    TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view name, ExpectWord("an attribute's name"));
    if (attributes.Has(name)) {
      return lexer_.ErrorAt(offset, absl::StrCat("attribute '", name, "' is given twice"));
    }
    TRENCADIS_RETURN_IF_ERROR(Expect("="));
    TRENCADIS_ASSIGN_OR_RETURN(Attribute value, ParseAttribute(depth));
    attributes.Set(name, std::move(value));
  } while (lexer_.Consume(","));
  TRENCADIS_RETURN_IF_ERROR(Expect("}"));
  return attributes;
}

absl::StatusOr<Attribute> Parser::ParseAttribute(int depth) {
  if (lexer_.token().kind == Token::Kind::kString) return ParseString();
  if (lexer_.Is("[")) return ParseInts();
  if (lexer_.Consume("true")) return true;
  if (lexer_.Consume("false")) return false;
  if (lexer_.Is("graph")) {
    TRENCADIS_ASSIGN_OR_RETURN(Graph body, ParseGraph(depth + 1));
    return Attribute(GraphPtr(std::make_shared<const Graph>(std::move(body))));
  }
  if (lexer_.token().kind != Token::Kind::kWord) return lexer_.Unexpected("an attribute's value");
  if (ParseDType(lexer_.token().text).ok()) return ParseDTypeOrLiteral();
  return ParseNumber();
}

absl::StatusOr<Attribute> Parser::ParseNumber() {
  const absl::string_view text = lexer_.token().text;
  int64_t integer = 0;
  double real = 0;
  Attribute number;
  if (ParseInt(text, &integer)) {
    number = integer;
  } else if (ParseDouble(text, &real)) {
    number = real;
  } else {
    return lexer_.Unexpected("an attribute's value");
  }
  lexer_.Advance();
  return number;
}

absl::StatusOr<Attribute> Parser::ParseInts() {
  TRENCADIS_RETURN_IF_ERROR(Expect("["));
  std::vector<int64_t> values;
  while (!lexer_.Is("]")) {
    if (!values.empty()) TRENCADIS_RETURN_IF_ERROR(Expect(","));
    int64_t value = 0;
    if (!ParseInt(lexer_.token().text, &value)) return lexer_.Unexpected("an integer");
    values.push_back(value);
    lexer_.Advance();
  }
  lexer_.Advance();
  return values;
}

absl::StatusOr<Attribute> Parser::ParseDTypeOrLiteral() {
  Lexer ahead = lexer_;
  ahead.Advance();
  if (ahead.Is("[")) {
    const size_t offset = lexer_.token().offset;
    TRENCADIS_ASSIGN_OR_RETURN(const TensorType type, ParseType());
    return ParseLiteral(type, offset);
  }
  TRENCADIS_ASSIGN_OR_RETURN(const DType dtype, ParseDType(lexer_.token().text));
  lexer_.Advance();
  return dtype;
}

absl::StatusOr<Attribute> Parser::ParseLiteral(const TensorType& type, size_t offset) {
  const int64_t count = type.shape.num_elements();
  if (count > limits_.literal_bytes / ByteSize(type.dtype)) {
    return lexer_.ErrorAt(offset, "literals take more bytes than the limit allows");
  }
  limits_.literal_bytes -= type.byte_size();
  TRENCADIS_RETURN_IF_ERROR(Expect("{"));
  const bool splat = lexer_.Consume("splat");
  Literal literal(type);
  const int64_t written = splat ? std::min<int64_t>(count, 1) : count;
  for (int64_t i = 0; i < written; ++i) {
    if (i > 0) TRENCADIS_RETURN_IF_ERROR(Expect(","));
    if (lexer_.token().kind != Token::Kind::kWord ||
        !ParseElement(lexer_.token().text, literal, i)) {
      return lexer_.Unexpected(absl::StrCat("a value of ", DTypeName(type.dtype)));
    }
    lexer_.Advance();
  }
  TRENCADIS_RETURN_IF_ERROR(Expect("}"));
  if (splat && count > 1) {
    const int64_t size = ByteSize(type.dtype);
    std::byte* bytes = literal.bytes().data();
    for (int64_t i = 1; i < count; ++i) std::memcpy(bytes + i * size, bytes, size);
  }
  return Attribute(LiteralPtr(std::make_shared<const Literal>(std::move(literal))));
}

absl::StatusOr<TensorType> Parser::ParseType() {
  const size_t offset = lexer_.token().offset;
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view dtype, ExpectWord("a type"));
  std::string text(dtype);
  if (!lexer_.Is("[")) return lexer_.Unexpected("'[' and the dimensions of the type");
  while (!lexer_.Is("]")) {
    if (lexer_.token().kind == Token::Kind::kEnd) return lexer_.Unexpected("']'");
    absl::StrAppend(&text, lexer_.token().text);
    lexer_.Advance();
  }
  lexer_.Advance();
  absl::StatusOr<TensorType> type = ParseTensorType(text + "]");
  if (!type.ok()) return lexer_.ErrorAt(offset, type.status().message());
  const absl::Status valid = CheckTensorType(*type);
  if (!valid.ok()) return lexer_.ErrorAt(offset, valid.message());
  return type;
}

absl::StatusOr<TypeList> Parser::ParseTypes() {
  TypeList types;
  if (!lexer_.Consume("(")) {
    TRENCADIS_ASSIGN_OR_RETURN(TensorType type, ParseType());
    types.push_back(std::move(type));
    return types;
  }
  while (!lexer_.Consume(")")) {
    if (!types.empty()) TRENCADIS_RETURN_IF_ERROR(Expect(","));
    TRENCADIS_ASSIGN_OR_RETURN(TensorType type, ParseType());
    types.push_back(std::move(type));
  }
  return types;
}

absl::StatusOr<std::string> Parser::ParseString() {
  if (lexer_.token().kind != Token::Kind::kString) return lexer_.Unexpected("a string");
  std::string value;
  std::string error;
  if (!absl::CUnescape(lexer_.token().text, &value, &error)) return lexer_.Error(error);
  lexer_.Advance();
  return value;
}

}  // namespace

absl::StatusOr<Graph> ParseGraph(absl::string_view text, OpLookup find_op,
                                 const ParseLimits& limits) {
  return Parser(text, find_op, limits).ParseAll();
}

}  // namespace trencadis::ir
