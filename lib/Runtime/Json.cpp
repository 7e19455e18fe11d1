//===- Json.cpp - A small JSON reader and writer ----------------*- C++ -*-===//
//
// Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ansor/Runtime/Json.h"
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ansor::runtime;

namespace {
/// A recursive descent parser; nesting is bounded, so that no input can
/// overflow the stack.
class Parser {
public:
  Parser(const std::string &text, std::string &error)
      : text(text), error(error) {}

  bool parseAll(Json &value) {
    if (!parseValue(value, 0))
      return false;
    skipSpace();
    return pos == text.size() || fail("expected the end of the input");
  }

private:
  static constexpr int kMaxDepth = 64;

  bool fail(const char *what) {
    error = std::string(what) + " at byte " + std::to_string(pos);
    return false;
  }

  void skipSpace() {
    while (pos < text.size() && std::strchr(" \t\r\n", text[pos]) && text[pos])
      ++pos;
  }

  bool consume(char c) {
    skipSpace();
    if (pos >= text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }

  bool consumeWord(const char *word) {
    size_t length = std::strlen(word);
    if (text.compare(pos, length, word) != 0)
      return false;
    pos += length;
    return true;
  }

  bool parseValue(Json &value, int depth) {
    if (depth > kMaxDepth)
      return fail("nested too deeply");
    skipSpace();
    if (pos >= text.size())
      return fail("expected a value");
    switch (text[pos]) {
    case '{':
      return parseObject(value, depth);
    case '[':
      return parseArray(value, depth);
    case '"': {
      std::string string;
      if (!parseString(string))
        return false;
      value = Json(std::move(string));
      return true;
    }
    default:
      break;
    }
    if (consumeWord("true"))
      return value = Json(true), true;
    if (consumeWord("false"))
      return value = Json(false), true;
    if (consumeWord("null"))
      return value = Json(), true;
    return parseNumber(value);
  }

  bool parseObject(Json &value, int depth) {
    value = Json::object();
    ++pos;
    if (consume('}'))
      return true;
    do {
      skipSpace();
      std::string key;
      if (pos >= text.size() || text[pos] != '"')
        return fail("expected a member's name");
      if (!parseString(key))
        return false;
      if (!consume(':'))
        return fail("expected ':'");
      Json member;
      if (!parseValue(member, depth + 1))
        return false;
      value.set(std::move(key), std::move(member));
    } while (consume(','));
    return consume('}') || fail("expected ',' or '}'");
  }

  bool parseArray(Json &value, int depth) {
    value = Json::array();
    ++pos;
    if (consume(']'))
      return true;
    do {
      Json element;
      if (!parseValue(element, depth + 1))
        return false;
      value.push(std::move(element));
    } while (consume(','));
    return consume(']') || fail("expected ',' or ']'");
  }

  bool parseHex4(unsigned &code) {
    code = 0;
    for (int i = 0; i < 4; ++i, ++pos) {
      if (pos >= text.size() || !std::isxdigit((unsigned char)text[pos]))
        return fail("expected four hexadecimal digits");
      char c = text[pos];
      code = code * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return true;
  }

  static void appendUtf8(std::string &out, unsigned code) {
    if (code < 0x80) {
      out += char(code);
    } else if (code < 0x800) {
      out += char(0xc0 | code >> 6);
      out += char(0x80 | (code & 63));
    } else if (code < 0x10000) {
      out += char(0xe0 | code >> 12);
      out += char(0x80 | (code >> 6 & 63));
      out += char(0x80 | (code & 63));
    } else {
      out += char(0xf0 | code >> 18);
      out += char(0x80 | (code >> 12 & 63));
      out += char(0x80 | (code >> 6 & 63));
      out += char(0x80 | (code & 63));
    }
  }

  bool parseUnicode(std::string &out) {
    unsigned code;
    if (!parseHex4(code))
      return false;
    if (code >= 0xd800 && code < 0xdc00 && consumeWord("\\u")) {
      unsigned low;
      if (!parseHex4(low))
        return false;
      if (low < 0xdc00 || low > 0xdfff)
        return fail("expected the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    appendUtf8(out, code);
    return true;
  }

  bool parseString(std::string &out) {
    ++pos;
    while (pos < text.size() && text[pos] != '"') {
      char c = text[pos++];
      if ((unsigned char)c < 0x20) {
        --pos;
        return fail("control character in a string");
      }
      if (c != '\\') {
        out += c;
        continue;
      }
      if (pos >= text.size())
        break;
      static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
      c = text[pos++];
      if (c == 'u') {
        if (!parseUnicode(out))
          return false;
        continue;
      }
      const char *found = c ? std::strchr(from, c) : nullptr;
      if (!found)
        return fail("unknown escape");
      out += to[found - from];
    }
    if (pos >= text.size())
      return fail("unterminated string");
    ++pos;
    return true;
  }

  bool parseDigits() {
    size_t begin = pos;
    while (pos < text.size() && text[pos] >= '0' && text[pos] <= '9')
      ++pos;
    return pos > begin;
  }

  bool parseNumber(Json &value) {
    size_t begin = pos;
    if (text[pos] == '-')
      ++pos;
    if (!parseDigits())
      return fail("expected a value");
    bool isInteger = true;
    if (pos < text.size() && text[pos] == '.') {
      isInteger = false;
      ++pos;
      if (!parseDigits())
        return fail("expected digits");
    }
    if (pos < text.size() && (text[pos] | 32) == 'e') {
      isInteger = false;
      ++pos;
      if (pos < text.size() && (text[pos] == '-' || text[pos] == '+'))
        ++pos;
      if (!parseDigits())
        return fail("expected digits");
    }
    std::string digits = text.substr(begin, pos - begin);
    if (isInteger) {
      errno = 0;
      int64_t integer = std::strtoll(digits.c_str(), nullptr, 10);
      if (errno != ERANGE)
        return value = Json(integer), true;
      // Seeds use all 64 bits.
      errno = 0;
      uint64_t bits = std::strtoull(digits.c_str(), nullptr, 10);
      if (errno != ERANGE && digits[0] != '-')
        return value = Json(int64_t(bits)), true;
    }
    value = Json(std::strtod(digits.c_str(), nullptr));
    return true;
  }

  const std::string &text;
  std::string &error;
  size_t pos = 0;
};
} // namespace

bool Json::parse(const std::string &text, Json &value, std::string &error) {
  return Parser(text, error).parseAll(value);
}

int64_t Json::asInt(int64_t orElse) const {
  if (kind == Kind::Int)
    return integer;
  if (kind == Kind::Double && std::fabs(number) < 9e18)
    return int64_t(number);
  return orElse;
}

double Json::asDouble(double orElse) const {
  if (kind == Kind::Int)
    return double(integer);
  return kind == Kind::Double ? number : orElse;
}

const Json &Json::operator[](const std::string &key) const {
  static const Json null;
  for (const auto &member : members)
    if (member.first == key)
      return member.second;
  return null;
}

static void dumpString(const std::string &text, std::string &out) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if ((unsigned char)c < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", c);
      out += buffer;
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string Json::dump() const {
  std::string out;
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Bool:
    return integer ? "true" : "false";
  case Kind::Int:
    return std::to_string(integer);
  case Kind::Double: {
    if (!std::isfinite(number))
      return "null";
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%.17g", number);
    return buffer;
  }
  case Kind::String:
    dumpString(text, out);
    return out;
  case Kind::Array:
    out = "[";
    for (size_t i = 0; i < items.size(); ++i)
      out += (i ? ", " : "") + items[i].dump();
    return out + "]";
  case Kind::Object:
    out = "{";
    for (size_t i = 0; i < members.size(); ++i) {
      out += i ? ", " : "";
      dumpString(members[i].first, out);
      out += ": " + members[i].second.dump();
    }
    return out + "}";
  }
  return out;
}
