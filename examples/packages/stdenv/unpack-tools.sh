# Unpacks the tarball of tools; the shell that runs this knows `tar` and `mkdir` itself.
mkdir -p "$out"
tar -xJf "$tarball" -C "$out"
