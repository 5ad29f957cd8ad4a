#include "collect/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace rankscope {
namespace {

constexpr std::string_view kMask = "***";

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

/// Returns "--hf-token" as hf_token.
std::string option_name(std::string name) {
  const std::size_t begin = name.find_first_not_of('-');
  name.erase(0, begin == std::string::npos ? 0 : begin);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Replaces the login of each address: https://name:password@host becomes https://***@host.
std::string masked_logins(std::string_view text) {
  constexpr std::string_view kScheme = "://";
  std::string out;
  for (std::size_t at = text.find(kScheme); at != std::string_view::npos; at = text.find(kScheme)) {
    out += text.substr(0, at + kScheme.size());
    text.remove_prefix(at + kScheme.size());
    // a password may contain the other characters that end a host name
    const std::size_t login = text.substr(0, text.find_first_of("/ \n\t")).rfind('@');
    if (login == std::string_view::npos)
      continue;
    out += kMask;
    text.remove_prefix(login);
  }
  return out.append(text);
}

} // namespace

bool is_secret(std::string_view name, std::string_view value) {
  constexpr std::array kParts = {"API_KEY", "ACCESS_KEY", "PRIVATE_KEY"};
  constexpr std::array kWords = {"TOKEN",      "TOKENS",     "SECRET",      "SECRETS", "PASSWORD",
                                 "PASSWD",     "PASSPHRASE", "CREDENTIALS", "APIKEY",  "PAT",
                                 "CREDENTIAL", "COOKIE",     "SSHPASS"};
  constexpr std::array kLastWords = {"_KEY", "_PWD", "_PASS", "_AUTH"}; // not SSH_AUTH_SOCK
  const std::string text = upper(name);
  if (std::any_of(kParts.begin(), kParts.end(),
                  [&](const char* part) { return text.find(part) != std::string::npos; }) ||
      std::any_of(kLastWords.begin(), kLastWords.end(),
                  [&](const char* word) { return text.ends_with(word); }) ||
      text == "PASS" || text == "AUTH")
    return true;
  for (std::size_t at = 0; at <= text.size();) { // MY_HF_TOKEN, HFTOKEN, not TOKENIZERS
    const std::size_t end = std::min(text.find('_', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (std::any_of(kWords.begin(), kWords.end(), [&](std::string_view secret) {
          return word == secret || (secret.size() > 4 && word.ends_with(secret));
        }))
      return true;
    at = end + 1;
  }
  return masked_logins(value) != value;
}

std::string_view masked_value(std::string_view name, std::string_view value) {
  return is_secret(name, value) ? kMask : value;
}

std::string masked_argument(const std::string& argument) {
  const std::size_t at = argument.find('=');
  const std::string name = option_name(argument.substr(0, std::min(at, argument.size())));
  if (at == std::string::npos || name.find_first_of(" \n\t") != std::string::npos ||
      !is_secret(name, std::string_view(argument).substr(at + 1)))
    return masked_logins(argument);
  return masked_logins(argument.substr(0, at + 1)).append(kMask);
}

std::vector<std::string> masked_arguments(const std::vector<std::string>& argv) {
  std::vector<std::string> out;
  out.reserve(argv.size());
  bool names_secret = false; // the previous word is an option such as "--password"
  for (const std::string& argument : argv) {
    const bool option = argument.starts_with('-');
    out.push_back(names_secret && !option ? std::string(kMask) : masked_argument(argument));
    names_secret =
        option && argument.find('=') == std::string::npos && is_secret(option_name(argument), "");
  }
  return out;
}

} // namespace rankscope
