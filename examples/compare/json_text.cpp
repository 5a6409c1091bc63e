// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "formats.hpp"

#include <nlohmann/json.hpp>
#include <unordered_set>

namespace tensor_file {
namespace {

using json = nlohmann::json;

/// Walks a text before a tree is built from it. (The parser's own callback could refuse the same
/// things, but takes quadratic time on an object of many objects.)
class guard : public nlohmann::json_sax<json> {
 public:
  guard(std::filesystem::path const& file, std::string const& what) : file_(file), what_(what) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, string_t const&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second)
      fail(file_, what_ + " has the key " + in_quotes(name) + " twice; every name must be unique");
    return true;
  }

  bool parse_error(std::size_t byte, std::string const&, json::exception const&) override {
    fail(file_, what_ + " is not JSON in UTF-8 near its byte " + std::to_string(byte) +
                    "; the file is damaged or of another format, fetch it again");
  }

 private:
  static constexpr std::size_t deepest = 16;
  static constexpr std::size_t most_values = 1 << 21;

  bool value() {
    if (++values_ <= most_values) return true;
    fail(file_, what_ + " has more than " + std::to_string(most_values) +
                    " JSON values; split the model into shards");
  }
  bool open() {
    keys_.emplace_back();
    if (keys_.size() <= deepest) return value();
    fail(file_, what_ + " nests JSON more than " + std::to_string(deepest) +
                    " levels deep; the format needs 3, the file is damaged");
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::filesystem::path const& file_;
  std::string const& what_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the objects that are open
  std::size_t values_ = 0;
};

}  // namespace

json parse_object(std::filesystem::path const& file, std::string const& what,
                  std::string const& text) {
  if (text.empty() || text.front() != '{')
    fail(file, what + " does not start with {; it must be a JSON object, fetch the file again");
  // The parser would take a zero byte for the end of the text, and leave the rest unread.
  if (auto const zero = text.find('\0'); zero != std::string::npos)
    fail(file, what + " has a zero byte at " + std::to_string(zero) +
                   "; JSON text has none, the file is damaged");
  guard events(file, what);
  json::sax_parse(text, &events);
  return json::parse(text);
}

std::string shown(json const& value) {
  return in_quotes(value.is_string() ? value.get_ref<std::string const&>() : value.dump());
}

}  // namespace tensor_file
