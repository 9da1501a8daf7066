# Builds the standard environment: the setup script, with its paths filled in.
for dir in $initialPath; do PATH="$dir/bin:$PATH"; done
export PATH

mkdir -p "$out"
{
  echo "initialPath='$initialPath'"
  echo "defaultCC='$cc'"
  cat "$setup"
} > "$out/setup"
