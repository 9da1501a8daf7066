# How every package is built, unless it says otherwise.
source "$stdenv/setup"
runPhases
