# What the scripts of this folder share; sourced by them.
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
LLVM_VERSION=22
LLVM_ROOT=/usr/lib/llvm-$LLVM_VERSION

# Debian packages that building and testing need.
PACKAGES=(
  # the compiler and MLIR
  "clang-$LLVM_VERSION" "lld-$LLVM_VERSION" "llvm-$LLVM_VERSION-dev"
  "llvm-$LLVM_VERSION-tools" "libmlir-$LLVM_VERSION-dev"
  "mlir-$LLVM_VERSION-tools" "libomp-$LLVM_VERSION-dev" libstdc++-12-dev
  # the cost model
  libxgboost-dev
  # the build
  cmake ninja-build ccache zlib1g-dev
  # the tests
  libgtest-dev python3 python3-psutil
)

say() { printf '\n== %s\n' "$*"; }

# Installs the missing ones of PACKAGES by apt.
install_dependencies() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is no Debian: expecting LLVM and MLIR $LLVM_VERSION, CMake, Ninja," \
        "XGBoost and GoogleTest to be there"
    return
  fi
  for package in "${PACKAGES[@]}"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "All ${#PACKAGES[@]} packages are installed"
    return
  fi
  say "Installing by apt: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "error: installing needs root; run as root: apt-get install ${missing[*]}"
      return 1
    }
    sudo=(sudo)
  fi
  # A lock held by another apt is waited for, and a flaky network tried again.
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
             -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  "${apt[@]}" update </dev/null
  if ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null; then
    echo "error: apt can't install them. LLVM $LLVM_VERSION for Debian 12 is in its" \
         "security archive: is 'bookworm-security' among apt's sources?"
    return 1
  fi
}

# build [targets…]: configures once, then builds.
build() {
  export PATH="$LLVM_ROOT/bin:$PATH"
  say "Building ($(nproc) cores)"
  [ -f build/build.ninja ] || cmake --preset release -Wno-dev
  cmake --build build -- "$@"
}
