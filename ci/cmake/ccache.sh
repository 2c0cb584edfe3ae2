#!/bin/sh
# ccache.sh PROJECT CCACHE COMPILER [WORD...]: compiles through ccache, which knows a precompiled header by the sum of
# what was compiled (PRECOMPILED.sum, made here), instead of reading its 100 MB for each source.
project=$1
ccache=$2
shift 2
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_BASEDIR="$project" CCACHE_NOHASHDIR=true  # a clone in another folder finds what this one made
export CCACHE_PCH_EXTSUM=true
made=
before=
for word; do
  [ "$before" = -o ] && made=$word
  before=$word
done
case $made in
  *.gch | *.pch)
    rm -f "$made.sum"
    "$ccache" "$@" && sha1sum <"$made" >"$made.sum"
    ;;
  *) exec "$ccache" "$@" ;;
esac
