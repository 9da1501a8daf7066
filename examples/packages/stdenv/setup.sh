# The phases of a build. A package replaces one by a variable of the same name, or adds to it with
# `preBuild`, `postInstall` and so on.

addToPaths() {
  local input="$1"
  [ -d "$input/bin" ] && PATH="$input/bin:$PATH"
  [ -d "$input/include" ] && export CPATH="$input/include${CPATH:+:$CPATH}"
  [ -d "$input/lib" ] && export LIBRARY_PATH="$input/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
  [ -d "$input/lib/pkgconfig" ] && export PKG_CONFIG_PATH="$input/lib/pkgconfig:$PKG_CONFIG_PATH"

  # What an input needs, those who use it need too.
  if [ -f "$input/nix-support/propagated-inputs" ]; then
    local more
    for more in $(<"$input/nix-support/propagated-inputs"); do addToPaths "$more"; done
  fi
  return 0
}

PATH=
for input in $initialPath $defaultCC $nativeBuildInputs $buildInputs $propagatedBuildInputs; do
  addToPaths "$input"
done
export PATH
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-315532800}"
: "${prefix:=$out}" "${dev:=$out}" "${lib:=$out}" "${man:=$out}" "${NIX_BUILD_CORES:=1}"

runHook() {
  local hook="$1"
  if declare -F "$hook" > /dev/null; then "$hook"; else eval "${!hook}"; fi
}

unpackPhase() {
  [ -n "$src" ] || return 0
  if [ -d "$src" ]; then
    cp -r "$src" source
    chmod -R u+w source
  else
    mkdir source
    tar -xf "$src" -C source --strip-components=1
  fi
  cd "source/${sourceRoot:-.}"
}

patchPhase() {
  local patch
  for patch in $patches; do patch -p1 < "$patch"; done
}

configurePhase() {
  [ -x ./configure ] || return 0
  ./configure --prefix="$prefix" $configureFlags
}

buildPhase() {
  [ -f Makefile ] || return 0
  make -j"$NIX_BUILD_CORES" $makeFlags
}

checkPhase() {
  [ -n "$doCheck" ] || return 0
  make "${checkTarget:-check}"
}

installPhase() {
  make install $makeFlags $installFlags
}

fixupPhase() {
  local output
  for output in ${outputs:-out}; do
    [ -e "${!output}" ] || continue
    find "${!output}" -name '*.la' -delete
  done
  if [ -n "$propagatedBuildInputs" ]; then
    mkdir -p "$dev/nix-support"
    echo "$propagatedBuildInputs" > "$dev/nix-support/propagated-inputs"
  fi
}

runPhases() {
  local phase name
  for phase in ${phases:-unpack patch configure build check install fixup}; do
    [ "$phase" = build ] && [ -n "$dontBuild" ] && continue
    [ "$phase" = configure ] && [ -n "$dontConfigure" ] && continue
    name="${phase}Phase"
    echo "phase: $phase"
    runHook "pre${phase^}"
    if [ -n "${!name}" ]; then eval "${!name}"; else "$name"; fi
    runHook "post${phase^}"
  done
}
