# The Python package beside the programs: pure, so it is copied. A wheel is made from analysis/python (docs/python.md).
option(PCLSCOPE_PYTHON "Install the Python package" ON)
set(PCLSCOPE_PYTHON_DIR lib/python3/dist-packages CACHE STRING
    "Where, below the prefix: as Debian has it; elsewhere e.g. lib/python3.11/site-packages")
if(PCLSCOPE_PYTHON)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/analysis/python/pclscope DESTINATION ${PCLSCOPE_PYTHON_DIR} COMPONENT python
          FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
endif()
