#!/bin/bash
# ccache.sh PROJECT CCACHE COMPILER [WORD...]: compiles through ccache so that a clone in another folder finds what this
# one made: paths inside the project are given relative to where the compiler runs. A precompiled header is known by the
# sum of what it was made from (PRECOMPILED.sum, written here): its 100 MB hold the project's path.
project=$1
ccache=$2
shift 2
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_BASEDIR="$project" CCACHE_NOHASHDIR=true CCACHE_PCH_EXTSUM=true
export CCACHE_IGNOREOPTIONS="-fmacro-prefix-map=*"  # the project's path, which it takes out of what __FILE__ says

up=
below=${PWD#"$project"}
[ "$below" != "$PWD" ] && up=${below//[!\/]/} && up=${up//\//..\/}
made=
before=
words=()
asked=("$@")
for word; do
  if [ -n "$up" ]; then
    case $word in
      "$project"/*) word=$up${word#"$project"/} ;;
      -fsanitize-ignorelist="$project"/*) word=-fsanitize-ignorelist=$up${word#*="$project"/} ;;
    esac
  fi
  case $word in
    -fsanitize-ignorelist=*) export CCACHE_EXTRAFILES="${word#*=}" ;;
  esac
  [ "$before" = -o ] && made=$word
  before=$word
  words+=("$word")
done

case $made in
  *.gch | *.pch)
    [[ $made = *.pch ]] && words=("${asked[@]}")  # Clang's names its sources with their whole paths: of this clone only
    rm -f "$made.sum"
    "$ccache" "${words[@]}" || exit
    [ -s "$made.d" ] || exit 0  # without a sum ccache reads it all
    {
      printf '%s\n' "${words[@]}"
      sed -e 's/^[^ ]*: //' -e 's/\\$//' "$made.d" | xargs sha1sum
    } | sed "s|$project|PROJECT|g" | sha1sum >"$made.sum"
    ;;
  *) exec "$ccache" "${words[@]}" ;;
esac
