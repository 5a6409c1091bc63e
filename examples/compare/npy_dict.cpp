// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "npy_dict.hpp"

#include "source.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace tensor_file {
namespace {

class dict_parser {
 public:
  dict_parser(std::filesystem::path const& file, std::string_view text)
      : file_(file), text_(text) {}

  npy_dict parse() {
    expect('{');
    while (!accept('}')) {
      entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) malformed();
    return std::move(fields_);
  }

 private:
  [[noreturn]] void malformed() const {
    fail(file_, "has a header that np.save does not write, at its character " +
                    std::to_string(at_) + "; the file is damaged, save the array again");
  }

  void skip_space() {
    constexpr std::string_view spaces = " \t\r\n";
    while (at_ < text_.size() && spaces.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool accept(char token) { return accept(std::string_view(&token, 1)); }
  void expect(char token) {
    if (!accept(token)) malformed();
  }

  std::string string() {
    bool const doubled = accept('"');
    if (!doubled) expect('\'');
    char const quote = doubled ? '"' : '\'';
    auto const end = text_.find(quote, at_);
    if (end == std::string_view::npos) malformed();
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }

  void entry() {
    auto const key = string();
    expect(':');
    if (key == "descr")
      set(fields_.descr_, descr());
    else if (key == "fortran_order")
      set(fields_.fortran_order_, boolean());
    else if (key == "shape")
      set(fields_.shape_, shape());
    else
      fail(file_, "has the unknown header key " + in_quotes(key) +
                      "; only descr, fortran_order and shape may stand there, save it again");
  }

  template <class T>
  void set(std::optional<T>& field, T value) const {
    if (field) fail(file_, "has a header key twice; every key must be unique, save it again");
    field = std::move(value);
  }

  std::string descr() {
    if (accept('['))
      fail(file_, "holds records of several fields; only plain f4 and f2 are read, save one field");
    return string();
  }

  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) malformed();
    return false;
  }

  /// (), (3,), (3, 4) and (3, 4,); but (3) is a number to Python.
  std::vector<std::uint64_t> shape() {
    if (!accept('(')) bad_shape();
    std::vector<std::uint64_t> result;
    bool comma = true;
    while (!accept(')')) {
      if (!comma) bad_shape();
      result.push_back(number());
      comma = accept(',');
    }
    if (result.size() == 1 && !comma) bad_shape();
    return result;
  }
  std::uint64_t number() {
    skip_space();
    std::uint64_t value = 0;
    char const* const begin = text_.data() + at_;
    auto const [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc()) bad_shape();
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  [[noreturn]] void bad_shape() const {
    fail(file_,
         "has a shape that is no tuple of whole numbers from 0 to 2^64 - 1; it must look "
         "like (3, 4), save the array again");
  }

  std::filesystem::path const& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  npy_dict fields_;
};

}  // namespace

npy_dict parse_npy_dict(std::filesystem::path const& file, std::string_view text) {
  return dict_parser(file, text).parse();
}

}  // namespace tensor_file
