# cmake -DSOURCE=... -DTO=... -P: writes which commit is built, where git knows it. The file changes only with that.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed OR NOT EXISTS ${SOURCE}/.git)  # an unpacked archive, perhaps inside of another repository
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${TO} CONTENT "#define PCLSCOPE_COMMIT \"${commit}\"\n")
