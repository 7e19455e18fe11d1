//===- Json.h - A small JSON reader and writer ------------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON for programs that can't link LLVM. Strict: what isn't JSON is an error
// with its position. Numbers are 64-bit integers where they are written as
// such, else doubles. A double that JSON can't hold (NaN, infinity) is written
// as null.
//
//===----------------------------------------------------------------------===//

#ifndef ANSOR_RUNTIME_JSON_H
#define ANSOR_RUNTIME_JSON_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ansor::runtime {

class Json {
public:
  enum class Kind { Null, Bool, Int, Double, String, Array, Object };

  Json() = default;
  Json(bool value) : kind(Kind::Bool), integer(value) {}
  Json(int value) : kind(Kind::Int), integer(value) {}
  Json(int64_t value) : kind(Kind::Int), integer(value) {}
  Json(double value) : kind(Kind::Double), number(value) {}
  Json(std::string value) : kind(Kind::String), text(std::move(value)) {}
  Json(const char *value) : kind(Kind::String), text(value) {}
  static Json array() { return Json(Kind::Array); }
  static Json object() { return Json(Kind::Object); }

  /// Parses one value that fills `text`. On failure `error` says what was
  /// expected, and at which byte.
  static bool parse(const std::string &text, Json &value, std::string &error);

  Kind getKind() const { return kind; }
  bool isNull() const { return kind == Kind::Null; }
  bool isString() const { return kind == Kind::String; }
  bool isArray() const { return kind == Kind::Array; }
  bool isObject() const { return kind == Kind::Object; }
  bool isNumber() const { return kind == Kind::Int || kind == Kind::Double; }

  /// The value, or the given default if it is of another kind.
  bool asBool(bool orElse = false) const {
    return kind == Kind::Bool ? integer != 0 : orElse;
  }
  int64_t asInt(int64_t orElse = 0) const;
  double asDouble(double orElse = 0) const;
  const std::string &asString() const { return text; }

  /// Elements of an array; empty otherwise.
  const std::vector<Json> &elements() const { return items; }
  /// Member of an object, or a null value.
  const Json &operator[](const std::string &key) const;

  void push(Json value) { items.push_back(std::move(value)); }
  void set(std::string key, Json value) {
    members.emplace_back(std::move(key), std::move(value));
  }

  /// One line of text.
  std::string dump() const;

private:
  explicit Json(Kind kind) : kind(kind) {}

  Kind kind = Kind::Null;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;
};

} // namespace ansor::runtime

#endif // ANSOR_RUNTIME_JSON_H
